"""Exact medians of large arrays in little more than one look at each value.

A sample of the values gives two bounds between which the middle almost certainly lies. One pass
counts the values below them and one gathers the few between, without a branch; this repeats until
they can be sorted. Where the bounds are wrong, the counts show it and all values are gathered: the
result is always exact. (After Floyd, R. W., & Rivest, R.
L. (1975). Expected time bounds for selection. Communications of the ACM, 18, 165–172.)
"""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Floats
from gazelive.system import kernel

SAMPLE = 1024
REACH_SD = 3.5
"""Distance of the bounds from the middle of the sample, in its standard errors."""
SLACK = 0.2
"""Tolerance of the bounds, as a fraction of that distance."""
MOST_HALVINGS = 64
FEW = 128
"""At most this many values are sorted."""


@kernel
def _middle_two(
    values: np.ndarray, centre: float, is_distance: bool, room: np.ndarray
) -> tuple[float, float]:
    """Return the two middle values, twice the same where their number is odd; NaN of none.

    Their mean is the median. With `is_distance` they are those of |value − centre|. NaN is left
    out. `room` is scratch of two rows, each longer than `values`.
    """
    lowest, highest = _bracket(values, len(values), centre, is_distance, 0.5)
    below, n, n_all = _gather(values, len(values), centre, is_distance, lowest, highest, room[0])
    if n_all == 0:
        return np.nan, np.nan
    lower, upper = (n_all - 1) // 2, n_all // 2
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
    """Return bounds of the value above `share` of n values; they hold most probably."""
    sample = np.empty(SAMPLE)
    n_taken = 0
    smallest, largest = np.inf, -np.inf
    step = n // SAMPLE + 1
    for i in range(step // 2, n, step):
        value = abs(values[i] - centre) if is_distance else values[i]
        if not math.isnan(value):
            sample[n_taken] = value
            n_taken += 1
            smallest = min(smallest, value)
            largest = max(largest, value)
    at, reach = share * n_taken, REACH_SD * math.sqrt(n_taken * share * (1.0 - share)) + 2.0
    slack = SLACK * reach
    lowest, highest = -np.inf, np.inf
    if at - reach > slack:
        lowest, _ = _around(sample[:n_taken], at - reach, slack, smallest, largest)
    if at + reach < n_taken - slack:
        _, highest = _around(sample[:n_taken], at + reach, slack, smallest, largest)
    return lowest, highest


@kernel
def _around(
    sample: np.ndarray, rank: float, slack: float, lowest: float, highest: float
) -> tuple[float, float]:
    """Return between which numbers the value of a rank lies: one number, if one is near enough.

    By halving: to count is a matter of vector instructions, to sort one of guessed branches.
    """
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (lowest + highest)
        n_below = 0
        for i in range(len(sample)):
            n_below += sample[i] < middle
        if n_below > rank + slack:
            highest = middle
        elif n_below < rank - slack:
            lowest = middle
        else:
            return middle, middle
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
    """Write the values from `lowest` to `highest`; return how many are below, inside, in all."""
    n_below = n_inside = n_all = 0
    for i in range(n):  # a loop of its own, which becomes vector instructions
        value = abs(values[i] - centre) if is_distance else values[i]
        n_below += value < lowest
        n_all += not math.isnan(value)
    for i in range(n):
        value = abs(values[i] - centre) if is_distance else values[i]
        inside[n_inside] = value  # overwritten by the next one where it is not inside
        n_inside += (value >= lowest) & (value <= highest)
    return n_below, n_inside, n_all


def middle_two(
    values: Floats, distance_from: float | None = None, *, room: Floats | None = None
) -> tuple[float, float]:
    """Return the two middle values, twice the same where their number is odd.

    Their mean is the median. With `distance_from` they are those of the distances from it. NaN is
    left out; of an empty array they are NaN. Pass `room` (`median_room`) to allocate it once.
    """
    if room is None:
        room = median_room(len(values))
    return _middle_two(values, distance_from or 0.0, distance_from is not None, room)


def median_room(n: int) -> Floats:
    """Return scratch for the medians of up to `n` values."""
    return np.empty((2, n + 1))
