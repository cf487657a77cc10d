"""Fisher scores of saccades: gradients of pooled densities by their parameters.

A `Block` is a feature set with a density for each of its cells (`typed_density_kernels`); a
`Representation` is one or several blocks side by side. The score of several saccades is the sum of
theirs, so it can be updated saccade by saccade.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from gazelive.errors import ModelFormatError
from gazelive.features import FeatureSet, Rows, Scanpath
from gazelive.gaze import Flags, Floats, Integers
from gazelive.identification.fitted import Accuracy, accuracy_by_images, accuracy_of_units
from gazelive.identification.training_data import TrainingSet
from gazelive.identification.units import shares_saccades, unit_windows
from gazelive.models import (
    FAMILY,
    LARGEST,
    NONE,
    MarkovModel,
    StoredArrays,
    fit_gamma,
    gradient_cells,
    typed_density_kernels as kernels,
)

MIN_VALUES = 50
"""A cell with fewer values has no density and score 0."""
CLIPPED_SD = 5.0
"""Values are clipped at this many robust SD from the median (of the logarithm)."""
_ROBUST_SD = 1.4826
LARGEST_LOGARITHM = 100.0
"""Size of the logarithm of any value of a scanpath."""
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Block:
    """Densities of the features of one feature set."""

    features: FeatureSet
    cells: Floats
    """(types, features, N_CELL)"""
    shares: Floats
    """(types,): frequencies, sum to 1."""
    share_weights: Floats
    """(types,): factor on the gradient by a share."""
    limit: float = np.inf
    """Largest size of an entry of one value's score."""
    entries: int = 2
    """Entries used of each value's score: both, or only the first (location, not width)."""

    @property
    def n_dimensions(self) -> int:
        """Length of the score: the entries of each cell, and one per type."""
        return self.features.n_types * (self.entries * len(self.features.features) + 1)

    @property
    def type_name(self) -> str:
        """Name of the entries of the shares, such as `frequency of turn`."""
        rule = self.features.type_rule
        name = rule.kind if rule.column is None else rule.column
        return f"frequency of {name.removesuffix('_deg').removesuffix('_s')}".replace("_", " ")

    def dimension_names(self) -> list[str]:
        """Return the feature of each entry of the score."""
        features = self.features
        names = [f.name for f in features.features for _ in range(self.entries)]
        return names * features.n_types + [self.type_name] * features.n_types

    def row_scores(self, rows: Rows) -> Floats:
        """Return the score of each saccade alone, shape (n, dimensions).

        First the (types, features, entries) of values, then the (types,) of frequencies.
        """
        n_types, n_features, _ = self.cells.shape
        of_values = np.zeros((len(rows), n_types, n_features, self.entries))
        of_types = np.zeros((len(rows), n_types))
        kernels.saccade_scores(
            self.features.types(rows),
            self.features.values(rows),
            self.cells,
            self.shares,
            self.share_weights,
            self.limit,
            of_values,
            of_types,
        )
        n_values = n_types * n_features * self.entries
        return np.concatenate((of_values.reshape(len(rows), n_values), of_types), axis=1)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything but the feature set."""
        return {
            "cells": self.cells,
            "shares": self.shares,
            "share_weights": self.share_weights,
            "limit": np.array(self.limit),
            "entries": np.array(self.entries),
        }

    @classmethod
    def from_arrays(cls, features: FeatureSet, arrays: StoredArrays, prefix: str = "") -> Block:
        """Return the block of `to_arrays`."""
        n_types, n_features = features.n_types, len(features.features)
        shape = n_types, n_features, kernels.N_CELL
        cells = arrays.take(f"{prefix}cells", *shape, least=-np.inf, most=np.inf)
        if not (np.abs(cells[..., : kernels.LOWEST]) <= LARGEST).all():
            raise ModelFormatError("a density has numbers that are not finite")
        family, lowest, highest = (cells[..., k] for k in (FAMILY, kernels.LOWEST, kernels.HIGHEST))
        of_logarithms = (family == kernels.GAMMA) | (family == kernels.LOG_GAUSSIAN)
        if not (of_logarithms | (family == NONE) | (family == kernels.GAUSSIAN)).all():
            raise ModelFormatError("a density is of no family")
        if (of_logarithms & ~features.positive).any():
            raise ModelFormatError("a feature that can be negative has a density of its logarithm")
        reach = np.where(of_logarithms, LARGEST_LOGARITHM, LARGEST)
        if not ((lowest <= highest) & (lowest <= reach) & (highest >= -reach)).all():
            raise ModelFormatError("a density has limits that no value is within")
        return cls(
            features,
            cells,
            arrays.take(f"{prefix}shares", n_types, least=0, most=1),
            arrays.take(f"{prefix}share_weights", n_types),
            float(arrays.take(f"{prefix}limit", least=0, most=np.inf)),
            int(arrays.take(f"{prefix}entries", least=1, most=2, whole=True)),
        )


@dataclass(frozen=True, eq=False)
class Representation:
    """Blocks side by side."""

    blocks: tuple[Block, ...]

    @cached_property
    def borders(self) -> list[int]:
        """Start of each block's part of the score, and the end of the last."""
        return [0, *np.cumsum([block.n_dimensions for block in self.blocks]).tolist()]

    @property
    def n_dimensions(self) -> int:
        """Length of the score."""
        return int(self.borders[-1])

    def row_scores(self, rows: Rows) -> Floats:
        """Return the score of each saccade alone, shape (n, dimensions)."""
        return np.concatenate([block.row_scores(rows) for block in self.blocks], axis=1)

    def unit_scores(self, scanpath: Scanpath) -> tuple[Floats, Integers]:
        """Return the summed score of each unit and its number of saccades."""
        windows = unit_windows(scanpath.n_saccades)
        scores = self.row_scores(scanpath.saccades)
        summed = np.zeros((len(windows), self.n_dimensions))
        for out, (first, stop) in zip(summed, windows, strict=True):
            scores[first:stop].sum(axis=0, out=out)
        return summed, np.array([stop - first for first, stop in windows], np.int64)

    def to_json(self) -> list[dict[str, object]]:
        """Return the feature sets."""
        return [block.features.to_json() for block in self.blocks]

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of all blocks."""
        return {
            f"block{number}_{name}": array
            for number, block in enumerate(self.blocks)
            for name, array in block.to_arrays().items()
        }

    @classmethod
    def from_file(
        cls, content: Sequence[dict[str, object]], arrays: StoredArrays
    ) -> Representation:
        """Return the representation of `to_json` and `to_arrays`."""
        return cls(
            tuple(
                Block.from_arrays(FeatureSet.from_json(features), arrays, f"block{number}_")
                for number, features in enumerate(content)
            )
        )


@dataclass(frozen=True, eq=False)
class TrainingUnits:
    """The units of all scanpaths, one after the other."""

    scores: Floats
    """(units, dimensions)"""
    n_saccades: Integers
    viewers: Integers
    scanpaths: Integers
    folds: Integers
    """(units,) each."""

    def log_prior(self, n_viewers: int) -> Floats:
        """Return ln of each viewer's share of the units."""
        return log_shares(self.viewers, n_viewers)

    @property
    def usual_saccades(self) -> float:
        """Mean number of saccades of a unit."""
        return float(self.n_saccades.mean())

    def accuracy(self, evidence: Floats, held_out: Flags) -> Accuracy | None:
        """Return how often cross-validated evidence (units, viewers) is for the right viewer."""
        judged = held_out & ~shares_saccades(self.scanpaths, self.folds)
        return accuracy_of_units(evidence, self.viewers, self.scanpaths, self.folds, judged)

    def accuracy_by_images(self, evidence: Floats, held_out: Flags) -> dict[str, Accuracy]:
        """Return the same for several images together."""
        return accuracy_by_images(evidence, self.viewers, self.scanpaths, self.folds, held_out)


