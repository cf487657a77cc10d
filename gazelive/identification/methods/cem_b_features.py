"""Features of CEM-B: values of fixations and saccades, whose distributions are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import msgspec
import numpy as np

from gazelive.errors import ModelFormatError
from gazelive.features import DEFAULT_RATE_DEG, MOVEMENT_AT, Column, Movement, vigor_deg_s
from gazelive.gaze import Floats
from gazelive.identification.comparison.similarity import WINDOW_S, Unit
from gazelive.identification.contract import State
from gazelive.identification.fitted import Options
from gazelive.identification.training_data import TrainingSet, fit_vigor_rate_deg


@dataclass(frozen=True, eq=False)
class Seen:
    """What the features of a unit are computed from."""

    rows: Floats
    """(n, N_COLUMNS): displacements of saccades without an amplitude are masked."""
    fixations: Floats
    vigor_rate_deg: float

    @classmethod
    def of(cls, unit: Unit, vigor_rate_deg: float) -> Seen:
        """Return what is seen in a unit."""
        rows = unit.saccades.astype(np.float64)
        no_amplitude = ~(rows[:, Column.AMPLITUDE_DEG] > 0)
        for column in (Column.DX_DEG, Column.DY_DEG, Column.AMPLITUDE_DEG):
            rows[no_amplitude, column] = np.nan
        return cls(rows, unit.fixations, vigor_rate_deg)

    def vigor(self, displacement: Column, peak_velocity: Column) -> Floats:
        """Return the vigor of each saccade along one axis."""
        return vigor_deg_s(
            self.rows[:, displacement], self.rows[:, peak_velocity], self.vigor_rate_deg
        )

    def since_onset(self, time_s: Floats) -> Floats:
        """Return times since the image or window began."""
        return np.maximum(time_s, 0.0) % WINDOW_S


def _column(column: int) -> Callable[[Seen], Floats]:
    return lambda seen: seen.rows[:, column]


FEATURES: dict[str, Callable[[Seen], Floats]] = {
    "fixation start": lambda seen: seen.since_onset(
        seen.rows[:, Column.ONSET_S] - seen.rows[:, Column.PREVIOUS_FIXATION_S]
    ),
    "fixation duration": _column(Column.PREVIOUS_FIXATION_S),
    "fixation x": lambda seen: seen.fixations[:, 0],
    "fixation y": lambda seen: seen.fixations[:, 1],
    "saccade start": lambda seen: seen.since_onset(seen.rows[:, Column.ONSET_S]),
    "saccade duration": _column(MOVEMENT_AT + Movement.DURATION),
    "saccade dx": _column(Column.DX_DEG),
    "saccade dy": _column(Column.DY_DEG),
    "saccade |dx|": lambda seen: np.abs(seen.rows[:, Column.DX_DEG]),
    "saccade |dy|": lambda seen: np.abs(seen.rows[:, Column.DY_DEG]),
    "amplitude": _column(Column.AMPLITUDE_DEG),
    "mean velocity": _column(Column.MEAN_VELOCITY_DEG_S),
    "peak velocity": _column(Column.PEAK_VELOCITY_DEG_S),
    "vigor x": lambda seen: seen.vigor(Column.DX_DEG, Column.PEAK_VELOCITY_X_DEG_S),
    "vigor y": lambda seen: seen.vigor(Column.DY_DEG, Column.PEAK_VELOCITY_Y_DEG_S),
    "mean acceleration": _column(Column.MEAN_ACCELERATION_DEG_S2),
    "peak acceleration": _column(MOVEMENT_AT + Movement.PEAK_ACCELERATION),
    "acceleration ratio x": _column(Column.RATIO_X),
    "acceleration ratio y": _column(Column.RATIO_Y),
}
"""Values of each feature; NaN is masked."""
_FIXATIONS = ("fixation start", "fixation duration", "fixation x", "fixation y", "saccade start")
_SACCADES = ("saccade duration", "saccade dx", "saccade dy", "mean velocity", "peak velocity")
_DYNAMICS = (
    "vigor x",
    "vigor y",
    "mean acceleration",
    "peak acceleration",
    "acceleration ratio x",
    "acceleration ratio y",
)
_OF_TABLES = ("saccade dx", "saccade dy", "amplitude")
_UNSIGNED = {"saccade dx": "saccade |dx|", "saccade dy": "saccade |dy|"}
GROUPS = {
    "positions": {"fixation x", "fixation y"},
    "start-times": {"fixation start", "saccade start"},
}
"""Groups of features that `Options.without` names."""


def feature_names(
    training: TrainingSet, options: Options, *, dynamics: bool, literal: bool = False
) -> tuple[str, ...]:
    """Return the names of a method's features."""
    names = _FIXATIONS + (_OF_TABLES if training.kind == "fixations" else _SACCADES)
    names += _DYNAMICS if dynamics else ()
    left_out = {name for group in options.without for name in GROUPS.get(group, ())}
    names = tuple(name for name in names if name not in left_out)
    return tuple(_UNSIGNED.get(name, name) for name in names) if literal else names


@dataclass(frozen=True, eq=False)
class FeatureValues:
    """Values of named features."""

    names: tuple[str, ...]
    vigor_rate_deg: float

    @classmethod
    def fit(
        cls, training: TrainingSet, options: Options, *, dynamics: bool, literal: bool = False
    ) -> Self:
        """Return the features of a method, with the rate b* of the training set."""
        names = feature_names(training, options, dynamics=dynamics, literal=literal)
        of_table = training.kind == "fixations"
        return cls(names, DEFAULT_RATE_DEG if of_table else fit_vigor_rate_deg(training))

    def of(self, unit: Unit) -> list[Floats]:
        """Return the finite values of each feature."""
        seen = Seen.of(unit, self.vigor_rate_deg)
        values = [FEATURES[name](seen) for name in self.names]
        return [found[np.isfinite(found)] for found in values]

    def pooled(self, units: Sequence[Unit]) -> list[Floats]:
        """Return the values of each feature in all units."""
        return [np.concatenate(found) for found in zip(*map(self.of, units), strict=True)]

    def to_json(self) -> dict[str, object]:
        """Return the features as a model stores them."""
        return {"features": list(self.names), "vigor_rate_deg": self.vigor_rate_deg}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Return the features of a state."""
        names = msgspec.convert(state.content["features"], tuple[str, ...])
        if not names or not set(names) <= set(FEATURES):
            raise ModelFormatError("there are features that this version does not know")
        return cls(names, state.number("vigor_rate_deg", least=1e-9))
