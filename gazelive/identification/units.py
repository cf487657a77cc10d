"""Units of evidence: a viewing interval, or windows of a long one.

An interval of up to `LONGEST_UNIT` saccades is one unit. A longer one is cut into windows of
`WINDOW` saccades every `STEP`, the last reaching to the end, so that every saccade is in one.
Neighbouring windows share half of their saccades: what they say is weighted so that every
saccade counts once.
"""

from __future__ import annotations

LONGEST_UNIT = 30
WINDOW = 20
STEP = 10


def unit_windows(n_saccades: int) -> list[tuple[int, int]]:
    """Return first and beyond-last saccade of each unit of an interval."""
    if n_saccades <= LONGEST_UNIT:
        return [(0, n_saccades)] if n_saccades else []
    starts = range(0, n_saccades - WINDOW + 1, STEP)
    return [(s, s + WINDOW) for s in starts[:-1]] + [(starts[-1], n_saccades)]


def unit_weight(n_saccades: int) -> float:
    """Return what each window's evidence is multiplied with: saccades over saccades in windows."""
    shared = sum(beyond - first for first, beyond in unit_windows(n_saccades))
    return n_saccades / shared if shared else 0.0


def n_units(n_saccades: int) -> float:
    """Return how many units an interval counts for: 1, or its saccades over `WINDOW`."""
    return 1.0 if n_saccades <= LONGEST_UNIT else n_saccades / WINDOW
