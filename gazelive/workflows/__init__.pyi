from .batch import (
    BatchRow as BatchRow,
    BatchSettings as BatchSettings,
    detect_batch as detect_batch,
    plan_batch as plan_batch,
    write_summary as write_summary,
)
from .comparison import (
    Comparison as Comparison,
    compare as compare,
    mismatch_table as mismatch_table,
)
from .detection import (
    Detected as Detected,
    analyse_source as analyse_source,
    detect as detect,
    outcome_warnings as outcome_warnings,
    write_detection as write_detection,
)
from .detection_figure import (
    draw_detection as draw_detection,
)
from .event_spans import (
    parse_codes as parse_codes,
)
from .event_tables import (
    fixation_table as fixation_table,
    provenance as provenance,
    saccade_table as saccade_table,
)
from .gathering import (
    corpus_recordings as corpus_recordings,
    gather as gather,
    source_kind as source_kind,
)
from .identification import (
    ProbeResult as ProbeResult,
    check_folder as check_folder,
    identify_source as identify_source,
    judged_once as judged_once,
    log_prior as log_prior,
    results_json as results_json,
    with_images as with_images,
)
from .info import (
    Content as Content,
    content_facts as content_facts,
    event_counts as event_counts,
    inspect as inspect,
    message_facts as message_facts,
    milliseconds as milliseconds,
)
from .model import (
    Identified as Identified,
    Model as Model,
    train as train,
)
from .probes import (
    Detector as Detector,
    Labelled as Labelled,
    Probe as Probe,
    Reading as Reading,
)
from .recordings import (
    from_columns as from_columns,
    read as read,
    read_noting as read_noting,
    simulate as simulate,
)
from .sources import (
    Names as Names,
    PathLike as PathLike,
    flags_of as flags_of,
    names_of as names_of,
    warn_caller as warn_caller,
)
from .training import (
    enrol_source as enrol_source,
    refit as refit,
    train_gathered as train_gathered,
    train_source as train_source,
)
