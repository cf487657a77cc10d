"""Cyclopean gaze: two eyes as one, for a single detector.

Averaging the eyes before detection halves the noise power, gives both eyes the same saccades,
fixations and blinks, and continues with one eye where the other is lost.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.detection.binocular_kernels import CYCLOPEAN, follow_both_eyes
from gazelive.detection.parameters import check_rate
from gazelive.errors import RecordingError
from gazelive.gaze import Floats, longest_step_us

SETTLING_MS = 100.0
"""Time constant of the return to the mean after an eye is lost or found …"""
FASTEST_PULL_DEG_S = 2.0
"""… which is never faster than this: no detector may find a movement in it."""
TRUSTED_AFTER_MS = 100.0
"""An eye that returns while the other is seen counts after this long."""


class CyclopeanGaze:
    """Turns the samples of two eyes into those of one, chunk by chunk."""

    def __init__(self, sampling_rate_hz: float | None) -> None:
        rate = check_rate(sampling_rate_hz)
        self._rate_hz = rate
        self._leak = min(1.0, 1000.0 / (SETTLING_MS * rate))
        self._state = np.empty(1, CYCLOPEAN)
        self.reset()

    def push(
        self,
        left_x_deg: npt.ArrayLike,
        left_y_deg: npt.ArrayLike,
        right_x_deg: npt.ArrayLike,
        right_y_deg: npt.ArrayLike,
        *,
        times_us: npt.ArrayLike | None = None,
    ) -> tuple[Floats, Floats]:
        """Return x and y in degrees of each sample; NaN where neither eye was seen.

        Without times (always or never), samples follow each other without gaps. With them, a gap
        is a loss, and a sample that is not later than the one before is lost and changes nothing.
        """
        eyes = [
            np.ascontiguousarray(a, np.float64)
            for a in (left_x_deg, left_y_deg, right_x_deg, right_y_deg)
        ]
        if any(a.ndim != 1 or len(a) != len(eyes[0]) for a in eyes):
            raise RecordingError("x and y of both eyes must be of one length")
        n = len(eyes[0])
        if times_us is None:
            newest = self._state[0]["time_us"]
            times = newest + np.rint(1e6 / self._rate_hz * np.arange(1, n + 1)).astype(np.int64)
        else:
            times = np.ascontiguousarray(times_us, np.int64)
        if times.shape != eyes[0].shape:
            raise RecordingError("times and positions must be of one length")
        x_deg, y_deg = np.empty(n), np.empty(n)
        left_x, left_y, right_x, right_y = eyes
        follow_both_eyes(self._state, times, left_x, left_y, right_x, right_y, x_deg, y_deg)
        return x_deg, y_deg

    def reset(self) -> None:
        """Forget where the eyes were."""
        self._state[0] = np.zeros((), CYCLOPEAN)
        for name in ("x_deg", "y_deg", "left_x_deg", "left_y_deg", "right_x_deg", "right_y_deg"):
            self._state[name] = np.nan
        self._state["leak"] = self._leak
        self._state["largest_pull_deg"] = FASTEST_PULL_DEG_S / self._rate_hz
        self._state["trusted_after"] = round(TRUSTED_AFTER_MS * self._rate_hz / 1000)
        self._state["longest_step_us"] = longest_step_us(self._rate_hz)


def cyclopean(
    left_x_deg: npt.ArrayLike,
    left_y_deg: npt.ArrayLike,
    right_x_deg: npt.ArrayLike,
    right_y_deg: npt.ArrayLike,
    sampling_rate_hz: float | None,
    *,
    times_us: npt.ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the cyclopean gaze of a whole stretch, as `CyclopeanGaze` would chunk by chunk."""
    return CyclopeanGaze(sampling_rate_hz).push(
        left_x_deg, left_y_deg, right_x_deg, right_y_deg, times_us=times_us
    )
