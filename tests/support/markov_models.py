"""Markov models for tests: fitted to scanpaths, moved in their parameters, drawn from."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import special

from gazelive.features.feature_set import FeatureSet
from gazelive.features.scanpath import N_COLUMNS, Column, Scanpath
from gazelive.gaze.arrays import Floats
from gazelive.models.markov import MarkovModel, markov_of_statistics, scanpath_statistics


def fit_markov(features: FeatureSet, scanpaths: Iterable[Scanpath]) -> MarkovModel:
    """Return the maximum-likelihood model of scanpaths."""
    total = sum(
        (scanpath_statistics(features, scanpath) for scanpath in scanpaths),
        np.zeros((features.n_types, 1 + 3 * len(features.features))),
    )
    return markov_of_statistics(features, total)


def with_parameters(model: MarkovModel, parameters: Floats) -> MarkovModel:
    """Return the model at other parameters; the ln π may have any offset (softmax)."""
    n_types, n_features = model.shape.shape
    table = np.asarray(parameters, np.float64).reshape(n_types, 1 + 2 * n_features)
    shares = special.softmax(table[:, 0])
    return MarkovModel(model.features, shares, table[:, 1::2].copy(), table[:, 2::2].copy())


def sample(model: MarkovModel, n_saccades: int, rng: np.random.Generator) -> Scanpath:
    """Draw the types and features of a scanpath: columns that are no features stay masked.

    Features that are made of several columns (vigor) are drawn for a displacement of 10°.
    """
    rows = np.full((n_saccades, N_COLUMNS), np.nan, np.float32)
    types = rng.choice(len(model.shares), n_saccades, p=model.shares)
    rows[:, Column.TURN] = types
    rows[:, Column.ORDINAL] = np.arange(n_saccades)
    values = rng.gamma(model.shape[types], model.scale[types])
    for f, feature in enumerate(model.features.features):
        drawn = values[:, f]
        if feature.operation == "vigor":
            rows[:, model.features.b_columns[f]] = 10.0
            drawn = drawn * -np.expm1(-10.0 / feature.constants[0])
        rows[:, model.features.a_columns[f]] = drawn
    return Scanpath(rows, np.empty((0, 3)), 0.0)
