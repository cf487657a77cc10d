from .grid import (
    Accepted as Accepted,
    EyeChoice as EyeChoice,
    Gaze as Gaze,
    Positions as Positions,
    TimeOrder as TimeOrder,
    choose_eyes as choose_eyes,
    eye_positions_deg as eye_positions_deg,
    fill_gaps as fill_gaps,
    has_gap as has_gap,
    interval_gaze as interval_gaze,
)
from .interval import (
    Parameters as Parameters,
    analyse_gaze as analyse_gaze,
)
from .live import (
    Found as Found,
    LiveGaze as LiveGaze,
)
from .recording import (
    AnalysedInterval as AnalysedInterval,
    Analysis as Analysis,
    analyse as analyse,
    noise_warnings as noise_warnings,
)
from .running import (
    RunningInterval as RunningInterval,
    RunningSaccade as RunningSaccade,
    running_of_fixations as running_of_fixations,
    running_saccades as running_saccades,
)
