"""Kernel that repairs sample times."""

from __future__ import annotations

from gazelive.gaze import Flags, Integers
from gazelive.system import kernel


@kernel
def place_rows(times_us: Integers, trusted: Flags, interval_us: float) -> Flags:
    """Interpolate the times of rows between trusted ones; return which rows have a time.

    Times are changed in place; the trusted ones increase.
    """
    n = len(times_us)
    kept = trusted.copy()
    before = -1
    for row in range(n + 1):
        if row < n and not trusted[row]:
            continue
        first, n_between = before + 1, row - before - 1
        if before < 0 or row == n:
            # before the first and after the last trusted row there is room for all
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
