"""Summed scores of a window of saccades, and their tempering."""

from __future__ import annotations

import math

from gazelive.features import Features, TypeCode, row_type, row_values
from gazelive.gaze import Floats, SingleFloats
from gazelive.models import add_type_scores, add_value_scores
from gazelive.system import kernel


@kernel
def add_row_score(
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
) -> None:
    """Add a saccade's score to (types, features, entries) and (types,); `values` is scratch."""
    type_ = row_type(row, types[0], types[1], types[2])
    if type_ < 0:
        return
    row_values(row, features[0], features[1], features[2], features[3], values)
    add_value_scores(type_, values, cells, limit, value_score)
    add_type_scores(type_, shares, share_weights, type_score)


@kernel
def tempered(score: Floats, n_saccades: int, mean: Floats, out: SingleFloats) -> None:
    """Write the signed square root of the mean score per saccade, minus `mean`."""
    for i in range(len(score)):
        x = score[i] / n_saccades
        root = math.sqrt(abs(x))
        out[i] = (root if x >= 0 else -root) - mean[i]
