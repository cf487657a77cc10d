"""Exact medians of large arrays in little more than one look at each value.

A sample of the values says between which two numbers the middle must almost certainly lie; one
pass counts what is below them and gathers what is between, without a branch, and that is few. It
goes on with those until they can be sorted. Where the sample was wrong, the counts tell, and all
values are gathered: the result is exact whatever the sample. (After Floyd, R. W., & Rivest, R. L.
(1975). Expected time bounds for selection. Communications of the ACM, 18, 165–172.)
"""

from __future__ import annotations

import math

import numpy as np

from gazelive.compilation import kernel

SAMPLE = 512
REACH_SD = 3.5
"""How far around the middle of the sample is gathered, in its standard errors."""
FEW = 256
"""So many are sorted at once."""


@kernel
def middle_two(
    values: np.ndarray, centre: float, is_distance: bool, room: np.ndarray
) -> tuple[float, float]:
    """Return the two middle values, twice the same where their number is odd; NaN of none.

    Their mean is the median. With `is_distance` they are those of |value − centre|. What is not
    finite is left out. `room` is scratch of two rows, each longer than `values`.
    """
    lowest, highest = _bracket(values, len(values), centre, is_distance, 0.5)
    below, n, n_finite = _gather(values, len(values), centre, is_distance, lowest, highest, room[0])
    if n_finite == 0:
        return np.nan, np.nan
    lower, upper = (n_finite - 1) // 2, n_finite // 2
    if lower < below or upper >= below + n:
        lowest, highest = -np.inf, np.inf
        below, n, _ = _gather(values, len(values), centre, is_distance, lowest, highest, room[0])
    held = 0
    while n > FEW:
        if lowest == highest:
            return lowest, highest
        lowest, highest = _bracket(room[held], n, 0.0, False, (upper - below) / n)
        fewer, n_left, _ = _gather(room[held], n, 0.0, False, lowest, highest, room[1 - held])
        if lower < below + fewer or upper >= below + fewer + n_left or 2 * n_left > n:
            break
        below += fewer
        n = n_left
        held = 1 - held
    rest = np.sort(room[held, :n])
    return rest[lower - below], rest[upper - below]


@kernel
def _bracket(
    values: np.ndarray, n: int, centre: float, is_distance: bool, share: float
) -> tuple[float, float]:
    """Return between which numbers lies, most probably, what is above `share` of n values."""
    sample = np.empty(SAMPLE)
    n_taken = 0
    step = n // SAMPLE + 1
    for i in range(step // 2, n, step):
        value = abs(values[i] - centre) if is_distance else values[i]
        if abs(value) < np.inf:
            sample[n_taken] = value
            n_taken += 1
    ordered = np.sort(sample[:n_taken])
    reach = REACH_SD * math.sqrt(n_taken * share * (1.0 - share)) + 2.0
    first = math.floor(share * n_taken - reach)
    last = math.ceil(share * n_taken + reach)
    lowest = ordered[first] if first >= 0 else -np.inf
    highest = ordered[last] if last < n_taken else np.inf
    return lowest, highest


@kernel
def _gather(
    values: np.ndarray,
    n: int,
    centre: float,
    is_distance: bool,
    lowest: float,
    highest: float,
    inside: np.ndarray,
) -> tuple[int, int, int]:
    """Write what lies from `lowest` to `highest`; return how many are below, inside, finite."""
    n_below = n_inside = n_finite = 0
    for i in range(n):
        value = abs(values[i] - centre) if is_distance else values[i]
        is_finite = abs(value) < np.inf
        n_finite += is_finite
        n_below += is_finite & (value < lowest)
        inside[n_inside] = value  # overwritten by the next one where it is not inside
        n_inside += is_finite & (value >= lowest) & (value <= highest)
    return n_below, n_inside, n_finite
