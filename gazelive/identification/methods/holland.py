"""Aggregates of a scanpath, compared one by one: Holland and Komogortsev 2011.

C. Holland, O. Komogortsev, "Biometric identification via eye movement scanpaths in reading",
IJCB 2011.

`holland-2011` describes an image (or a 20 s window) by rates, logarithms of means, shares and
regression coefficients, so that its length does not matter. A person is the mean over images,
weighted by their saccades. The distance of a feature is |d| for recordings and d² for fixation
tables, d in standard deviations within a person; a conditional logit fuses them. d² is the
logarithm of the paper's Gaussian similarity, and |d| has the better likelihood on recordings.

`holland-2011-literal` has the paper's 14 numbers (counts and plain means; the fifteenth needs the
same stimulus), mean-shift regions of interest, a person's plain mean over scanpaths, the
similarity 1 − |2Φ((a − b)/σ) − 1| with σ twice the mean standard deviation within a person, and
the weights of its Table 1; only the scale of the weighted mean is learned. (Public code differs:
it takes the distance from the first to the last fixation as the scanpath's length, and stops the
mean shift after one step.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import msgspec
import numpy as np
from scipy import special

from gazelive.errors import ModelFormatError
from gazelive.gaze import Floats, Integers
from gazelive.identification.comparison.similarity import Described, SimilarityIdentifier, Unit
from gazelive.identification.comparison.similarity_training import (
    RIDGES,
    DescribedUnits,
    TrainingUnits,
    fit_similarity,
    training_units,
)
from gazelive.identification.contract import State
from gazelive.identification.fitted import Fitted, Options
from gazelive.identification.hyperparameters import Grid
from gazelive.identification.methods.holland_aggregates import (
    FORMS,
    LITERAL_WEIGHTS,
    Aggregated,
    aggregate_names,
)
from gazelive.identification.shipped.fusions import fixed_fusion, shipped_fusion
from gazelive.identification.training_data import TrainingSet
from gazelive.models import StoredArrays

GRID = Grid(RIDGES, {"ridge": 0.5})
"""The vote of docs/study.md is 2, with which too few of 16 made-up viewers are accepted."""
CLIPPED_SD = 6.0
"""Values are clipped at the median ± so many robust standard deviations …"""
UNITS_FOR_LIMITS = 2000
"""… of at most so many units."""
LITERAL_SCALE = 10.0
"""Of the weighted mean distance, where it cannot be fitted."""


def absolute(d: Floats) -> Floats:
    """Return |d|."""
    return np.abs(d)


def squared(d: Floats) -> Floats:
    """Return d²."""
    return d * d


def literal_distance(d: Floats) -> Floats:
    """Return 1 less the paper's similarity."""
    return np.asarray(np.abs(2 * special.ndtr(d) - 1), np.float64)


DISTANCES: dict[str, Callable[[Floats], Floats]] = {
    "absolute": absolute,
    "squared": squared,
    "literal": literal_distance,
}


@dataclass(frozen=True, eq=False)
class AggregateComparison:
    """Distances of mean aggregates.

    A description is (2, features): weighted sums of the units' values, and the sums of the weights
    of the units that have a value.
    """

    kind: ClassVar[str] = "aggregates"

    form: str
    distance: str
    names: tuple[str, ...]
    limits: Floats
    """(2, features): smallest and largest value."""
    scale: Floats
    """(features,): unit of the differences."""

    @property
    def parts(self) -> tuple[str, ...]:
        """One distance of each feature."""
        return self.names

    def vector(self, unit: Unit) -> tuple[Floats, float]:
        """Return the aggregates of a unit and its weight: its saccades (literal form: 1)."""
        seen = Aggregated.of(unit)
        if not len(seen.rows):
            return np.full(len(self.names), np.nan), 0.0
        found = FORMS[self.form](seen)
        weight = 1.0 if self.form == "literal" else float(len(seen.rows))
        return np.array([found[name] for name in self.names]), weight

    def describe(self, unit: Unit) -> Described:
        """Return the weighted aggregates of a unit."""
        values, weight = self.vector(unit)
        known = np.isfinite(values)
        clipped = np.clip(np.where(known, values, 0.0), *self.limits)
        return weight * np.stack((np.where(known, clipped, 0.0), known))

    def pool(self, described: Sequence[Described]) -> Described:
        """Add the sums."""
        return np.asarray(np.sum(described, axis=0))

    def population(self, profiles: Sequence[Described]) -> Described:
        """Return everybody together."""
        return self.pool(profiles)

    def amount(self, described: Described) -> float:
        """Return the number of saccades, or of scanpaths in the literal form."""
        return float(described[1].max())

    def gallery(self, profiles: Sequence[Described]) -> Floats:
        """Return the mean aggregates (profiles, features) in units of the scale."""
        return self._means(np.array(profiles))

    def distances(self, probe: Described, gallery: Floats) -> Floats:
        """Return the distances (profiles, features)."""
        return DISTANCES[self.distance](self._means(probe) - gallery)

    def to_state(self, profiles: Sequence[Described]) -> State:
        """Return aggregates and scale."""
        content = {"form": self.form, "distance": self.distance, "features": list(self.names)}
        arrays = {"limits": self.limits, "scale": self.scale, "profiles": np.array(profiles)}
        return State(content, arrays, {"profiles": 0})

    @classmethod
    def from_state(cls, state: State, n_viewers: int) -> tuple[Self, list[Described]]:
        """Return the comparison and the profiles of a state."""
        content, arrays = state.content, StoredArrays(state.arrays)
        names = msgspec.convert(content["features"], tuple[str, ...])
        form, distance = content["form"], content["distance"]
        if form not in FORMS or distance not in DISTANCES:
            raise ModelFormatError("the form or the distance is not one of this version")
        if not names or not set(names) <= set(aggregate_names(form, of_table=False)):
            raise ModelFormatError("there are features that this version does not know")
        arrays.take("population", 2, len(names))
        made = cls(
            form,
            distance,
            names,
            arrays.take("limits", 2, len(names), least=-np.inf, most=np.inf),
            arrays.take("scale", len(names), least=1e-30, most=np.inf),
        )
        return made, list(arrays.take("profiles", n_viewers, 2, len(names)))

    def _means(self, described: Described) -> Floats:
        sums, weights = described[..., 0, :], described[..., 1, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums / weights / self.scale, np.float64)


