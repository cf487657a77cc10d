"""Samples whose times increase: as few as possible of the others are left out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.gaze.samples import Samples

Columns = dict[str, npt.NDArray[np.float32]]


def increasing(times_us: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which of the times (n,) are the longest increasing run of them.

    Of two times that contradict each other the earlier sample's is kept, as the live path does.
    """
    if bool((times_us[1:] > times_us[:-1]).all()):
        return np.ones(len(times_us), bool)
    from gazelive.recordings.time_order_kernels import longest_increasing

    backwards: npt.NDArray[np.bool_] = longest_increasing(np.ascontiguousarray(-times_us[::-1]))
    return backwards[::-1]


def in_order(samples: Samples, extras: Columns) -> tuple[Samples, Columns, int]:
    """Return samples and their further columns in the order of time, and how many were left out.

    They are the same arrays where nothing is.
    """
    kept = increasing(samples["tracker_time_us"])
    n_left_out = int(len(kept) - kept.sum())
    if not n_left_out:
        return samples, extras, 0
    return samples[kept], {name: column[kept] for name, column in extras.items()}, n_left_out


def left_out_sentence(n_left_out: int, where: str) -> str:
    """Return what a reader says of samples that `in_order` left out."""
    noun, verb = ("sample", "was") if n_left_out == 1 else ("samples", "were")
    return f"{n_left_out} {noun} of {where} {verb} left out so that its times increase"
