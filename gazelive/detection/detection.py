"""What an offline detector returns: events, and everything that was used to find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gazelive.detection.outcome import Outcome
from gazelive.detection.parameters import DetectorParameters, EngbertKlieglParameters
from gazelive.gaze.events import Blink, EventEye, Fixation, Saccade

Method = Literal["settled", "online", "engbert-kliegl"]


@dataclass(frozen=True)
class Detection:
    """The events of one stretch of samples of one eye (or of both together)."""

    method: Method
    eye: EventEye
    outcome: Outcome
    sampling_rate_hz: float
    parameters: DetectorParameters | EngbertKlieglParameters
    thresholds_deg_s: tuple[float, float] | None
    """Velocity thresholds of x and y (None where nothing could be searched)."""
    saccades: tuple[Saccade, ...]
    fixations: tuple[Fixation, ...]
    blinks: tuple[Blink, ...]
    """Blinks and other losses."""
    saccade_samples: npt.NDArray[np.int64]
    """First and last sample of each saccade as indices into the samples, shape (n, 2)."""
