"""Numba kernel for the repair of sample times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.compilation import kernel


@kernel
def place_rows(
    times_us: npt.NDArray[np.int64], believed: npt.NDArray[np.bool_], interval_us: float
) -> npt.NDArray[np.bool_]:
    """Give the rows between believed ones the times of their places; return which have one.

    Times are changed in place; the believed ones increase.
    """
    n = len(times_us)
    kept = believed.copy()
    before = -1
    for row in range(n + 1):
        if row < n and not believed[row]:
            continue
        first, n_between = before + 1, row - before - 1
        if before < 0 or row == n:
            # beyond the believed ones there is room for all
            anchor = 0
            origin_us = 0
            if before >= 0:
                anchor, origin_us = before, times_us[before]
            elif row < n:
                anchor, origin_us = row, times_us[row]
            for i in range(first, row):
                times_us[i] = origin_us + round((i - anchor) * interval_us)
                kept[i] = True
        elif n_between > 0:
            step_us = times_us[row] - times_us[before]
            n_places = round(step_us / interval_us) - 1
            interval = step_us / (n_between + 1) if n_places == n_between else interval_us
            for k in range(1, min(n_places, n_between) + 1):
                times_us[before + k] = times_us[before] + round(k * interval)
                kept[before + k] = True
        before = row
    return kept