class HollandIdentifier(SimilarityIdentifier):
    """Identifier of both forms."""

    comparisons = (AggregateComparison,)


def fit_holland(method: str, training: TrainingSet, options: Options) -> Fitted:
    """Fit `holland-2011`."""
    described = describe_holland(training, options)
    start = shipped_fusion(method, training.kind, described.comparison.parts)
    return fit_similarity(HollandIdentifier, method, training, options, described, start, GRID)


def describe_holland(training: TrainingSet, options: Options) -> DescribedUnits:
    """Fit limits and scale to the training set, and describe its units."""
    del options  # no group of features can be left out
    of_table = training.kind == "fixations"
    names = aggregate_names("learned", of_table=of_table)
    raw = unscaled("learned", "squared" if of_table else "absolute", names)
    units = training_units(training)
    clipped = replace(raw, limits=usual_limits(raw, units))
    described = DescribedUnits.of(clipped, units)
    within = spread_within(clipped.gallery(described.whole), described.viewers)
    return replace(described, comparison=replace(clipped, scale=within))


def fit_holland_literal(method: str, training: TrainingSet, options: Options) -> Fitted:
    """Fit `holland-2011-literal`."""
    names = aggregate_names("literal", of_table=training.kind == "fixations")
    raw = unscaled("literal", "literal", names)
    described = DescribedUnits.of(raw, training_units(training))
    within = spread_within(raw.gallery(described.whole), described.viewers)
    weights = np.array([LITERAL_WEIGHTS[name] for name in names])
    start = fixed_fusion(LITERAL_SCALE * weights / weights.sum())
    described = replace(described, comparison=replace(raw, scale=2 * within))
    return fit_similarity(HollandIdentifier, method, training, options, described, start, grid=None)


def unscaled(form: str, distance: str, names: tuple[str, ...]) -> AggregateComparison:
    """Return a comparison without limits, in the units of the aggregates."""
    limits = np.repeat([[-np.inf], [np.inf]], len(names), axis=1)
    return AggregateComparison(form, distance, names, limits, np.ones(len(names)))


def usual_limits(comparison: AggregateComparison, units: TrainingUnits) -> Floats:
    """Return the median of each aggregate ± `CLIPPED_SD` robust standard deviations."""
    chosen = np.random.default_rng(0).permutation(len(units.units))[:UNITS_FOR_LIMITS]
    vectors = np.array([comparison.vector(units.units[i])[0] for i in chosen])
    limits = comparison.limits.copy()
    for f, values in enumerate(vectors.T):
        known = values[np.isfinite(values)]
        if len(known):
            middle = np.median(known)
            reach = CLIPPED_SD * 1.4826 * np.median(np.abs(known - middle))
            limits[:, f] = middle - reach, middle + reach
    return limits


def spread_within(values: Floats, viewers: Integers) -> Floats:
    """Return the mean over viewers of the standard deviation of each aggregate over units.

    It is that over all units if no viewer has two. Infinite where it is 0: such an aggregate must
    not decide.
    """
    several = [viewer for viewer in np.unique(viewers) if np.sum(viewers == viewer) > 1]
    groups = [values[viewers == viewer] for viewer in several] or [values]
    within = np.mean([_spread(group) for group in groups], axis=0)
    return np.where(within > 0, within, np.inf)


def _spread(values: Floats) -> Floats:
    known = [column[np.isfinite(column)] for column in values.T]
    return np.array([own.std() if len(own) else 0.0 for own in known])
