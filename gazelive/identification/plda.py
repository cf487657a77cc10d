"""How much better a viewer explains some scores than a stranger does: two-covariance PLDA.

S. Ioffe, "Probabilistic linear discriminant analysis", ECCV 2006, in the form where a person's
mean is drawn from one Gaussian and each unit's score from another around it. The ratio compares
the posterior of a viewer's mean with that of somebody drawn anew from the population.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.identification.machines import spread_of
from gazelive.identification.open_set import MatchThreshold, no_threshold, threshold_of_matches

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

WITHIN_SHRINKAGE = 0.1
BETWEEN_SHRINKAGE = 0.5
FEWEST_VIEWERS = 3
AMOUNTS = (1, 2, 5, 10, 20, 50, 100)
"""Numbers of units at which strangers are looked at."""
MOST_STRANGERS = 40
DRAWS = 100
TAIL = 1.15
"""How much heavier than a normal one the upper tail of strangers' best ratios is."""


@dataclass(frozen=True, eq=False)
class Plda:
    """The population, and what is known of each viewer's mean, in a space where both are simple."""

    projection: Floats
    """(dimensions, dimensions): after it, scores vary by 1 around a person's mean."""
    offset: Floats
    between: Floats
    """(dimensions,): variances of people's means."""
    means: Floats
    """(viewers, dimensions): posterior means of the viewers' means …"""
    variances: Floats
    """(viewers, dimensions): … and their variances."""

    def log_ratio(self, mean_score: Floats, n_units: float, viewer: int) -> float:
        """Return ln p(scores | viewer) − ln p(scores | somebody) for the mean score of units."""
        z = mean_score @ self.projection + self.offset
        own, anyone = self.variances[viewer] + 1 / n_units, self.between + 1 / n_units
        return float(
            0.5 * np.sum(z * z / anyone - (z - self.means[viewer]) ** 2 / own)
            + 0.5 * np.sum(np.log(anyone) - np.log(own))
        )

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what a file keeps."""
        return {
            "plda_projection": self.projection,
            "plda_offset": self.offset,
            "plda_between": self.between,
            "plda_means": self.means,
            "plda_variances": self.variances,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Plda:
        """Return what was kept."""
        names = ("projection", "offset", "between", "means", "variances")
        return cls(*(arrays[f"plda_{name}"] for name in names))

    def viewer_of_scores(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the posterior mean and variance of the mean of a new viewer's units."""
        n = len(scores)
        z = scores.mean(axis=0) @ self.projection + self.offset
        return z * (self.between / (self.between + 1 / n)), self.between / (1 + n * self.between)


def fit_plda(scores: Floats, viewers: Integers, n_viewers: int) -> Plda:
    """Fit to the scores (units, dimensions) of at least `FEWEST_VIEWERS` viewers."""
    centre, scale = scores.mean(axis=0), spread_of(scores)
    scaled = (scores - centre) / scale
    counts = np.maximum(np.bincount(viewers, minlength=n_viewers), 1)
    means = np.zeros((n_viewers, scores.shape[1]))
    np.add.at(means, viewers, scaled)
    means /= counts[:, None]
    residual = scaled - means[viewers]
    within = residual.T @ residual / max(len(scores) - n_viewers, 1)
    size = np.trace(within) / len(within)
    within = (1 - WITHIN_SHRINKAGE) * within + WITHIN_SHRINKAGE * size * np.eye(len(within))
    values, vectors = np.linalg.eigh(within)
    to_unit = vectors / np.sqrt(np.maximum(values, 1e-12))
    means = means @ to_unit
    middle = means.mean(axis=0)
    spread = (means - middle).T @ (means - middle) / max(n_viewers - 1, 1)
    spread -= np.eye(len(spread)) * float(np.mean(1 / counts))
    values, vectors = np.linalg.eigh(spread)
    values = np.maximum(values, 0)
    between = (1 - BETWEEN_SHRINKAGE) * (vectors * values) @ vectors.T
    between += BETWEEN_SHRINKAGE * values.sum() / len(values) * np.eye(len(values))
    values, vectors = np.linalg.eigh(between)
    values = np.maximum(values, 1e-9)
    projection = to_unit @ vectors / scale[:, None]
    own = (means - middle) @ vectors
    n = counts[:, None]
    return Plda(
        projection,
        -centre @ projection - middle @ vectors,
        values,
        own * (values / (values + 1 / n)),
        values / (1 + n * values),
    )


def strangers_threshold(
    scores: Floats, viewers: Integers, n_viewers: int, false_acceptance_rate: float, seed: int = 0
) -> MatchThreshold:
    """Return how well the best of the others fits a viewer who was left out.

    A ratio below 0 says that somebody else would explain the scores better, and how far below does
    not matter: so strangers who are like nobody do not widen the spread of those who are like
    somebody. If the model were right, a share of at most exp(−t) of the strangers would have a
    ratio above t with a viewer: the threshold is no lower than what that asks for.
    """
    if n_viewers <= FEWEST_VIEWERS:
        return no_threshold(f"{n_viewers} viewers are too few to know what strangers are like")
    rng = np.random.default_rng(seed)
    matches: dict[float, list[float]] = {}
    left_out = rng.permutation(n_viewers)[:MOST_STRANGERS]
    for stranger in left_out:
        others = viewers != stranger
        codes = np.searchsorted(np.delete(np.arange(n_viewers), stranger), viewers[others])
        model = fit_plda(scores[others], codes, n_viewers - 1)
        own = scores[~others]
        for amount in AMOUNTS:
            if amount > len(own):
                break
            drawn = [
                own[rng.choice(len(own), amount, replace=False)].mean(axis=0)
                for _ in range(max(1, DRAWS // 2 if amount > 1 else min(DRAWS, len(own))))
            ]
            matches.setdefault(float(amount), []).extend(
                best_matches(model, np.array(drawn), amount)
            )
    return threshold_of_matches(
        {amount: np.maximum(values, 0.0) for amount, values in matches.items()},
        false_acceptance_rate,
        f"each of {len(left_out)} viewers left out in turn",
        tail=TAIL,
        least_threshold=-float(np.log(false_acceptance_rate)),
        least_spread=1.0,
    )


def best_matches(model: Plda, mean_scores: Floats, n_units: float) -> list[float]:
    """Return the largest log ratio that any viewer has for each of several probes."""
    z = mean_scores @ model.projection + model.offset
    anyone = model.between + 1 / n_units
    population = 0.5 * np.sum(z * z / anyone + np.log(anyone), axis=1)
    own = model.variances + 1 / n_units
    distance = (
        (z * z) @ (1 / own).T
        - 2 * z @ (model.means / own).T
        + np.sum(model.means**2 / own + np.log(own), axis=1)
    )
    best: list[float] = (population - 0.5 * distance.min(axis=1)).tolist()
    return best