def training_units(training: TrainingSet, representation: Representation) -> TrainingUnits:
    """Return the units of a training set."""
    scores, n_saccades, where = scanpath_units(training.scanpaths, representation)
    return TrainingUnits(scores, n_saccades, training.viewers[where], where, training.folds(where))


def scanpath_units(
    scanpaths: Sequence[Scanpath], representation: Representation
) -> tuple[Floats, Integers, Integers]:
    """Return the summed scores of all units, their numbers of saccades and their scanpaths."""
    made = [representation.unit_scores(path) for path in scanpaths]
    counts = np.array([len(n) for _, n in made], np.int64)
    return (
        np.concatenate([scores for scores, _ in made]),
        np.concatenate([n for _, n in made]),
        np.repeat(np.arange(len(made)), counts),
    )


def log_shares(viewers: Integers, n_viewers: int) -> Floats:
    """Return ln of each viewer's share of the units; half a unit for a viewer without any."""
    counts = np.bincount(viewers, minlength=n_viewers)
    return np.asarray(np.log(np.maximum(counts, 0.5) / counts.sum()), np.float64)


def gradient_block(model: MarkovModel) -> Block:
    """Return the block whose score is exactly the model's gradient (in another order)."""
    return Block(
        model.features,
        gradient_cells(model.shape, model.scale),
        model.shares,
        np.ones(len(model.shares)),
    )


