"""Conditional logit: fusion of the distances between a probe and each enrolled viewer.

ln p(viewer e | probe) = −Σ_k w_k (x_ek − u_k) − logsumexp over viewers, with w ≥ 0. All viewers
share the weights, so a viewer can be enrolled without training (D. McFadden, "Conditional logit
analysis of qualitative choice behavior", 1974). u_k is the usual distance: one that is missing
counts as usual and says nothing.

Weights are fitted on pairs of the enrolment: parts of a viewer's data against everybody's profile
without these parts. The distance of a large sample is less noisy than that of a small one, so each
size of the probe has weights of its own; between sizes they are linear in the logarithm.

Across sessions a few people change so much that their probes look like anybody's. The likelihood
is therefore a mixture, (1 − ε)·exp(τ·score) + ε·exp(background). The background is what a random
other person would score; it is predicted from the score of the population's profile, so it does
not depend on who is enrolled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special
from scipy.optimize import minimize, minimize_scalar

from gazelive.errors import ModelFormatError
from gazelive.gaze import Floats, Integers
from gazelive.identification.calibration import evidence_scale
from gazelive.identification.contract import Arrays
from gazelive.models import StoredArrays

SCALE_SD = 1.5
"""Prior standard deviation of the logarithm of the common factor; it counts as one pair."""
LOG_FACTORS = (-5.0, 5.0)
LARGEST_FALL = 1.0
"""Largest slope of the background over the population's score."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distances of probes of one size to each viewer and to the population's profile."""

    distances: Floats
    """(probes, viewers, parts); NaN where one of the two has no value."""
    of_population: Floats
    """(probes, parts)"""
    owners: Integers
    """(probes,): position of each probe's own viewer."""
    folds: Integers
    """(probes,): the part of the data that each probe was taken from."""

    def of(self, chosen: Integers) -> Pairs:
        """Return some of the probes."""
        return Pairs(
            self.distances[chosen],
            self.of_population[chosen],
            self.owners[chosen],
            self.folds[chosen],
        )


@dataclass(frozen=True, eq=False)
class Weights:
    """Conditional logit for one size of the probe."""

    weights: Floats
    """(parts,): per unit of distance."""
    usual: Floats
    """(parts,): mean distance."""
    background: Floats
    """(2,): intercept and slope of a random viewer's likelihood over the population's score."""

    def parts(self, distances: Floats) -> Floats:
        """Return what each distance (…, parts) adds to the score; 0 where it is missing."""
        return self._less(distances) * self.weights

    def scores(self, distances: Floats) -> Floats:
        """Return the scores of distances (…, parts)."""
        return np.asarray(self._less(distances) @ self.weights, np.float64)

    def background_score(self, of_population: Floats) -> Floats:
        """Return the logarithm of the mean likelihood of other people (…,)."""
        intercept, slope = self.background
        return np.asarray(intercept + slope * self.scores(of_population), np.float64)

    def _less(self, distances: Floats) -> Floats:
        """Return by how much distances are less than usual; 0 where they are missing."""
        less = self.usual - distances
        less[np.isnan(less)] = 0.0
        return np.asarray(less, np.float64)


