"""Sums of tempered saccades, projected; log likelihood ratios of profiles."""

from __future__ import annotations

import math

from gazelive.features import Features, TypeCode, row_type
from gazelive.gaze import Floats, SingleFloats
from gazelive.identification.comparison.embedding_kernels import add_row_score
from gazelive.system import kernel

_TOGETHER = 8
"""Variances whose product is taken before its logarithm."""


@kernel
def add_tempered(
    row: SingleFloats,
    types: TypeCode,
    features: Features,
    cells: Floats,
    shares: Floats,
    share_weights: Floats,
    limit: float,
    values: Floats,
    value_score: Floats,
    type_score: Floats,
    projection: Floats,
    out: Floats,
) -> None:
    """Add the projected signed roots of a saccade's score.

    `values`, `value_score` (types, features, 1) and `type_score` are scratch, and zero. Only the
    cells of the saccade's own type and the frequencies have a score.
    """
    type_ = row_type(row, types[0], types[1], types[2])
    if type_ < 0:
        return
    add_row_score(
        row,
        types,
        features,
        cells,
        shares,
        share_weights,
        limit,
        values,
        value_score,
        type_score,
    )
    n_types, n_features = value_score.shape[0], value_score.shape[1]
    for f in range(n_features):
        _add_root(value_score[type_, f, 0], projection[type_ * n_features + f], out)
        value_score[type_, f, 0] = 0.0
    for u in range(n_types):
        _add_root(type_score[u], projection[n_types * n_features + u], out)
        type_score[u] = 0.0


@kernel
def _add_root(score: float, weights: Floats, out: Floats) -> None:
    root = math.sqrt(abs(score))
    if score < 0:
        root = -root
    if root != 0.0:
        for d in range(len(out)):
            out[d] += root * weights[d]


@kernel
def log_ratios(
    z: Floats,
    noise: Floats,
    between: Floats,
    means: Floats,
    variances: Floats,
    out: Floats,
) -> None:
    """Write ln p(z | viewer) − ln p(z | somebody new) for each viewer.

    `noise` (dimensions,) is the variance of z around a person's mean; `means` and `variances`
    (viewers, dimensions) are the posterior of each viewer's mean, `between` the prior's variance.
    """
    population, product = 0.0, 1.0
    for d in range(len(z)):
        anyone = between[d] + noise[d]
        population += z[d] * z[d] / anyone
        product *= anyone
        if d % _TOGETHER == _TOGETHER - 1:
            population += math.log(product)
            product = 1.0
    population += math.log(product)
    for k in range(len(out)):
        distance, product = 0.0, 1.0
        for d in range(len(z)):
            own = variances[k, d] + noise[d]
            deviation = z[d] - means[k, d]
            distance += deviation * deviation / own
            product *= own
            if d % _TOGETHER == _TOGETHER - 1:
                distance += math.log(product)
                product = 1.0
        distance += math.log(product)
        out[k] = 0.5 * (population - distance)
