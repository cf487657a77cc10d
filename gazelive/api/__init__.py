"""What a notebook calls: read a recording, find its saccades, learn who is who, identify.

`import gazelive` offers all of it and imports nothing heavy before it is used. What a user should
know of the data comes as a `GazeliveWarning`, what cannot be done as a `GazeliveError`.
"""

from gazelive.api.events import Detected, detect
from gazelive.api.recordings import from_columns, read
from gazelive.api.simulated import simulate
from gazelive.api.viewers import Identified, Model, train
from gazelive.errors import GazeliveError, GazeliveWarning
from gazelive.gaze.screen import ScreenGeometry
from gazelive.recordings.recording import Recording
from gazelive.recordings.trials import TrialPatterns

__all__ = [
    "Detected",
    "GazeliveError",
    "GazeliveWarning",
    "Identified",
    "Model",
    "Recording",
    "ScreenGeometry",
    "TrialPatterns",
    "detect",
    "from_columns",
    "read",
    "simulate",
    "train",
]
