"""The tracker's own events, from the numbers that the kernel has read."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import Eye
from gazelive.recordings.asc_state import (
    END_BLINK,
    END_FIXATION,
    END_SACCADE,
    Doubles,
    Integers,
)

_KINDS: dict[int, Literal["saccade", "fixation", "blink"]] = {
    END_SACCADE: "saccade",
    END_FIXATION: "fixation",
    END_BLINK: "blink",
}
_EYES: tuple[Eye, ...] = ("L", "R")
_NOTHING = np.array(None, object)
_POSITIONS = [0, 1, 2, 3, 6, 7]
"""Which of the numbers are positions."""


def tracker_events(heads: Integers, numbers: Doubles, prescaler: float) -> list[TrackerEvent]:
    """Return the events of `heads` (n, 4) and `numbers` (n, 9); positions / `prescaler`."""
    if prescaler != 1:
        numbers[:, _POSITIONS] /= prescaler
    known = np.where(np.isnan(numbers), _NOTHING, numbers)
    return [
        TrackerEvent(
            kind=_KINDS[kind],
            eye=_EYES[eye],
            start_us=start_us,
            end_us=end_us,
            start_x=start_x,
            start_y=start_y,
            end_x=end_x,
            end_y=end_y,
            amplitude_deg=amplitude_deg,
            peak_velocity_deg_s=peak_velocity_deg_s,
            mean_x=mean_x,
            mean_y=mean_y,
            mean_pupil=mean_pupil,
        )
        for (kind, eye, start_us, end_us), (
            start_x,
            start_y,
            end_x,
            end_y,
            amplitude_deg,
            peak_velocity_deg_s,
            mean_x,
            mean_y,
            mean_pupil,
        ) in zip(heads.tolist(), known.tolist(), strict=True)
    ]
