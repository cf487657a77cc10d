"""Aggregates of a scanpath (Holland and Komogortsev 2011): rates and shares, or as published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gazelive.features import MOVEMENT_AT, Column, Movement
from gazelive.gaze import Floats
from gazelive.identification.comparison.similarity import Unit, empty_unit
from gazelive.identification.methods import holland_kernels as kernels

REGION_DEG = 2.0
FEWEST_FOR_SLOPE = 4
LEAST_COMPONENT_DEG = 0.5
"""Smallest horizontal amplitude that counts in the literal form."""
MEAN_SHIFT_STEPS = 100
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
OF_SAMPLES = {
    "mean velocity",
    "peak velocity",
    "velocity waveform",
    "amplitude-duration slope",
    "amplitude-duration intercept",
    "main-sequence slope",
    "main-sequence intercept",
}
"""Aggregates that fixation tables do not have."""


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


FORMS: dict[str, Callable[[Aggregated], dict[str, float]]] = {
    "learned": learned_form,
    "literal": literal_form,
}


def aggregate_names(form: str, *, of_table: bool) -> tuple[str, ...]:
    """Return the names of a form's aggregates."""
    names = FORMS[form](Aggregated.of(empty_unit()))
    return tuple(name for name in names if not (of_table and name in OF_SAMPLES))