Family = Literal["gamma", "log-gaussian"]
"""Densities of values above 0; signed ones always have a Gaussian."""


def robust_block(
    features: FeatureSet,
    rows: Rows,
    *,
    family: Family = "gamma",
    entries: int = 2,
    frequencies: bool = True,
    clipped_sd: float = CLIPPED_SD,
    min_values: int = MIN_VALUES,
) -> Block:
    """Fit robust densities to rows; each cell's entries are whitened by its information.

    Values are clipped at `clipped_sd`: no single saccade decides. Cells with fewer than
    `min_values` have score 0; so have, without `frequencies`, the types themselves.
    """
    types, values = features.types(rows), features.values(rows)
    n_types, n_features = features.n_types, len(features.features)
    cells = np.zeros((n_types, n_features, kernels.N_CELL))
    for f in range(n_features):
        known = np.isfinite(values[:, f])
        for u in range(n_types):
            x = values[known & (types == u), f]
            if len(x) >= min_values:
                gaussian = bool(features.signed[f]) or family != "gamma"
                make = _gaussian_cell if gaussian else _gamma_cell
                cells[u, f] = make(x, bool(features.signed[f]), clipped_sd)
    counts = np.bincount(types[types >= 0], minlength=n_types) + 0.5
    shares = counts / counts.sum()
    weights = 1 / np.sqrt(shares) if frequencies else np.zeros(n_types)
    return Block(features, cells, shares, weights, kernels.LARGEST_SCORE, entries)


def _clipped_cell(x: Floats, signed: bool, clipped_sd: float) -> tuple[Floats, Floats]:
    """Return a cell with its limits, and the clipped values (their logarithms)."""
    cell = np.zeros(kernels.N_CELL)
    on_scale = x if signed else np.log(x)
    middle = float(np.median(on_scale))
    reach = clipped_sd * (_ROBUST_SD * float(np.median(np.abs(on_scale - middle))) + _TINY)
    cell[kernels.LOWEST], cell[kernels.HIGHEST] = middle - reach, middle + reach
    return cell, np.clip(on_scale, middle - reach, middle + reach)


def _gaussian_cell(x: Floats, signed: bool, clipped_sd: float) -> Floats:
    cell, clipped = _clipped_cell(x, signed, clipped_sd)
    cell[kernels.FAMILY] = kernels.GAUSSIAN if signed else kernels.LOG_GAUSSIAN
    cell[kernels.CENTRE], cell[kernels.INVERSE] = clipped.mean(), 1 / (clipped.std() + _TINY)
    cell[kernels.M00], cell[kernels.M11] = 1, np.sqrt(0.5)
    return cell


def _gamma_cell(x: Floats, signed: bool, clipped_sd: float) -> Floats:
    cell, clipped = _clipped_cell(x, signed, clipped_sd)
    shape, scale = (float(v) for v in fit_gamma(np.exp(clipped).mean(), clipped.mean()))
    cell[kernels.FAMILY] = kernels.GAMMA
    cell[kernels.CENTRE] = special.digamma(shape) + np.log(scale)
    cell[kernels.INVERSE], cell[kernels.SHAPE] = 1 / scale, shape
    # the information of (ln x, x/β) is [[ψ'(α), 1], [1, α]]
    information = np.array([[float(special.polygamma(1, shape)), 1.0], [1.0, shape]])
    inverse = np.linalg.inv(np.linalg.cholesky(information))
    cell[kernels.M00], cell[kernels.M10] = inverse[0, 0], inverse[1, 0]
    cell[kernels.M11] = inverse[1, 1]
    return cell
