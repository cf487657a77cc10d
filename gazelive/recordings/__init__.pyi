from .asc.writer import (
    has_resolution as has_resolution,
    write_asc as write_asc,
)
from .bids.dataset import (
    BidsTarget as BidsTarget,
    check_dataset as check_dataset,
    label_of as label_of,
)
from .bids.export import (
    export_bids as export_bids,
    what_bids_loses as what_bids_loses,
)
from .conventions import (
    CONVENTIONS as CONVENTIONS,
    PATTERNS_NAME as PATTERNS_NAME,
    PatternOptions as PatternOptions,
    find_patterns as find_patterns,
    patterns_text as patterns_text,
)
from .corpus import (
    CORPUS_NAME as CORPUS_NAME,
    Corpus as Corpus,
    CorpusEntry as CorpusEntry,
    read_corpus as read_corpus,
    screen_in_corpus as screen_in_corpus,
    write_corpus_csv as write_corpus_csv,
)
from .edf.process import (
    NotAnEdfError as NotAnEdfError,
    dump_edf as dump_edf,
)
from .edf.reader import (
    read_edf as read_edf,
)
from .geometry import (
    HOW_TO_GIVE as HOW_TO_GIVE,
    FoundGeometry as FoundGeometry,
    GeometryFlags as GeometryFlags,
    find_geometry as find_geometry,
    parse_geometry as parse_geometry,
    positions_deg as positions_deg,
    with_one_resolution as with_one_resolution,
    with_screen as with_screen,
)
from .intervals import (
    ViewingInterval as ViewingInterval,
    calibrations_before as calibrations_before,
    interval_of_trial as interval_of_trial,
    viewing_intervals as viewing_intervals,
)
from .message_patterns import (
    MessagePattern as MessagePattern,
    Proposal as Proposal,
    group_messages as group_messages,
    propose as propose,
)
from .messages import (
    EYE_WORDS as EYE_WORDS,
    VALIDATION_LIMITS_DEG as VALIDATION_LIMITS_DEG,
    RectanglePx as RectanglePx,
    calibration_text as calibration_text,
    drift_text as drift_text,
    image_rectangle_px as image_rectangle_px,
    interpret as interpret,
    missing_messages as missing_messages,
    text_in_file as text_in_file,
    validation_verdict as validation_verdict,
)
from .open import (
    kind_of as kind_of,
    read_recording as read_recording,
)
from .problems import (
    Caveat as Caveat,
    damage as damage,
    sentences as sentences,
    some_damage as some_damage,
    trials_not_found as trials_not_found,
)
from .recording import (
    Block as Block,
    Calibration as Calibration,
    DriftCorrection as DriftCorrection,
    Problem as Problem,
    Recording as Recording,
    Trial as Trial,
)
from .save import (
    check_target as check_target,
    losses_in as losses_in,
    target_kind as target_kind,
    write_recording as write_recording,
)
from .session.conversion import (
    manifest_of as manifest_of,
    write_session as write_session,
)
from .session.journal import (
    Notes as Notes,
)
from .session.journal_reader import (
    JournalFollower as JournalFollower,
)
from .session.manifest import (
    DOCUMENTS_NAME as DOCUMENTS_NAME,
    JOURNAL_NAME as JOURNAL_NAME,
    MANIFEST_NAME as MANIFEST_NAME,
    ClockFit as ClockFit,
    SessionManifest as SessionManifest,
    is_closed as is_closed,
    is_session_folder as is_session_folder,
    new_session_id as new_session_id,
    read_manifest as read_manifest,
)
from .session.reader import (
    read_session as read_session,
)
from .session.writer import (
    SessionWriter as SessionWriter,
    now_iso as now_iso,
)
from .tables.column_names import (
    describe_names as describe_names,
)
from .tables.files import (
    TABLE_SUFFIXES as TABLE_SUFFIXES,
    has_table_suffix as has_table_suffix,
    read_table_file as read_table_file,
    read_table_names as read_table_names,
    write_csv as write_csv,
    write_table_file as write_table_file,
)
from .tables.fixations import (
    Codes as Codes,
    FixationTable as FixationTable,
    read_fixation_table as read_fixation_table,
)
from .tables.formulas import (
    guarded as guarded,
)
from .tables.in_memory import (
    Columns as Columns,
    recording_of_columns as recording_of_columns,
)
from .tables.sidecar import (
    sidecar_path as sidecar_path,
)
from .tables.times import (
    other_unit as other_unit,
)
from .trials import (
    DEFAULT_PATTERNS as DEFAULT_PATTERNS,
    BlockTimes as BlockTimes,
    OpenTrial as OpenTrial,
    TrialFinder as TrialFinder,
    TrialPatterns as TrialPatterns,
    own_patterns as own_patterns,
)
