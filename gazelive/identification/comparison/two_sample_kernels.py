"""Exact two-sample statistics of a small sample against a large one, in O(m log n).

Both samples are sorted. Each distinct value of the probe is looked up in the other sample, from
where the one before was found, by steps that double and then bisection; ties have mid-ranks.
Kolmogorov-Smirnov and Mann-Whitney equal scipy's always, Cramér-von Mises and Ansari-Bradley where
there are no ties (with ties, scipy scores a mean rank, where the mean of the scores is meant).
"""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Floats, Integers
from gazelive.system import unchecked_kernel


@unchecked_kernel
def _first_from(values: Floats, start: int, least: float) -> int:
    """Return the first position from `start` on whose value is at least `least`."""
    low, high, step = start, start, 1
    while high < len(values) and values[high] < least:
        low = high + 1
        high += step
        step *= 2
    high = min(high, len(values))
    while low < high:
        middle = (low + high) // 2
        if values[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@unchecked_kernel
def _sum_of_squares(n: float) -> float:
    return n * (n + 1) * (2 * n + 1) / 6


@unchecked_kernel
def _squared_from(middle: float, first: int, last: int) -> float:
    """Return Σ (middle − q)² over the integers first … last."""
    n = last - first + 1
    total = 0.5 * (first + last) * n
    squares = _sum_of_squares(last) - _sum_of_squares(first - 1)
    return squares - 2 * middle * total + n * middle * middle


@unchecked_kernel
def _score_sum(rank: int, n_all: int) -> float:
    """Return Σ min(r, N + 1 − r) over the ranks 1 … rank."""
    half = (n_all + 1) // 2
    if rank <= half:
        return 0.5 * rank * (rank + 1)
    rest = n_all - rank
    whole = half * (half + 1) - (half if n_all % 2 else 0)
    return whole - 0.5 * rest * (rest + 1)


@unchecked_kernel
def two_sample_statistics(probe: Floats, other: Floats, out: Floats) -> None:
    """Write Kolmogorov-Smirnov D, Cramér-von Mises T, Mann-Whitney U, Ansari-Bradley AB.

    As scipy defines them, U and AB of the probe. Neither sample is empty.
    """
    m, n = len(probe), len(other)
    n_all = m + n
    largest = u = ab = of_probe = of_other = 0.0
    first = seen = 0
    while first < m:
        stop = first + 1
        while stop < m and probe[stop] == probe[first]:
            stop += 1
        below = upto = _first_from(other, seen, probe[first])
        while upto < n and other[upto] == probe[first]:
            upto += 1
        ties = stop - first
        largest = max(largest, abs(first / m - below / n), abs(stop / m - upto / n))
        u += ties * 0.5 * (below + upto)
        scores = _score_sum(upto + stop, n_all) - _score_sum(below + first, n_all)
        ab += ties * scores / (upto + stop - below - first)
        rank = 0.5 * (below + first + 1 + upto + stop)
        of_probe += _squared_from(rank, first + 1, stop)
        of_other += float(below - seen) * first * first
        if upto > below:
            of_other += _squared_from(rank, below + 1, upto)
        first, seen = stop, upto
    of_other += float(n - seen) * m * m
    out[0] = largest
    out[1] = (m * of_probe + n * of_other) / (float(n) * m * n_all)
    out[1] -= (4.0 * m * n - 1) / (6.0 * n_all)
    out[2] = u
    out[3] = ab


@unchecked_kernel
def statistics_to_distances(statistics: Floats, m: int, n: int) -> None:
    """Replace the statistics by distances that do not grow with the samples.

    They are those of `cem_b_kernels`, without bins.
    """
    n_all = float(m + n)
    odd = (m + n) % 2 == 1
    expected = (n_all + 1) ** 2 / (4 * n_all) if odd else (n_all + 2) / 4
    squared = statistics[1] * n_all / (float(m) * n)
    statistics[1] = math.sqrt(squared) if squared > 0 else 0.0
    statistics[2] = abs(statistics[2] / (float(m) * n) - 0.5)
    statistics[3] = abs(statistics[3] / m - expected) / n_all


@unchecked_kernel
def sample_distances(
    probe: Floats, probe_ends: Integers, others: Floats, ends: Integers, out: Floats
) -> None:
    """Write the distances (viewers, features, 4) of sorted samples; NaN where one is empty.

    `probe_ends` (features + 1,) and `ends` (viewers · features + 1,) are where each sample ends
    in the values of all, viewer by viewer.
    """
    n_features = len(probe_ends) - 1
    for e in range(len(out)):
        for f in range(n_features):
            own = probe[probe_ends[f] : probe_ends[f + 1]]
            at = e * n_features + f
            other = others[ends[at] : ends[at + 1]]
            if len(own) and len(other):
                two_sample_statistics(own, other, out[e, f])
                statistics_to_distances(out[e, f], len(own), len(other))
            else:
                out[e, f, :] = np.nan
