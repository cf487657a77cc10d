"""Evidence of one saccade for every enrolled viewer at once, and posteriors of summed evidence.

What a saccade says is linear in the statistics of its values: per feature the two entries of its
score (`models.typed_density_kernels`) and a 1 for being known. Weights lie viewer by viewer, so
that an update is a few additions of long vectors, of one type only.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gazelive.compilation import kernel, unchecked_kernel
from gazelive.features.feature_set_kernels import Features, Rows, TypeRule, row_type, row_values
from gazelive.models.scenewalk_math_kernels import LEAST_EXP2, exp2, vectorised
from gazelive.models.typed_density_kernels import FAMILY, NONE, cell_score

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
NEW, LATE, WHOLE = 0, 1, 2
"""A saccade as far as it is known at first, what was missing then, all of it."""
_LANES = 8
_LOG2_E = 1.4426950408889634


@unchecked_kernel
def add_row_evidence(
    row: Rows,
    part: int,
    types: TypeRule,
    features: Features,
    late: Flags,
    cells: Floats,
    limit: float,
    value_weights: Floats,
    type_weights: Floats,
    values: Floats,
    evidence: Floats,
) -> bool:
    """Add what a saccade says to `evidence` (viewers,); return whether it says anything.

    `value_weights` is (types, features, 2 or 3, viewers), `type_weights` (types, viewers);
    `values` is scratch of one number per feature.
    """
    type_ = row_type(row, types[0], types[1], types[2])
    if type_ < 0:
        return False
    row_values(row, features[0], features[1], features[2], features[3], values)
    n_viewers = len(evidence)
    says = False
    for f in range(len(values)):
        x = values[f]
        if math.isnan(x) or cells[type_, f, FAMILY] == NONE:
            continue
        if part != WHOLE and late[f] != (part == LATE):
            continue
        first, second = cell_score(x, cells[type_, f])
        first = min(max(first, -limit), limit)
        second = min(max(second, -limit), limit)
        weights = value_weights[type_, f]
        for k in range(n_viewers):
            evidence[k] += first * weights[0, k] + second * weights[1, k]
        if len(weights) == 3:
            for k in range(n_viewers):
                evidence[k] += weights[2, k]
        says = True
    if part != LATE:
        of_type = type_weights[type_]
        for k in range(n_viewers):
            evidence[k] += of_type[k]
        for k in range(0 if says else n_viewers):
            says |= of_type[k] != 0
    return says


@unchecked_kernel
def add_scanpath_evidence(
    rows: Rows,
    types: TypeRule,
    features: Features,
    late: Flags,
    cells: Floats,
    limit: float,
    value_weights: Floats,
    type_weights: Floats,
    values: Floats,
    evidence: Floats,
) -> bool:
    """Add what all saccades of a scanpath say; return whether any says anything."""
    says = False
    for i in range(len(rows)):
        says |= add_row_evidence(
            rows[i],
            WHOLE,
            types,
            features,
            late,
            cells,
            limit,
            value_weights,
            type_weights,
            values,
            evidence,
        )
    return says


@kernel
def log_posterior(
    evidence: Floats, further: Floats, scale: float, log_prior: Floats, out: Floats
) -> None:
    """Write ln p ∝ scale·(evidence + further) + log_prior, normalised."""
    for k in range(len(out)):
        out[k] = scale * (evidence[k] + further[k]) + log_prior[k]
    _normalise(out)


@kernel
def running_log_posterior(
    settled: Floats,
    open_: Floats,
    constant: Floats,
    n_constants: float,
    scale: float,
    log_prior: Floats,
    out: Floats,
) -> None:
    """Write ln p ∝ scale·(settled + open + constant·n_constants) + log_prior, normalised."""
    for k in range(len(out)):
        evidence = settled[k] + (constant[k] * n_constants + open_[k])
        out[k] = scale * evidence + log_prior[k]
    _normalise(out)


@kernel
def _normalise(logs: Floats) -> None:
    """Subtract what makes the exponentials sum to 1."""
    offset = _largest(logs)
    offset += math.log(_sum_of_exponentials(logs, offset))
    for k in range(len(logs)):
        logs[k] -= offset


@kernel
def _largest(numbers: Floats) -> float:
    """Return the largest; side by side, since each comparison waits for the one before it."""
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
def write_leading(numbers: Floats, places: npt.NDArray[np.int64]) -> None:
    """Write the places of the greatest numbers, the greatest first; of equals the earlier.

    As many as there is room for, which is no more than there are numbers. Few numbers are greater
    than all that came before but a handful, so this is one look at each.
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
