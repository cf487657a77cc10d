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

import numpy as np
from scipy import special

from gazelive.features import MOVEMENT_AT, Column, Movement
from gazelive.gaze import Floats, Integers
from gazelive.identification.contract import State
from gazelive.identification.fitted import Fitted, Options
from gazelive.identification.methods import holland_kernels as kernels
from gazelive.identification.methods.shipped_fusions import fixed_fusion, shipped_fusion
from gazelive.identification.methods.similarity import (
    Described,
    SimilarityIdentifier,
    Unit,
    empty_unit,
)
from gazelive.identification.methods.similarity_training import (
    DescribedUnits,
    TrainingUnits,
    fit_similarity,
    training_units,
)
from gazelive.identification.training_data import TrainingSet

REGION_DEG = 2.0
FEWEST_FOR_SLOPE = 4
LEAST_COMPONENT_DEG = 0.5
"""Smallest horizontal amplitude that counts in the literal form."""
MEAN_SHIFT_STEPS = 100
CLIPPED_SD = 6.0
"""Values are clipped at the median ± so many robust standard deviations …"""
UNITS_FOR_LIMITS = 2000
"""… of at most so many units."""
LITERAL_WEIGHTS = {
    "fixation count": 25.0,
    "mean fixation duration": 75.0,
    "mean amplitude": 10.0,
    "mean |dx|": 1.0,
    "mean |dy|": 1.0,
    "mean velocity": 10.0,
    "peak velocity": 1.0,
    "velocity waveform": 1.0,
    "scanpath length": 1.0,
    "scanpath area": 10.0,
    "regions of interest": 1.0,
    "inflections": 10.0,
    "amplitude-duration slope": 1.0,
    "main-sequence slope": 1.0,
}
"""Table 1 of the paper."""
OF_TABLES = (
    "fixation rate",
    "fixation duration",
    "amplitude",
    "horizontal amplitude",
    "vertical amplitude",
    "scanpath length",
    "scanpath area",
    "regions of interest",
    "inflections",
)
"""Aggregates of `holland-2011` that fixation tables have."""
LITERAL_OF_TABLES = (
    "fixation count",
    "mean fixation duration",
    "mean amplitude",
    "mean |dx|",
    "mean |dy|",
    "scanpath length",
    "scanpath area",
    "regions of interest",
    "inflections",
)
LITERAL_SCALE = 10.0
"""Of the weighted mean distance, where it cannot be fitted."""


@dataclass(frozen=True, eq=False)
class Aggregated:
    """Columns of a unit's saccades and fixations, as floats; NaN is masked."""

    rows: Floats
    x_deg: Floats
    y_deg: Floats
    durations_s: Floats

    @classmethod
    def of(cls, unit: Unit) -> Aggregated:
        """Take the saccades that have an amplitude, and the fixations that have a place."""
        rows = unit.saccades.astype(np.float64)
        rows = rows[rows[:, Column.AMPLITUDE_DEG] > 0]
        placed = unit.fixations[np.isfinite(unit.fixations).all(axis=1)]
        x_deg, y_deg, durations_s = np.ascontiguousarray(placed.T)
        return cls(rows, x_deg, y_deg, durations_s)

    def __getitem__(self, column: int) -> Floats:
        return self.rows[:, column]

    @property
    def dx(self) -> Floats:
        """Horizontal displacements."""
        return self[Column.DX_DEG]

    @property
    def dy(self) -> Floats:
        """Vertical displacements."""
        return self[Column.DY_DEG]

    @property
    def amplitude(self) -> Floats:
        """Amplitudes."""
        return self[Column.AMPLITUDE_DEG]

    @property
    def duration(self) -> Floats:
        """Durations of the saccades."""
        return self[MOVEMENT_AT + Movement.DURATION]

    @property
    def waveform(self) -> Floats:
        """Q: peak over mean velocity."""
        return self[Column.PEAK_VELOCITY_DEG_S] / self[Column.MEAN_VELOCITY_DEG_S]

    @property
    def seconds(self) -> float:
        """Time until the last saccade, since the fixation before the first."""
        onset_s = self[Column.ONSET_S]
        known = np.isfinite(onset_s)
        if not known.any():
            return np.nan
        before_s = np.nan_to_num(self[Column.PREVIOUS_FIXATION_S][known][0])
        return float(onset_s[known][-1] - onset_s[known][0] + before_s) or np.nan

    def hull(self) -> float:
        """Return the area of the convex hull of the fixations."""
        if len(self.x_deg) < 3:
            return np.nan
        return kernels.hull_area(self.x_deg, self.y_deg)


def mean(values: Floats) -> float:
    """Return the mean of the values that are not masked."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


def log_mean(values: Floats) -> float:
    """Return the logarithm of the mean."""
    found = mean(values)
    return float(np.log(found)) if found > 0 else np.nan


def line(x: Floats, y: Floats) -> tuple[float, float]:
    """Return slope and intercept of the regression of y on x."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < FEWEST_FOR_SLOPE or not x.std() > 1e-6:
        return np.nan, np.nan
    slope = float((x - x.mean()) @ (y - y.mean()) / np.sum((x - x.mean()) ** 2))
    return slope, float(y.mean() - slope * x.mean())


