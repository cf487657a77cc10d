"""Fixation gate: opens after a dwell of gaze on the cross."""

from __future__ import annotations

import numpy as np

from gazelive.gaze import EYE_FIELDS, Floats, Geometry, Samples
from gazelive.triggers import Dwell


class FixationGate:
    """Takes samples as they come and opens at the end of the first dwell on the cross.

    A dwell is `dwell_s` of gaze within `radius_deg` of the cross without interruption. Of two eyes
    the mean counts, or the one that is tracked. Samples before `from_us` are ignored, and all
    samples while `from_us` is None.
    """

    def __init__(
        self,
        screen: Geometry,
        cross_px: tuple[float, float],
        *,
        radius_deg: float,
        dwell_s: float,
    ) -> None:
        self._screen = screen
        x_deg, y_deg = screen.px_to_deg(*cross_px)
        self._cross_deg = float(x_deg), float(y_deg)
        self._radius_deg = radius_deg
        self._dwell_us = round(dwell_s * 1e6)
        self._dwell = Dwell()
        self.from_us: int | None = None
        """Tracker time from which gaze counts."""
        self.opened_us: int | None = None
        """Tracker time at which the gate opened; None while it is shut."""
        self.distance_deg = float("nan")
        """Last known distance of gaze from the cross."""

    def push(self, samples: Samples) -> None:
        """Take the next samples."""
        from_us = self.from_us
        if from_us is None or self.opened_us is not None or not len(samples):
            return
        counted = samples[samples["tracker_time_us"] >= from_us]
        times_us = counted["tracker_time_us"]
        distances_deg = self._distances_deg(counted)
        seen = np.isfinite(distances_deg)
        if seen.any():
            self.distance_deg = float(distances_deg[seen][-1])
        dwelling = self._dwell.take(times_us, seen, distances_deg <= self._radius_deg)
        for time_us, since_us in zip(times_us.tolist(), dwelling, strict=True):
            if since_us is not None and time_us - since_us >= self._dwell_us:
                self.opened_us = time_us
                return

    def _distances_deg(self, samples: Samples) -> Floats:
        x_px, y_px = (_mean_of_eyes(samples, axis) for axis in (0, 1))
        x_deg, y_deg = self._screen.px_to_deg(x_px, y_px)
        return np.hypot(x_deg - self._cross_deg[0], y_deg - self._cross_deg[1])


def _mean_of_eyes(samples: Samples, axis: int) -> Floats:
    left, right = (samples[EYE_FIELDS[eye][axis]].astype(np.float64) for eye in ("L", "R"))
    one = np.where(np.isnan(left), right, left)
    return np.where(np.isnan(left) | np.isnan(right), one, (left + right) / 2)
