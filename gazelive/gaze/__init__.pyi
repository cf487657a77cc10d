from .arrays import (
    Bytes as Bytes,
    Flags as Flags,
    Floats as Floats,
    Integers as Integers,
    SingleFloats as SingleFloats,
)
from .documents import (
    PROTOCOL_VERSION as PROTOCOL_VERSION,
    Document as Document,
    GazeTrace as GazeTrace,
    IntervalSettled as IntervalSettled,
    MainSequence as MainSequence,
    ModelLoaded as ModelLoaded,
    Notice as Notice,
    Posterior as Posterior,
    Quality as Quality,
    QualitySummary as QualitySummary,
    Retraction as Retraction,
    RunStarted as RunStarted,
    RunStopped as RunStopped,
    SaccadeOnset as SaccadeOnset,
    TrialStarted as TrialStarted,
    TrialStopped as TrialStopped,
    Validated as Validated,
    decode as decode,
    decode_line as decode_line,
    encode as encode,
    encode_line as encode_line,
)
from .events import (
    Blink as Blink,
    EventEye as EventEye,
    Fixation as Fixation,
    Pursuit as Pursuit,
    Saccade as Saccade,
    SaccadeKind as SaccadeKind,
    TrackerEvent as TrackerEvent,
)
from .gaps import (
    GAP_INTERVALS as GAP_INTERVALS,
    LONGEST_FILLED_S as LONGEST_FILLED_S,
    find_gaps as find_gaps,
    longest_step_us as longest_step_us,
    missing_samples as missing_samples,
)
from .quality_messages import (
    Kind as Kind,
    quality_from_message as quality_from_message,
    quality_message as quality_message,
)
from .samples import (
    EYE_FIELDS as EYE_FIELDS,
    N_TARGET_FLAGS as N_TARGET_FLAGS,
    SAMPLE_DTYPE as SAMPLE_DTYPE,
    TARGET_STATUS_SHIFT as TARGET_STATUS_SHIFT,
    Coordinates as Coordinates,
    Eye as Eye,
    Eyes as Eyes,
    Samples as Samples,
    SampleStatus as SampleStatus,
    each_eye as each_eye,
    empty_samples as empty_samples,
    missing_mask as missing_mask,
)
from .screen import (
    PAPER_SCREEN as PAPER_SCREEN,
    AngularResolution as AngularResolution,
    Geometry as Geometry,
    ScreenGeometry as ScreenGeometry,
    check_pixels as check_pixels,
    check_positive as check_positive,
)
from .stream import (
    LATEST_US as LATEST_US,
    LONGEST_COMMAND as LONGEST_COMMAND,
    Chunk as Chunk,
    Message as Message,
    StreamDescription as StreamDescription,
    in_time_order as in_time_order,
)
from .time_order import (
    in_order as in_order,
    increasing as increasing,
    left_out_sentence as left_out_sentence,
    possible_times as possible_times,
)
from .time_order_kernels import (
    longest_increasing as longest_increasing,
    step_range as step_range,
)
