"""Vigor: how fast a person's saccades are for their size (Baloh 1975; Rigas et al. 2016).

Peak velocity follows v = g·(1 − exp(−a/b)). The paper's joint fit of b and every g is
under-determined, so one g per person is fitted with b, the b are averaged over people (b*), and
then each saccade's g follows from its own v and a, horizontally and vertically with the same b*.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gazelive.features.kinematics_kernels import MIN_COMPONENT_DEG
from gazelive.gaze import Floats

DEFAULT_RATE_DEG = 7.0
"""The rate b without training data."""
RATE_RANGE_DEG = (0.5, 60.0)
MIN_SACCADES = 10


def fit_rate_deg(amplitude_deg: Floats, peak_velocity_deg_s: Floats) -> float | None:
    """Return the least-squares rate b of one person's saccades; None where there are too few."""
    known = np.isfinite(amplitude_deg) & np.isfinite(peak_velocity_deg_s) & (amplitude_deg > 0)
    a, v = amplitude_deg[known], peak_velocity_deg_s[known]
    if len(a) < MIN_SACCADES:
        return None
    from scipy.optimize import minimize_scalar  # slow to import, and only training needs it

    def squared_error(log_rate: float) -> float:
        saturation = -np.expm1(-a / np.exp(log_rate))
        g = (saturation @ v) / (saturation @ saturation)
        return float(np.sum((v - g * saturation) ** 2))

    low, high = np.log(RATE_RANGE_DEG)
    best = minimize_scalar(squared_error, bounds=(low, high), method="bounded")
    return float(np.exp(best.x))


def mean_rate_deg(people: Iterable[tuple[Floats, Floats]]) -> float:
    """Return b*: the mean of each person's own rate (amplitudes, peak velocities)."""
    rates = [rate for a, v in people if (rate := fit_rate_deg(a, v)) is not None]
    return float(np.mean(rates)) if rates else DEFAULT_RATE_DEG


def vigor_deg_s(
    amplitude_deg: Floats, peak_velocity_deg_s: Floats, rate_deg: float = DEFAULT_RATE_DEG
) -> Floats:
    """Return each saccade's g; NaN where the component is too small to have one."""
    amplitude = np.abs(amplitude_deg)
    vigor = np.full(np.shape(amplitude), np.nan)
    known = amplitude > MIN_COMPONENT_DEG
    vigor[known] = peak_velocity_deg_s[known] / -np.expm1(-amplitude[known] / rate_deg)
    return vigor
