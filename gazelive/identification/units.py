"""Units of evidence: a viewing interval, or windows of a long one.

An interval of up to `LONGEST_UNIT` saccades is one unit. A longer one is cut into windows of
`WINDOW` saccades every `STEP`, the last reaching to the end, so that every saccade is in one and
no unit is longer than `LONGEST_UNIT`.
"""

from __future__ import annotations

STEP = 10
WINDOW = 2 * STEP
LONGEST_UNIT = 3 * STEP


def unit_windows(n_saccades: int, step: int = STEP) -> list[tuple[int, int]]:
    """Return first and beyond-last saccade of each unit of an interval."""
    if not n_saccades:
        return []
    starts = range(0, max(1, n_saccades - 2 * step), step)
    return [(s, s + 2 * step) for s in starts[:-1]] + [(starts[-1], n_saccades)]


def n_units(n_saccades: int) -> float:
    """Return how many units an interval counts for: 1, or its saccades over `WINDOW`.

    Neighbouring windows share half of their saccades, so there are about twice as many windows.
    """
    return 1.0 if n_saccades <= LONGEST_UNIT else n_saccades / WINDOW