@dataclass(frozen=True, eq=False)
class Fusion:
    """Conditional logits for several sizes of the probe, and the mixture across sessions."""

    sizes: Floats
    """(sizes,): in units (images or windows), ascending."""
    weights: Floats
    usual: Floats
    """(sizes, parts)"""
    background: Floats
    """(sizes, 2)"""
    temperature: float = 1.0
    """τ"""
    floor: float = 0.0
    """ε"""

    @classmethod
    def of(cls, sizes: Floats, fitted: list[Weights]) -> Fusion:
        """Return the fusion of logits for each size."""
        return cls(
            np.asarray(sizes, np.float64),
            np.array([own.weights for own in fitted]),
            np.array([own.usual for own in fitted]),
            np.array([own.background for own in fitted]),
        )

    def at(self, size: float) -> Weights:
        """Return the logit for a size: linear in its logarithm, constant outside."""
        last = len(self.sizes) - 1
        place = float(np.interp(np.log(size), self._log_sizes, range(last + 1)))
        below = min(int(place), last)
        above, share = min(below + 1, last), place - below

        def between(values: Floats) -> Floats:
            return np.asarray((1 - share) * values[below] + share * values[above], np.float64)

        return Weights(between(self.weights), between(self.usual), between(self.background))

    @cached_property
    def _log_sizes(self) -> Floats:
        return np.log(self.sizes)

    def grown(self, start: Fusion) -> Fusion:
        """Return the fusion with the larger sizes of another one, without its mixture.

        There, weights exceed those of the largest own size by the factor by which those of `start`
        do.
        """
        last = self.at(self.sizes[-1])
        unit = max(float(start.at(self.sizes[-1]).weights.sum()), 1e-9)
        further = start.sizes[start.sizes > self.sizes[-1]]
        factors = [float(start.at(size).weights.sum()) / unit for size in further]
        added = [
            Weights(factor * last.weights, last.usual, last.background * np.array([factor, 1.0]))
            for factor in factors
        ]
        own = [self.at(size) for size in self.sizes]
        return Fusion.of(np.concatenate((self.sizes, further)), own + added)

    def across_sessions(self, correlation: float) -> Fusion:
        """Return the fusion for probes of other sessions than those of its pairs.

        Units of one session share what is peculiar to it: many of them count as fewer.
        """
        scales = np.array([[evidence_scale(size, correlation)] for size in self.sizes])
        intercepts_only = np.hstack((scales, np.ones_like(scales)))
        return replace(
            self, weights=self.weights * scales, background=self.background * intercepts_only
        )

    def select(self, parts: Integers) -> Fusion:
        """Return the fusion of some of the distances."""
        return replace(self, weights=self.weights[:, parts], usual=self.usual[:, parts])

    def evidence(self, scores: Floats, background: float) -> Floats:
        """Return the log likelihood of each viewer (viewers,) from their scores."""
        own = self.temperature * scores
        if not self.floor:
            return own
        anybody = np.log(self.floor) + self.temperature * background
        return np.asarray(np.logaddexp(np.log1p(-self.floor) + own, anybody), np.float64)

    def to_arrays(self) -> Arrays:
        """Return the arrays of a state."""
        return {
            "fusion_sizes": self.sizes,
            "fusion_weights": self.weights,
            "fusion_usual": self.usual,
            "fusion_background": self.background,
            "fusion_mixture": np.array([self.temperature, self.floor]),
        }

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, n_parts: int) -> Fusion:
        """Return the fusion of a state, of so many distances."""
        sizes = arrays.take("fusion_sizes", "sizes", least=1e-9)
        if not len(sizes) or (np.diff(sizes) <= 0).any():
            raise ModelFormatError("the sizes of a fusion do not ascend")
        temperature, floor = arrays.take("fusion_mixture", 2, least=0).tolist()
        if floor >= 1:
            raise ModelFormatError("the share of a mixture is below 1")
        return cls(
            sizes,
            arrays.take("fusion_weights", "sizes", n_parts, least=0),
            arrays.take("fusion_usual", "sizes", n_parts, least=0),
            arrays.take("fusion_background", "sizes", 2),
            temperature,
            floor,
        )


