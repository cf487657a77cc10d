"""Two-covariance PLDA: how much better a viewer explains some scores than a stranger does.

S. Ioffe, "Probabilistic linear discriminant analysis", ECCV 2006, in the form where a person's
mean is drawn from one Gaussian and each unit's score from another around it. The ratio compares
the posterior of a viewer's mean with that of a new person from the population.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazelive.gaze import Floats, Integers
from gazelive.identification.contract import Arrays, Match
from gazelive.identification.learning import spread_of
from gazelive.identification.open_set import (
    Genuine,
    Strangers,
    no_strangers,
    strangers_of_matches,
)
from gazelive.models import StoredArrays
from gazelive.verdict import FEWEST_VIEWERS

WITHIN_SHRINKAGE = 0.1
BETWEEN_SHRINKAGE = 0.5
AMOUNTS = (1, 2, 5, 10, 20, 50, 100)
"""Numbers of units at which impostors are compared."""
MOST_STRANGERS = 40
DRAWS = 100
LEAST_SPREAD = 1.0
"""Of impostors' best ratios."""
VIEWER_AXIS = {"plda_means": 0, "plda_variances": 0}


@dataclass(frozen=True, eq=False)
class Plda:
    """The population and the posterior of each viewer's mean, where both are diagonal."""

    projection: Floats
    """(dimensions, dimensions): to scores with unit variance around a person's mean."""
    offset: Floats
    between: Floats
    """(dimensions,): variances of people's means."""
    means: Floats
    """(viewers, dimensions): posterior means of the viewers' means …"""
    variances: Floats
    """(viewers, dimensions): … and their variances."""

    def log_ratio(self, mean_score: Floats, n_units: float, viewer: int) -> float:
        """Return ln p(scores | viewer) − ln p(scores | a stranger) for the mean score of units."""
        z = mean_score @ self.projection + self.offset
        own, anyone = self.variances[viewer] + 1 / n_units, self.between + 1 / n_units
        return float(
            0.5 * np.sum(z * z / anyone - (z - self.means[viewer]) ** 2 / own)
            + 0.5 * np.sum(np.log(anyone) - np.log(own))
        )

    def to_arrays(self) -> Arrays:
        """Return the arrays of a state (`VIEWER_AXIS`)."""
        return {
            "plda_projection": self.projection,
            "plda_offset": self.offset,
            "plda_between": self.between,
            "plda_means": self.means,
            "plda_variances": self.variances,
        }

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, n_dimensions: int) -> Plda | None:
        """Return the model of such scores in a state; None if there is none."""
        if "plda_means" not in arrays:
            return None
        return cls(
            arrays.take("plda_projection", n_dimensions, "plda"),
            arrays.take("plda_offset", "plda"),
            arrays.take("plda_between", "plda", least=0),
            arrays.take("plda_means", "viewers", "plda"),
            arrays.take("plda_variances", "viewers", "plda", least=0),
        )

    def viewer_arrays(self, scores: Floats) -> Arrays:
        """Return the posterior mean and variance of the mean of a new viewer's units."""
        n = len(scores)
        z = scores.mean(axis=0) @ self.projection + self.offset
        mean = z * (self.between / (self.between + 1 / n))
        variance = self.between / (1 + n * self.between)
        return {"plda_means": mean[None], "plda_variances": variance[None]}


class PldaMatch:
    """The best viewer's match, from the summed scores of a person's settled units."""

    def __init__(self, plda: Plda | None) -> None:
        self._plda = plda
        self._score = np.zeros(0 if plda is None else len(plda.projection))
        self._units = 0.0
        self.match: Match | None = None
        """None before the first unit, or without a model."""

    def add(self, score: Floats, units: float, leader: int) -> None:
        """Take the summed score of more units; `leader` is the best viewer by now."""
        if self._plda is None:
            return
        self._score += score
        self._units += units
        ratio = self._plda.log_ratio(self._score / self._units, self._units, leader)
        self.match = Match(ratio, self._units)


def fit_plda(scores: Floats, viewers: Integers, n_viewers: int) -> Plda:
    """Fit to the scores (units, dimensions) of at least three viewers."""
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


def fit_strangers(
    scores: Floats,
    viewers: Integers,
    n_viewers: int,
    false_acceptance_rate: float,
    genuine: Genuine,
) -> tuple[Plda | None, Strangers]:
    """Fit model and strangers; with few viewers there is no model and nothing is known."""
    if n_viewers < FEWEST_VIEWERS:
        return None, no_strangers("too few viewers to know what strangers are like")
    strangers = left_out_strangers(scores, viewers, n_viewers, false_acceptance_rate, genuine)
    return fit_plda(scores, viewers, n_viewers), strangers


def left_out_strangers(
    scores: Floats,
    viewers: Integers,
    n_viewers: int,
    false_acceptance_rate: float,
    genuine: Genuine,
    seed: int = 0,
) -> Strangers:
    """Return the strangers that viewers are to the others when left out in turn."""
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
    return strangers_of_matches(
        {amount: np.array(values) for amount, values in matches.items()},
        false_acceptance_rate,
        f"each of {len(left_out)} viewers left out in turn",
        genuine,
        len(scores) / n_viewers,
        n_strangers=len(left_out),
        least_spread=LEAST_SPREAD,
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
