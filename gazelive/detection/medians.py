"""Medians and median distances of large arrays."""

from __future__ import annotations

import numpy as np

from gazelive.detection import median_kernels
from gazelive.detection.outcome import Floats


def middle_two(
    values: Floats, distance_from: float | None = None, *, room: Floats | None = None
) -> tuple[float, float]:
    """Return the two middle values, twice the same where their number is odd.

    Their mean is the median. With `distance_from` they are those of the distances from it. NaN is
    left out; of nothing they are NaN. Who asks more often hands over `room` (`median_room`).
    """
    if room is None:
        room = median_room(len(values))
    is_distance = distance_from is not None
    return median_kernels.middle_two(values, distance_from or 0.0, is_distance, room)


def median_room(n: int) -> Floats:
    """Return scratch for the medians of up to `n` values."""
    return np.empty((2, n + 1))
