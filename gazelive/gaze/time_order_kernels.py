"""Kernels of time order: steps of time, and the longest increasing subsequence.

A clock that was set back, a time with a flipped bit and a line that was written twice all break
time order. The longest strictly increasing subsequence (patience sorting, Schensted 1961) skips the
fewest samples in each of these cases.
"""

from __future__ import annotations

import numpy as np

from gazelive.gaze.arrays import Flags, Integers
from gazelive.system import kernel


@kernel
def step_range(times: Integers) -> tuple[int, int]:
    """Return the smallest and the largest step between times (n,); (1, 1) if there is none.

    For chunks of a few samples, where numpy's overhead is larger.
    """
    if times.size < 2:
        return 1, 1
    smallest = largest = times[1] - times[0]
    for k in range(2, times.size):
        step = times[k] - times[k - 1]
        smallest = min(smallest, step)
        largest = max(largest, step)
    return smallest, largest


@kernel
def longest_increasing(times: Integers) -> Flags:
    """Return a mask of the longest strictly increasing subsequence of `times` (n,)."""
    n = times.size
    keep = np.zeros(n, np.bool_)
    before = np.empty(n, np.int32)  # the one that precedes each in its best subsequence
    ends = np.empty(n, np.int32)  # where the best subsequence of each length ends
    longest = 0
    for k in range(n):
        low, high = 0, longest
        while low < high:
            middle = (low + high) // 2
            if times[ends[middle]] < times[k]:
                low = middle + 1
            else:
                high = middle
        before[k] = ends[low - 1] if low > 0 else -1
        ends[low] = k
        longest = max(longest, low + 1)
    k = ends[longest - 1] if longest > 0 else -1
    while k >= 0:
        keep[k] = True
        k = before[k]
    return keep
