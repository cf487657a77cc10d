"""Velocity and acceleration by local quadratic fits (Savitzky & Golay 1964), at any rate.

Two bandwidths, never mixed: the short one for the kinematics that are reported, and 28 ms for the
features that identify people (a prototype on 250 Hz data found them with seven points; the same
bandwidth at other rates keeps them comparable, at the price of flattened peaks).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from gazelive.gaze import Floats

SHORT_HALF_WIDTH_MS = 4.0
IDENTITY_SPREAD_MS2 = 4.0**2 * 3 * 4
"""h²·m(m+1) of seven points (m = 3) at h = 4 ms: what the fit's bandwidth depends on."""


@dataclass(frozen=True)
class DerivativeFilter:
    """Weights of 2m+1 samples around one; dot products give °/s and °/s²."""

    half_width: int
    velocity_weights: Floats
    acceleration_weights: Floats

    @property
    def weights(self) -> tuple[Floats, Floats]:
        """Both, as the kernels take them."""
        return self.velocity_weights, self.acceleration_weights


def short_filter(sampling_rate_hz: float) -> DerivativeFilter:
    """Return the filter of reported kinematics: 4 ms to each side, so 9 ms at 1000 Hz."""
    return _quadratic_fit(
        max(1, round(SHORT_HALF_WIDTH_MS * sampling_rate_hz / 1000)), sampling_rate_hz
    )


def identity_filter(sampling_rate_hz: float) -> DerivativeFilter:
    """Return the filter of identification features: the bandwidth of 28 ms at every rate."""
    return _quadratic_fit(
        _half_width_of_spread(IDENTITY_SPREAD_MS2, sampling_rate_hz), sampling_rate_hz
    )


def _half_width_of_spread(spread_ms2: float, sampling_rate_hz: float) -> int:
    """Solve h²·m(m+1) = spread for m at this sample interval h."""
    target = spread_ms2 * (sampling_rate_hz / 1000) ** 2
    return max(1, round((math.sqrt(1 + 4 * target) - 1) / 2))


@functools.cache
def _quadratic_fit(half_width: int, sampling_rate_hz: float) -> DerivativeFilter:
    length, interval_s = 2 * half_width + 1, 1 / sampling_rate_hz
    return DerivativeFilter(
        half_width,
        _weights(length, 1, interval_s),
        _weights(length, 2, interval_s),
    )


def _weights(length: int, derivative: int, interval_s: float) -> Floats:
    """Return the weights of a derivative of the quadratic at the centre of `length` samples.

    They equal those of `scipy.signal.savgol_coeffs`; importing scipy.signal takes half a second.
    """
    half_width = length // 2
    powers = np.arange(-half_width, half_width + 1.0) ** np.arange(3)[:, None]
    moments = np.zeros(3)
    moments[derivative] = math.factorial(derivative) / interval_s**derivative
    weights: Floats = np.linalg.lstsq(powers, moments, rcond=None)[0].astype(np.float64)
    return weights
