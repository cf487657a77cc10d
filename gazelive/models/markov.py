"""The Markov model of scanpaths and the one with saccade dynamics.

S. Makowski et al., "Discriminative viewer identification using generative models of eye gaze",
KES 2020, Sections 3.1 and 3.2, after N. Landwehr et al., "A model of individual differences in
gaze control during reading", EMNLP 2014. A saccade has a turn type u ~ Mult(π), and given the
type each of its features has a gamma density: amplitude and the duration of the fixation it
lands in; with dynamics also mean velocity, mean acceleration, the ratios of peak acceleration to
peak deceleration and the vigors, horizontally and vertically.

The model is an exponential family: log likelihood and Fisher score are linear in the sufficient
statistics of a scanpath (counts, sums and sums of logarithms by type and feature). The first
saccade has no type and contributes nothing; a masked value contributes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from gazelive.errors import ModelError
from gazelive.features import TURNS, Feature, FeatureSet, Scanpath
from gazelive.gaze import Floats
from gazelive.models import typed_density_kernels as kernels
from gazelive.models.gamma import fit_gamma

PRIOR_SACCADES = 1.0
"""Saccades of each type that a fit pretends to have seen, so that no type is impossible."""


def markov_features() -> FeatureSet:
    """Return amplitude and duration by turn type."""
    return FeatureSet(
        TURNS,
        [
            Feature(name="amplitude", a="amplitude_deg"),
            Feature(name="duration", a="next_fixation_s"),
        ],
    )


def markov_dynamics_features(vigor_rate_deg: float) -> FeatureSet:
    """Return the paper's eight features by turn type; `vigor_rate_deg` is b."""
    rate = (vigor_rate_deg,)
    return FeatureSet(
        TURNS,
        [
            *markov_features().features,
            Feature(name="mean velocity", a="mean_velocity_deg_s"),
            Feature(name="mean acceleration", a="mean_acceleration_deg_s2"),
            Feature(name="ratio x", a="ratio_x"),
            Feature(name="ratio y", a="ratio_y"),
            Feature(
                name="vigor x",
                a="peak_velocity_x_deg_s",
                b="dx_deg",
                operation="vigor",
                constants=rate,
            ),
            Feature(
                name="vigor y",
                a="peak_velocity_y_deg_s",
                b="dy_deg",
                operation="vigor",
                constants=rate,
            ),
        ],
    )


@dataclass(frozen=True, eq=False)
class MarkovModel:
    """Type shares, and a gamma density of each feature for each type."""

    features: FeatureSet
    shares: Floats
    """(types,): π, sums to 1."""
    shape: Floats
    scale: Floats
    """(types, features): α and β."""

    def __post_init__(self) -> None:
        expected = (self.features.n_types, len(self.features.features))
        if self.shape.shape != expected or self.scale.shape != expected:
            raise ModelError(f"gamma densities of {self.shape.shape} cells, not {expected}")

    @cached_property
    def _cells(self) -> Floats:
        return gradient_cells(self.shape, self.scale)

    def log_likelihood(self, scanpath: Scanpath) -> float:
        """Return ln p of the types and features of a scanpath's saccades."""
        return float(
            np.sum(self.natural_parameters() * scanpath_statistics(self.features, scanpath))
        )

    def natural_parameters(self) -> Floats:
        """Return what the statistics are multiplied with to give ln p, of the same shape."""
        n_types, n_features = self.shape.shape
        natural = np.empty((n_types, 1 + 3 * n_features))
        natural[:, 0] = np.log(self.shares)
        natural[:, 1::3] = -special.gammaln(self.shape) - self.shape * np.log(self.scale)
        natural[:, 2::3] = -1 / self.scale
        natural[:, 3::3] = self.shape - 1
        return natural

    def fisher_score(self, scanpath: Scanpath) -> Floats:
        """Return the gradient of ln p with respect to `parameters()`.

        By type: the softmax parameter of its share (K_u − T·π_u), then α and β of each feature.
        """
        return kernels.scanpath_score(
            scanpath.saccades,
            self.features.compiled_types,
            self.features.compiled,
            self._cells,
            self.shares,
        )

    def parameters(self) -> Floats:
        """Return by type: ln π, then α and β of each feature."""
        pairs = np.stack((self.shape, self.scale), axis=2).reshape(len(self.shares), -1)
        by_type: Floats = np.concatenate((np.log(self.shares)[:, None], pairs), axis=1)
        return by_type.reshape(-1)


def scanpath_statistics(features: FeatureSet, scanpath: Scanpath) -> Floats:
    """Return the sufficient statistics (types, 1 + 3·features) of a scanpath."""
    statistics = np.zeros((features.n_types, 1 + 3 * len(features.features)))
    kernels.scanpath_statistics(
        features.types(scanpath.saccades), features.values(scanpath.saccades), statistics
    )
    return statistics


def markov_of_statistics(
    features: FeatureSet,
    statistics: Floats,
    towards: MarkovModel | None = None,
    n_prior: float = 2.0,
) -> MarkovModel:
    """Return the maximum-likelihood model of summed statistics.

    `towards` adds `n_prior` values per cell that are distributed as that model says: without it
    a viewer without saccades of a type could not be fitted (nor, in the paper's model, identified).
    """
    n = statistics[:, 1::3].copy()
    total, total_log = statistics[:, 2::3].copy(), statistics[:, 3::3].copy()
    counts = statistics[:, 0] + PRIOR_SACCADES * (0.25 if towards is None else towards.shares * 4)
    if towards is not None:
        n += n_prior
        total += n_prior * towards.shape * towards.scale
        total_log += n_prior * (special.digamma(towards.shape) + np.log(towards.scale))
    if not n.any():
        raise ModelError("no saccade with a type and a feature: there is nothing to fit")
    pooled = n.sum(axis=0), total.sum(axis=0), total_log.sum(axis=0)
    empty = n < 2  # one value has no spread: such a cell takes what all types say
    for own, of_all in zip((n, total, total_log), pooled, strict=True):
        own[empty] = np.broadcast_to(of_all, own.shape)[empty]
    nothing = n == 0  # a feature that nobody has (dynamics of a fixation table)
    n[nothing], total[nothing], total_log[nothing] = 1, 1, -1
    shape, scale = fit_gamma(total / n, total_log / n)
    return MarkovModel(features, counts / counts.sum(), shape, scale)


def gradient_cells(shape: Floats, scale: Floats) -> Floats:
    """Return cells whose score is the gradient with respect to α and β, nothing clipped."""
    cells = np.zeros((*shape.shape, kernels.N_CELL))
    cells[..., kernels.FAMILY] = kernels.GAMMA
    cells[..., kernels.CENTRE] = special.digamma(shape) + np.log(scale)
    cells[..., kernels.INVERSE], cells[..., kernels.SHAPE] = 1 / scale, shape
    cells[..., kernels.M00], cells[..., kernels.M11] = 1, 1 / scale
    cells[..., kernels.LOWEST], cells[..., kernels.HIGHEST] = -np.inf, np.inf
    return cells
