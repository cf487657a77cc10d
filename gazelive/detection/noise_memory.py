"""What a detector has learned of the noise, carried from one interval to the next.

Live, a trial begins with the noise that the trials before it under the same calibration have
taught (`OnlineDetector.flush` keeps it). Offline, `detect_online` takes and leaves the same in a
`NoiseMemory`, so that `online` is what was known live, interval by interval.
"""

from __future__ import annotations

from gazelive.detection.online_state import Records, copy_noise, make_state
from gazelive.detection.parameters import DetectorParameters
from gazelive.gaze.events import EventEye

Conditions = tuple[DetectorParameters, float, EventEye]
"""What noise depends on besides the calibration: parameters, sampling rate in Hz, whose gaze."""


class NoiseMemory:
    """Empty at first; what was learned otherwise (parameters, rate, eye) is forgotten."""

    def __init__(self) -> None:
        self._state: Records | None = None
        self._learned_with: Conditions | None = None

    def forget(self) -> None:
        """Begin anew, as after a calibration."""
        self._state = None

    def begin(self, conditions: Conditions) -> Records:
        """Return the memory of a detector that has seen nothing yet but knows the noise."""
        state = make_state(conditions[0])
        if self._state is not None and self._learned_with == conditions:
            copy_noise(self._state, state)
        return state

    def keep(self, state: Records, conditions: Conditions) -> None:
        """Remember the noise that a detector knows at the end of an interval."""
        self._state = state
        self._learned_with = conditions
