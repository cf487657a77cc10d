"""Bins even in ln x: which bin a value falls into, and how many do."""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Floats, Integers
from gazelive.system import unchecked_kernel

N_BINS = 64
LOW, RATE, SPREAD = range(3)
"""ln x at the lower edge, bins per unit of ln x, and the standard deviation of ln x."""


@unchecked_kernel
def bin_number(x: float, bins: Floats) -> int:
    """Return the bin (0 … N_BINS − 1) of a positive value; the end bins have no outer edge."""
    at = (math.log(x) - bins[LOW]) * bins[RATE]
    return int(min(max(at, 0.0), N_BINS - 1.0))


@unchecked_kernel
def bin_numbers(values: Floats, bins: Floats) -> Integers:
    """Return the bins of several positive values."""
    found = np.empty(len(values), np.int64)
    for i in range(len(values)):
        found[i] = bin_number(values[i], bins)
    return found


@unchecked_kernel
def bin_saccades(types: Integers, values: Floats, bins: Floats, binned: Integers) -> None:
    """Write the bin of each value (saccades, features), −1 where it is masked.

    `bins` is (types, features, 3).
    """
    for i in range(len(types)):
        for f in range(values.shape[1]):
            x = values[i, f]
            binned[i, f] = -1 if math.isnan(x) else bin_number(x, bins[types[i], f])


@unchecked_kernel
def count_bins(types: Integers, binned: Integers, viewers: Integers, counts: Floats) -> None:
    """Add binned saccades to the counts (viewers, types, features, bins) of their viewers."""
    for i in range(len(types)):
        for f in range(binned.shape[1]):
            if binned[i, f] >= 0:
                counts[viewers[i], types[i], f, binned[i, f]] += 1
