"""Evidence of one saccade for every enrolled viewer at once, linear in its statistics.

The statistics are, per feature, the two entries of its score (`models.typed_density_kernels`) and a
1 for being known. The last axis of the weights is the viewers': an update adds a few long vectors,
of one type only.
"""

from __future__ import annotations

import math

from gazelive.features import Features, TypeCode, row_type, row_values
from gazelive.gaze import Flags, Floats, SingleFloats
from gazelive.identification.posterior_kernels import normalise
from gazelive.models import FAMILY, NONE, cell_score
from gazelive.system import kernel, unchecked_kernel

NEW, LATE, WHOLE = 0, 1, 2
"""Parts of a saccade: known at once, known late, all."""


@unchecked_kernel
def add_row_evidence(
    row: SingleFloats,
    part: int,
    types: TypeCode,
    features: Features,
    late: Flags,
    cells: Floats,
    limit: float,
    value_weights: Floats,
    type_weights: Floats,
    values: Floats,
    evidence: Floats,
) -> bool:
    """Add the evidence of a saccade (viewers,); return whether it has any.

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
    rows: SingleFloats,
    types: TypeCode,
    features: Features,
    late: Flags,
    cells: Floats,
    limit: float,
    value_weights: Floats,
    type_weights: Floats,
    values: Floats,
    evidence: Floats,
) -> bool:
    """Add the evidence of all saccades of a scanpath; return whether any has evidence."""
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
    normalise(out)