def learned_form(seen: Aggregated) -> dict[str, float]:
    """Return the aggregates of `holland-2011`."""
    n, n_fixations = len(seen.rows), len(seen.x_deg)
    backward = seen.dx[1:] * seen.dx[:-1] + seen.dy[1:] * seen.dy[:-1] < 0
    duration_slope, duration_intercept = line(seen.amplitude, seen.duration)
    velocity = np.log(seen[Column.PEAK_VELOCITY_DEG_S])
    main_slope, main_intercept = line(np.log(seen.amplitude), velocity)
    regions = kernels.greedy_regions(seen.x_deg, seen.y_deg, REGION_DEG)
    return {
        "fixation rate": n / seen.seconds,
        "fixation duration": log_mean(seen[Column.PREVIOUS_FIXATION_S]),
        "amplitude": log_mean(seen.amplitude),
        "horizontal amplitude": log_mean(np.abs(seen.dx)),
        "vertical amplitude": log_mean(np.abs(seen.dy)),
        "mean velocity": log_mean(seen[Column.MEAN_VELOCITY_DEG_S]),
        "peak velocity": log_mean(seen[Column.PEAK_VELOCITY_DEG_S]),
        "velocity waveform": mean(seen.waveform),
        "scanpath length": float(np.nansum(seen.amplitude)) / seen.seconds,
        "scanpath area": float(np.sqrt(seen.hull())),
        "regions of interest": regions / n_fixations if n_fixations else np.nan,
        "inflections": float(backward.mean()) if n > 2 else np.nan,
        "amplitude-duration slope": duration_slope,
        "amplitude-duration intercept": duration_intercept,
        "main-sequence slope": main_slope,
        "main-sequence intercept": main_intercept,
    }


def literal_form(seen: Aggregated) -> dict[str, float]:
    """Return the paper's numbers, in the order of `LITERAL_WEIGHTS`."""
    wide = np.abs(seen.dx)
    steps = np.hypot(np.diff(seen.x_deg), np.diff(seen.y_deg))
    turned = (seen.dx[1:] * seen.dx[:-1] < 0) | (seen.dy[1:] * seen.dy[:-1] < 0)
    regions = kernels.mean_shift_regions(seen.x_deg, seen.y_deg, REGION_DEG, MEAN_SHIFT_STEPS)
    numbers = (
        len(seen.x_deg) or np.nan,
        mean(seen.durations_s),
        mean(seen.amplitude),
        mean(wide[wide > LEAST_COMPONENT_DEG]),
        mean(np.abs(seen.dy)),
        mean(seen[Column.MEAN_VELOCITY_DEG_S]),
        mean(seen[Column.PEAK_VELOCITY_DEG_S]),
        mean(seen.waveform),
        float(steps.sum()) if len(steps) else np.nan,
        seen.hull(),
        regions or np.nan,
        float(turned.sum()),
        line(seen.amplitude, seen.duration)[0],
        line(seen.amplitude, seen[Column.PEAK_VELOCITY_DEG_S])[0],
    )
    return dict(zip(LITERAL_WEIGHTS, numbers, strict=True))


def absolute(d: Floats) -> Floats:
    """Return |d|."""
    return np.abs(d)


def squared(d: Floats) -> Floats:
    """Return d²."""
    return d * d


def literal_distance(d: Floats) -> Floats:
    """Return 1 less the paper's similarity."""
    return np.asarray(np.abs(2 * special.ndtr(d) - 1), np.float64)


FORMS: dict[str, Callable[[Aggregated], dict[str, float]]] = {
    "learned": learned_form,
    "literal": literal_form,
}
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
        del n_viewers
        content, arrays = state.content, state.arrays
        names = tuple(map(str, content["features"]))
        made = cls(
            str(content["form"]),
            str(content["distance"]),
            names,
            arrays["limits"],
            arrays["scale"],
        )
        return made, list(arrays["profiles"])

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
    return fit_similarity(HollandIdentifier, method, training, options, described, start)


def describe_holland(training: TrainingSet, options: Options) -> DescribedUnits:
    """Fit limits and scale to the training set, and describe its units."""
    del options  # no group of features can be left out
    of_samples = training.kind == "samples"
    names = tuple(learned_form(Aggregated.of(empty_unit()))) if of_samples else OF_TABLES
    raw = unscaled("learned", "absolute" if of_samples else "squared", names)
    units = training_units(training)
    clipped = replace(raw, limits=usual_limits(raw, units))
    described = DescribedUnits.of(clipped, units)
    within = spread_within(clipped.gallery(described.whole), described.viewers)
    return replace(described, comparison=replace(clipped, scale=within))


def fit_holland_literal(method: str, training: TrainingSet, options: Options) -> Fitted:
    """Fit `holland-2011-literal`."""
    names = tuple(LITERAL_WEIGHTS) if training.kind == "samples" else LITERAL_OF_TABLES
    raw = unscaled("literal", "literal", names)
    described = DescribedUnits.of(raw, training_units(training))
    within = spread_within(raw.gallery(described.whole), described.viewers)
    weights = np.array([LITERAL_WEIGHTS[name] for name in names])
    start = fixed_fusion(LITERAL_SCALE * weights / weights.sum())
    described = replace(described, comparison=replace(raw, scale=2 * within))
    return fit_similarity(
        HollandIdentifier, method, training, options, described, start, learned=False
    )


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
