"""Posteriors of summed evidence, and their leading viewers."""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Floats, Integers
from gazelive.models import LEAST_EXP2, exp2, vectorised
from gazelive.system import kernel

_LANES = 8
_LOG2_E = 1.4426950408889634


@kernel
def log_posterior(
    evidence: Floats, further: Floats, scale: float, log_prior: Floats, out: Floats
) -> None:
    """Write ln p ∝ scale·(evidence + further) + log_prior, normalised."""
    for k in range(len(out)):
        out[k] = scale * (evidence[k] + further[k]) + log_prior[k]
    normalise(out)


@kernel
def normalise(logs: Floats) -> None:
    """Normalise logarithms: their exponentials sum to 1."""
    offset = _largest(logs)
    offset += math.log(_sum_of_exponentials(logs, offset))
    for k in range(len(logs)):
        logs[k] -= offset


@kernel
def _largest(numbers: Floats) -> float:
    """Return the largest, in independent lanes."""
    lanes = np.full(_LANES, -np.inf)
    n_in_lanes = len(numbers) // _LANES * _LANES
    for first in range(0, n_in_lanes, _LANES):
        for lane in range(_LANES):
            number = numbers[first + lane]
            lanes[lane] = number if number > lanes[lane] else lanes[lane]
    largest = -np.inf
    for lane in range(_LANES):
        largest = max(largest, lanes[lane])
    for k in range(n_in_lanes, len(numbers)):
        largest = max(largest, numbers[k])
    return largest


@vectorised
def _sum_of_exponentials(logs: Floats, offset: float) -> float:
    sum_ = 0.0
    for k in range(len(logs)):
        exponent = (logs[k] - offset) * _LOG2_E
        sum_ += exp2(exponent if exponent > LEAST_EXP2 else LEAST_EXP2)
    return sum_


@kernel
def write_leading(numbers: Floats, places: Integers) -> None:
    """Write the positions of the largest numbers, in descending order; the earlier of equals first.

    `places` sets how many, at most as many as there are numbers. One pass: few numbers are larger
    than the smallest of those held.
    """
    n_held = 0
    for k in range(len(numbers)):
        if n_held == len(places):
            if not numbers[k] > numbers[places[n_held - 1]]:
                continue
            n_held -= 1
        at = n_held
        while at > 0 and numbers[k] > numbers[places[at - 1]]:
            places[at] = places[at - 1]
            at -= 1
        places[at] = k
        n_held += 1
