from . import live as live, triggers as triggers
from .errors import (
    GazeliveError as GazeliveError,
    GazeliveWarning as GazeliveWarning,
)
from .evaluation.api import evaluate as evaluate
from .evaluation.tables import Study as Study
from .experiment.tracker.tracker import Tracker as Tracker
from .gaze.screen import ScreenGeometry as ScreenGeometry
from .recordings.recording import Recording as Recording
from .recordings.trials import TrialPatterns as TrialPatterns
from .workflows.detection import (
    Detected as Detected,
    detect as detect,
)
from .workflows.model import (
    Identified as Identified,
    Model as Model,
    train as train,
)
from .workflows.recordings import (
    from_columns as from_columns,
    read as read,
    simulate as simulate,
)

__version__: str
