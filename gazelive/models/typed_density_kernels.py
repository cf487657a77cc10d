"""Densities of a saccade's features given its type, their gradients and sufficient statistics.

A cell is one feature for one type of saccade. Its row in `cells` (types, features, N_CELL) says
which family it has and how a value turns into the two entries of its score:

    gamma         t = (ln x − ψ(α) − ln β,  x/β − α)
    Gaussian      t = (z, z² − 1),  z = (x − μ)/σ
    log-Gaussian  the same of ln x
    score         M·t, with the 2×2 matrix M of the cell; or its first entry only

With M = diag(1, 1/β) the score is the gradient with respect to shape α and scale β; with the
inverse Cholesky factor of the information of t it is whitened.
"""

from __future__ import annotations

import math

import numpy as np

from gazelive.features import Features, TypeCode, row_type, row_values
from gazelive.gaze import Floats, Integers, SingleFloats
from gazelive.system import kernel, unchecked_kernel

FAMILY, CENTRE, INVERSE, SHAPE, M00, M01, M10, M11, LOWEST, HIGHEST = range(10)
"""INVERSE is 1 over the scale: a product is quicker than a quotient."""
N_CELL = 10
NONE, GAMMA, GAUSSIAN, LOG_GAUSSIAN = 0.0, 1.0, 2.0, 3.0
LARGEST_SCORE = 6.0
"""Limit at which the entries of a whitened score are clipped."""


@unchecked_kernel
def cell_score(x: float, cell: Floats) -> tuple[float, float]:
    """Return the two entries of the score of one value (not NaN)."""
    if cell[FAMILY] == GAMMA:
        log_x = math.log(x)
        if log_x < cell[LOWEST] or log_x > cell[HIGHEST]:
            log_x = min(max(log_x, cell[LOWEST]), cell[HIGHEST])
            x = math.exp(log_x)
        first = log_x - cell[CENTRE]
        second = x * cell[INVERSE] - cell[SHAPE]
    else:
        y = math.log(x) if cell[FAMILY] == LOG_GAUSSIAN else x
        z = (min(max(y, cell[LOWEST]), cell[HIGHEST]) - cell[CENTRE]) * cell[INVERSE]
        first, second = z, z * z - 1
    return cell[M00] * first + cell[M01] * second, cell[M10] * first + cell[M11] * second


@unchecked_kernel
def add_value_scores(
    type_: int, values: Floats, cells: Floats, limit: float, score: Floats
) -> None:
    """Add the scores of one saccade's values to `score`; NaN adds nothing.

    `score` is (types, features, entries), with one or both entries of each value's score.
    """
    for f in range(len(values)):
        x = values[f]
        if math.isnan(x) or cells[type_, f, FAMILY] == NONE:
            continue
        first, second = cell_score(x, cells[type_, f])
        score[type_, f, 0] += min(max(first, -limit), limit)
        if score.shape[2] == 2:
            score[type_, f, 1] += min(max(second, -limit), limit)


@kernel
def add_type_scores(type_: int, shares: Floats, weights: Floats, score: Floats) -> None:
    """Add the gradient of ln π for one saccade of a type (softmax parameters) times `weights`."""
    for u in range(len(shares)):
        score[u] += weights[u] * ((1.0 if u == type_ else 0.0) - shares[u])


@unchecked_kernel
def scanpath_score(
    rows: SingleFloats,
    types: TypeCode,
    features: Features,
    cells: Floats,
    shares: Floats,
) -> Floats:
    """Return the summed score of a scanpath's saccades, both entries, nothing clipped.

    Flat, by type: the entry of its share, then two of each feature.
    """
    n_types, n_features, _ = cells.shape
    score = np.zeros((n_types, 1 + 2 * n_features))
    values = np.empty(n_features)
    n_saccades = 0
    for i in range(len(rows)):
        type_ = row_type(rows[i], types[0], types[1], types[2])
        if type_ < 0:
            continue
        n_saccades += 1
        score[type_, 0] += 1
        row_values(rows[i], features[0], features[1], features[2], features[3], values)
        for f in range(n_features):
            if not math.isnan(values[f]):
                first, second = cell_score(values[f], cells[type_, f])
                score[type_, 1 + 2 * f] += first
                score[type_, 2 + 2 * f] += second
    for u in range(n_types):
        score[u, 0] -= n_saccades * shares[u]
    return score.reshape(-1)


@kernel
def saccade_scores(
    types: Integers,
    values: Floats,
    cells: Floats,
    shares: Floats,
    weights: Floats,
    limit: float,
    value_scores: Floats,
    type_scores: Floats,
) -> None:
    """Add each saccade's scores to its own row: (n, types, features, entries), (n, types)."""
    for i in range(len(types)):
        if types[i] >= 0:
            add_value_scores(types[i], values[i], cells, limit, value_scores[i])
            add_type_scores(types[i], shares, weights, type_scores[i])


@kernel
def scanpath_statistics(types: Integers, values: Floats, statistics: Floats) -> None:
    """Add the saccades of a scanpath to the sufficient statistics of gamma densities.

    `statistics` is (types, 1 + 3·features): the number of saccades, then of each feature how
    many values, their sum and the sum of their logarithms.
    """
    for i in range(len(types)):
        u = types[i]
        if u < 0:
            continue
        statistics[u, 0] += 1
        for f in range(values.shape[1]):
            x = values[i, f]
            if not math.isnan(x):
                statistics[u, 1 + 3 * f] += 1
                statistics[u, 2 + 3 * f] += x
                statistics[u, 3 + 3 * f] += math.log(x)
