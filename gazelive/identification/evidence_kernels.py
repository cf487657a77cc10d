"""Evidence of one saccade for every enrolled viewer at once, and posteriors of summed evidence.

What a saccade says is linear in the statistics of its values: per feature the two entries of its
score (`models.typed_density_kernels`) and a 1 for being known. Weights lie viewer by viewer, so
that an update is a few additions of long vectors, of one type only.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gazelive.compilation import kernel
from gazelive.features.feature_set_kernels import Features, Rows, TypeRule, row_type, row_values
from gazelive.models.typed_density_kernels import FAMILY, NONE, cell_score

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
NEW, LATE, WHOLE = 0, 1, 2
"""A saccade as far as it is known at first, what was missing then, all of it."""


@kernel
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
            says |= of_type[k] != 0
    return says


@kernel
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
    largest = -np.inf
    for k in range(len(out)):
        out[k] = scale * (evidence[k] + further[k]) + log_prior[k]
        largest = max(largest, out[k])
    total = 0.0
    for k in range(len(out)):
        total += math.exp(out[k] - largest)
    offset = largest + math.log(total)
    for k in range(len(out)):
        out[k] -= offset
