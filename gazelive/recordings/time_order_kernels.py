"""Steps of time, and which samples to leave out so that they are forward: as few as possible.

A clock that was set back, a time with a flipped bit and a line that was written twice all break
the order of time. The longest strictly increasing subsequence (patience sorting, Schensted 1961)
keeps everything but the fewest samples in each of those cases.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.compilation import kernel


@kernel
def step_range(times: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Return the smallest and the largest step between times (n,); (1, 1) where there is none.

    For chunks of a few samples: numpy takes longer to begin than this to end.
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
def longest_increasing(times: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
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
