"""Numba kernel for the repair of sample times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.compilation import kernel


@kernel
def advance_times(
    times_us: npt.NDArray[np.int64], known: npt.NDArray[np.bool_], interval_us: float
) -> int:
    """Make every time later than the one before it, in place; return how many were changed.

    A time that is not `known`, or not later, becomes `interval_us` after the one before it. Rows
    before the first known time count back from it; without any, time begins at 0.
    """
    n_before = 0
    while n_before < len(times_us) and not known[n_before]:
        n_before += 1
    last_us = -interval_us
    if n_before < len(times_us):
        last_us = times_us[n_before] - (n_before + 1) * interval_us
    n_changed = 0
    for row in range(len(times_us)):
        if known[row] and times_us[row] > last_us:
            last_us = float(times_us[row])
        else:
            last_us += interval_us
            times_us[row] = round(last_us)
            n_changed += 1
    return n_changed