def fit_weights(pairs: Pairs, centre: Floats, strength: float | None) -> Weights:
    """Fit the logit of one size.

    First one common factor of the weights `centre` (parts,) is fitted, then all weights with a
    ridge of `strength` (1 is a Gaussian prior as wide as the mean weight) around them, then one
    factor again, because the ridge shrinks the scale. Without a strength the centre's proportions
    stay.
    """
    present = np.isfinite(pairs.distances)
    counts = np.maximum(present.sum(axis=(0, 1)), 1)
    usual = np.nansum(pairs.distances, axis=(0, 1)) / counts
    centred = np.nan_to_num(pairs.distances - usual)
    varying = centred - centred.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.mean(varying**2, axis=(0, 1))) + 1e-9
    n_probes, n_viewers, n_parts = centred.shape
    flat = (centred / scale).reshape(-1, n_parts)
    known = present.any(axis=2)
    rows = np.arange(n_probes)
    own = np.zeros((n_probes, n_viewers))
    own[rows, pairs.owners] = 1

    def loss(weights: Floats) -> tuple[float, Floats]:
        """Return the mean of −ln p(own viewer) and its gradient."""
        scores = np.where(known, -(flat @ weights).reshape(n_probes, n_viewers), -np.inf)
        logs = special.log_softmax(scores, axis=1)
        slope = (own - np.exp(logs)).ravel() @ flat / n_probes
        return -float(logs[rows, pairs.owners].mean()), slope

    def fit_factor(weights: Floats) -> Floats:
        along = (flat @ weights).reshape(n_probes, n_viewers)

        def penalised(log_factor: float) -> float:
            scores = np.where(known, -np.exp(log_factor) * along, -np.inf)
            logs = special.log_softmax(scores, axis=1)[rows, pairs.owners]
            prior = 0.5 * (log_factor / SCALE_SD) ** 2
            return float(prior / n_probes - logs.mean())

        found = minimize_scalar(penalised, bounds=LOG_FACTORS, method="bounded").x
        return np.asarray(weights * np.exp(found), np.float64)

    middle = fit_factor(centre * scale)
    fitted = middle
    if strength is not None:
        width = max(float(middle.mean()), 1e-9)

        def penalised_loss(weights: Floats) -> tuple[float, Floats]:
            value, slope = loss(weights)
            away = (weights - middle) / width
            ridge = strength / n_probes
            return value + ridge * float(away @ away), slope + 2 * ridge * away / width

        bounds = [(0.0, None)] * n_parts
        found = minimize(penalised_loss, middle, jac=True, method="L-BFGS-B", bounds=bounds).x
        fitted = fit_factor(found)
    weights = Weights(fitted / scale, usual, np.array([0.0, 0.0]))
    return replace(weights, background=_fit_background(weights, pairs))


def _fit_background(weights: Weights, pairs: Pairs) -> Floats:
    """Return the line of other viewers' mean likelihood (ln) over the population's score."""
    scores = weights.scores(pairs.distances)
    others = np.asarray(np.isfinite(pairs.distances).any(axis=2), np.bool_)
    others[np.arange(len(scores)), pairs.owners] = False
    enough = others.any(axis=1)
    if not enough.any():
        return np.zeros(2)
    of_others = special.logsumexp(np.where(others, scores, -np.inf)[enough], axis=1)
    mean = of_others - np.log(others[enough].sum(axis=1))
    at = weights.scores(pairs.of_population)[enough]
    spread = float(at.var())
    slope = float(np.mean((at - at.mean()) * (mean - mean.mean()))) / spread if spread else 0.0
    slope = min(max(slope, 0.0), LARGEST_FALL)
    return np.array([float(mean.mean()) - slope * float(at.mean()), slope])


def held_out_scores(pairs: Pairs, centre: Floats, strength: float | None) -> Floats:
    """Return scores (probes, viewers) by weights fitted to the other folds; −inf if unknown."""
    scores = np.zeros(pairs.distances.shape[:2])
    for fold in np.unique(pairs.folds):
        out = pairs.folds == fold
        rest = pairs if out.all() else pairs.of(np.flatnonzero(~out))
        scores[out] = fit_weights(rest, centre, strength).scores(pairs.distances[out])
    return np.where(np.isfinite(pairs.distances).any(axis=2), scores, -np.inf)


def mean_loss(scores: Floats, owners: Integers) -> float:
    """Return the mean of −ln p(own viewer)."""
    logs = special.log_softmax(scores, axis=1)
    return -float(logs[np.arange(len(owners)), owners].mean())
