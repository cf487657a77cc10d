"""Time order: skip as few samples as possible so that times increase."""

from __future__ import annotations

import numpy as np

from gazelive.gaze.arrays import Flags, Integers, SingleFloats
from gazelive.gaze.samples import Samples
from gazelive.gaze.stream import LATEST_US

Columns = dict[str, SingleFloats]


def possible_times(times_us: Integers) -> Flags | None:
    """Return which of the times (n,) a tracker can have (`LATEST_US`); None: all."""
    if not len(times_us) or (times_us.min() >= -LATEST_US and times_us.max() <= LATEST_US):
        return None
    return np.asarray((times_us >= -LATEST_US) & (times_us <= LATEST_US))


def increasing(times_us: Integers) -> Flags:
    """Return which of the times (n,) form the longest increasing subsequence of possible ones.

    Of two contradicting times that of the earlier sample is kept, as on the live path.
    """
    possible = possible_times(times_us)
    if possible is not None:
        possible[possible] = increasing(times_us[possible])
        return possible
    if bool((times_us[1:] > times_us[:-1]).all()):
        return np.ones(len(times_us), bool)
    from gazelive.gaze.time_order_kernels import longest_increasing

    backwards: Flags = longest_increasing(np.ascontiguousarray(-times_us[::-1]))
    return backwards[::-1]


def in_order(samples: Samples, extras: Columns) -> tuple[Samples, Columns, int]:
    """Return samples and their further columns in time order, and the number skipped.

    The same arrays are returned if none is skipped.
    """
    kept = increasing(samples["tracker_time_us"])
    n_left_out = int(len(kept) - kept.sum())
    if not n_left_out:
        return samples, extras, 0
    return samples[kept], {name: column[kept] for name, column in extras.items()}, n_left_out


def left_out_sentence(n_left_out: int, where: str) -> str:
    """Return the problem text for samples that `in_order` skipped."""
    noun, verb = ("sample", "was") if n_left_out == 1 else ("samples", "were")
    return f"{n_left_out} {noun} of {where} {verb} skipped to keep times increasing"
