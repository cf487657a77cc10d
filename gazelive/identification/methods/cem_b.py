"""CEM-B: distributions of fixation and saccade features, compared by two-sample statistics.

C. Holland, O. Komogortsev, "Complex eye movement pattern biometrics: the effects of environment
and stimulus", IEEE TIFS 2013, with the saccade dynamics of I. Rigas, O. Komogortsev, R. Shadmehr,
"Biometric recognition via eye movements: saccadic vigor and acceleration cues", ACM TAP 2016.

`cem-b` and `cem-b-dynamics` use four statistics (Kolmogorov-Smirnov, Cramér-von Mises,
Mann-Whitney, Ansari-Bradley) of each feature, on a grid of the training data's quantiles, and a
conditional logit. A probe's values are pooled over its images.

`cem-b-literal` and `cem-b-dynamics-literal` are the form of the paper's lab: the exact
Kolmogorov-Smirnov distance, summed over the features, |dx| and |dy| unsigned; only the scale of
the sum is learned. (The 2013 paper fuses Cramér-von Mises distances by a random forest. Bugs of
public re-implementations are not repeated: degrees are converted once, accelerations are mean
absolute values, ratios are along the movement.)

Fixation x and y and start times may be of the recording rather than of the person: `without`
"positions" and "start-times" leaves them out. Saccade duration and peak acceleration are those of
the movement block (docs/features.md); from fixation tables there are eight features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from gazelive.errors import ModelFormatError
from gazelive.gaze import Floats, Integers, SingleFloats
from gazelive.identification.comparison.similarity import Described, SimilarityIdentifier, Unit
from gazelive.identification.comparison.similarity_training import (
    RIDGES,
    DescribedUnits,
    fit_similarity,
    training_units,
)
from gazelive.identification.comparison.two_sample_kernels import sample_distances
from gazelive.identification.contract import Arrays, State
from gazelive.identification.fitted import Fitted, Options
from gazelive.identification.hyperparameters import Grid
from gazelive.identification.methods.cem_b_features import FeatureValues
from gazelive.identification.methods.cem_b_kernels import N_STATISTICS, histogram_distances
from gazelive.identification.shipped.fusions import fixed_fusion, shipped_fusion
from gazelive.identification.training_data import TrainingSet
from gazelive.models import StoredArrays

GRID = Grid(RIDGES, {"ridge": 0.1})
GRID_OF_DYNAMICS = Grid(RIDGES, {"ridge": 0.5})
N_BINS = 64
LITERAL_WEIGHT = 5.0
"""Of each summed distance, where its scale cannot be fitted."""
POPULATION_VALUES = 256
"""Quantiles that stand for everybody in the exact form."""


@dataclass(frozen=True, eq=False)
class GridComparison:
    """Four statistics of histograms on a common grid.

    With 64 bins it is as accurate as exact statistics, and its time does not depend on the
    lengths of the samples. A description is a histogram, (features, N_BINS).
    """

    kind: ClassVar[str] = "histograms"

    values: FeatureValues
    edges: Floats
    """(features, N_BINS − 1): upper ends of the bins; infinite where there are fewer."""

    @classmethod
    def fit(cls, values: FeatureValues, units: Sequence[Unit]) -> Self:
        """Take the quantiles of the values of all units as edges."""
        edges = np.full((len(values.names), N_BINS - 1), np.inf)
        for own, found in zip(edges, values.pooled(units), strict=True):
            if len(found):
                cuts = np.unique(np.quantile(found, np.arange(1, N_BINS) / N_BINS))
                own[: len(cuts)] = cuts
        return cls(values, edges)

    @property
    def parts(self) -> tuple[str, ...]:
        """Four distances of each feature."""
        return tuple(name for name in self.values.names for _ in range(N_STATISTICS))

    def describe(self, unit: Unit) -> Described:
        """Return the histograms of a unit."""
        counts = np.empty((len(self.edges), N_BINS), np.float32)
        for own, edges, found in zip(counts, self.edges, self.values.of(unit), strict=True):
            own[:] = np.bincount(np.searchsorted(edges, found), minlength=N_BINS)
        return counts

    def pool(self, described: Sequence[Described]) -> Described:
        """Add histograms."""
        return np.asarray(np.sum(described, axis=0, dtype=np.float32))

    def population(self, profiles: Sequence[Described]) -> Described:
        """Add the histograms of everybody."""
        return self.pool(profiles)

    def amount(self, described: Described) -> float:
        """Return the number of values of the feature that has most."""
        return float(described.sum(axis=1).max())

    def gallery(self, profiles: Sequence[Described]) -> tuple[SingleFloats, Floats]:
        """Return distribution functions (features, bins, profiles) and numbers of values."""
        counts = np.moveaxis(np.array(profiles, np.float64), 0, -1)
        sizes = counts.sum(axis=1)
        functions = np.cumsum(counts, axis=1) / np.maximum(sizes, 1)[:, None]
        return np.ascontiguousarray(functions, np.float32), sizes

    def distances(self, probe: Described, gallery: tuple[SingleFloats, Floats]) -> Floats:
        """Return the distances (profiles, parts)."""
        functions, sizes = gallery
        out = np.empty((sizes.shape[1], len(sizes), N_STATISTICS))
        histogram_distances(probe.astype(np.float64), functions, sizes, out)
        return out.reshape(len(out), -1)

    def to_state(self, profiles: Sequence[Described]) -> State:
        """Return grid and histograms."""
        arrays: Arrays = {"edges": self.edges, "profiles": np.array(profiles, np.float32)}
        return State(self.values.to_json(), arrays, {"profiles": 0})

    @classmethod
    def from_state(cls, state: State, n_viewers: int) -> tuple[Self, list[Described]]:
        """Return the comparison and the histograms of a state."""
        values, arrays = FeatureValues.from_state(state), StoredArrays(state.arrays)
        n_features = len(values.names)
        edges = arrays.take("edges", n_features, N_BINS - 1, most=np.inf)
        if (edges[:, 1:] < edges[:, :-1]).any():
            raise ModelFormatError("the edges of a grid do not ascend")
        arrays.take("population", n_features, N_BINS, least=0)
        profiles = arrays.take("profiles", n_viewers, n_features, N_BINS, least=0)
        return cls(values, edges), list(profiles)


@dataclass(frozen=True, eq=False)
class ExactComparison:
    """The exact Kolmogorov-Smirnov distance of each feature, of the values themselves.

    A description is a table of the values, (values, 2): number of the feature and value.
    """

    kind: ClassVar[str] = "values"

    values: FeatureValues

    @property
    def parts(self) -> tuple[str, ...]:
        """One distance of each feature."""
        return self.values.names

    def describe(self, unit: Unit) -> Described:
        """Return the values of a unit."""
        found = self.values.of(unit)
        numbers = np.repeat(np.arange(len(found)), [len(own) for own in found])
        return np.stack((numbers, np.concatenate(found)), axis=1)

    def pool(self, described: Sequence[Described]) -> Described:
        """Return the values of all samples."""
        return np.concatenate(described)

    def population(self, profiles: Sequence[Described]) -> Described:
        """Return quantiles that stand for everybody's values."""
        values, ends = self._sorted(self.pool(profiles))
        shares = (np.arange(POPULATION_VALUES) + 0.5) / POPULATION_VALUES
        tables = [
            np.stack((np.full(POPULATION_VALUES, float(f)), np.quantile(own, shares)), axis=1)
            for f, own in enumerate(np.split(values, ends[1:-1]))
            if len(own)
        ]
        return np.concatenate(tables)

    def amount(self, described: Described) -> float:
        """Return the number of values of the feature that has most."""
        return float(np.diff(self._sorted(described)[1]).max())

    def gallery(self, profiles: Sequence[Described]) -> tuple[Floats, Integers]:
        """Return the sorted values of all profiles, and where those of each feature end."""
        found = [self._sorted(profile) for profile in profiles]
        starts = np.cumsum([0, *(len(values) for values, _ in found)])
        ends = [start + own[1:] for start, (_, own) in zip(starts[:-1], found, strict=True)]
        return np.concatenate([v for v, _ in found]), np.concatenate([[0], *ends]).astype(np.int64)

    def distances(self, probe: Described, gallery: tuple[Floats, Integers]) -> Floats:
        """Return the distances (profiles, features)."""
        others, ends = gallery
        n_features = len(self.values.names)
        out = np.empty(((len(ends) - 1) // n_features, n_features, N_STATISTICS))
        sample_distances(*self._sorted(probe), others, ends, out)
        return out[:, :, 0]

    def to_state(self, profiles: Sequence[Described]) -> State:
        """Return the values of all viewers."""
        viewers = np.repeat(np.arange(len(profiles)), [len(profile) for profile in profiles])
        arrays = {"values": np.concatenate(profiles), "value_viewers": viewers}
        return State(self.values.to_json(), arrays, {}, {"value_viewers": ("values",)})

    @classmethod
    def from_state(cls, state: State, n_viewers: int) -> tuple[Self, list[Described]]:
        """Return the comparison and the values of a state."""
        features, arrays = FeatureValues.from_state(state), StoredArrays(state.arrays)
        values = arrays.take("values", "values", 2)
        viewers = arrays.take("value_viewers", "values", least=0, most=n_viewers - 1, whole=True)
        population = arrays.take("population", "population", 2)
        numbers = np.concatenate((values[:, 0], population[:, 0]))
        if not np.isin(numbers, np.arange(len(features.names))).all():
            raise ModelFormatError("there are values of features that are not named")
        return cls(features), [values[viewers == viewer] for viewer in range(n_viewers)]

    def _sorted(self, described: Described) -> tuple[Floats, Integers]:
        """Return the values sorted within each feature, and where each feature's end."""
        order = np.lexsort((described[:, 1], described[:, 0]))
        numbers = described[order, 0]
        ends = np.searchsorted(numbers, np.arange(len(self.values.names) + 1))
        return np.ascontiguousarray(described[order, 1]), ends.astype(np.int64)


class CemBIdentifier(SimilarityIdentifier):
    """Identifier of all forms of CEM-B."""

    comparisons = (GridComparison, ExactComparison)


def fit_cem_b(method: str, training: TrainingSet, options: Options, *, dynamics: bool) -> Fitted:
    """Fit `cem-b` or `cem-b-dynamics`."""
    described = describe_cem_b(training, options, dynamics=dynamics)
    start = shipped_fusion(method, training.kind, described.comparison.parts)
    grid = GRID_OF_DYNAMICS if dynamics else GRID
    return fit_similarity(CemBIdentifier, method, training, options, described, start, grid)


def describe_cem_b(training: TrainingSet, options: Options, *, dynamics: bool) -> DescribedUnits:
    """Fit the grid to the training set, and describe its units."""
    values = FeatureValues.fit(training, options, dynamics=dynamics)
    units = training_units(training)
    return DescribedUnits.of(GridComparison.fit(values, units.units), units)


def fit_cem_b_literal(
    method: str, training: TrainingSet, options: Options, *, dynamics: bool
) -> Fitted:
    """Fit `cem-b-literal` or `cem-b-dynamics-literal`."""
    values = FeatureValues.fit(training, options, dynamics=dynamics, literal=True)
    described = DescribedUnits.of(ExactComparison(values), training_units(training))
    start = fixed_fusion(np.full(len(values.names), LITERAL_WEIGHT))
    return fit_similarity(CemBIdentifier, method, training, options, described, start, grid=None)
