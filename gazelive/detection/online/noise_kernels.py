"""Velocity noise in constant time: a forgetting histogram, its median and its spread.

The bins are even in asinh(v / 1 °/s), fine around rest and coarse for saccades: a few hundred bins
hold every velocity of an eye.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gazelive.system import kernel

N_SIDE_BINS = 160
N_BINS: int = 2 * N_SIDE_BINS + 1
BIN_STEP = 0.05
"""Width of a bin in asinh(v / 1 °/s): the outermost bins begin at ±1450 °/s."""
EDGES_DEG_S = np.sinh((np.arange(N_BINS + 1) - N_SIDE_BINS - 0.5) * BIN_STEP)
BINS_PER_DEG_S = 1.0 / np.diff(EDGES_DEG_S)
LARGEST_WEIGHT = 1e6
SMALLEST_NOISE_DEG_S = 1e-3


@kernel
def bin_of(velocity_deg_s: float) -> int:
    """Return the bin of a velocity; the last bins are open."""
    speed = abs(velocity_deg_s)
    # asinh written out: the library's costs three times as much
    steps = math.log(speed + math.sqrt(speed * speed + 1.0)) / BIN_STEP + 0.5
    side = min(int(steps), N_SIDE_BINS)
    return N_SIDE_BINS + side if velocity_deg_s > 0.0 else N_SIDE_BINS - side


@kernel
def spread_of(histogram: np.ndarray, total: float) -> float:
    """Return med|v − med v| in °/s of a histogram with `total` weight, taken as uniform per bin.

    The mass around the median is grown outwards over the bin edges, nearer side first, until it
    holds half of the weight.
    """
    half = 0.5 * total
    below = 0.0
    middle = 0
    while middle < N_BINS - 1 and below + histogram[middle] < half:
        below += histogram[middle]
        middle += 1
    inside = (half - below) / histogram[middle] if histogram[middle] > 0.0 else 0.5
    median = EDGES_DEG_S[middle] + inside * (EDGES_DEG_S[middle + 1] - EDGES_DEG_S[middle])

    left = right = middle
    to_left = median - EDGES_DEG_S[left]
    to_right = EDGES_DEG_S[right + 1] - median
    density_left = density_right = histogram[middle] * BINS_PER_DEG_S[middle]
    distance = mass = 0.0
    while left >= 0 or right < N_BINS:
        reach = min(to_left, to_right)
        density = density_left + density_right
        gain = density * (reach - distance)
        if mass + gain >= half:
            return float(distance + (half - mass) / density if density > 0.0 else reach)
        mass += gain
        distance = reach
        if to_left <= to_right:
            left -= 1
            to_left = median - EDGES_DEG_S[left] if left >= 0 else np.inf
            density_left = histogram[left] * BINS_PER_DEG_S[left] if left >= 0 else 0.0
        else:
            right += 1
            to_right = EDGES_DEG_S[right + 1] - median if right < N_BINS else np.inf
            density_right = histogram[right] * BINS_PER_DEG_S[right] if right < N_BINS else 0.0
    return distance


@kernel
def learn_noise(p: Any, s: Any, vx: float, vy: float) -> None:
    """Add a velocity to the histograms; read σ from them now and then."""
    s.histogram_x[bin_of(vx)] += s.sample_weight
    s.histogram_y[bin_of(vy)] += s.sample_weight
    s.histogram_weight += s.sample_weight
    # growing weights of new samples fade the old ones without touching every bin
    s.sample_weight /= p.forgetting
    if s.sample_weight > LARGEST_WEIGHT:
        for k in range(len(s.histogram_x)):
            s.histogram_x[k] /= s.sample_weight
            s.histogram_y[k] /= s.sample_weight
        s.histogram_weight /= s.sample_weight
        s.sample_weight = 1.0
    s.since_refresh += 1
    if s.since_refresh >= p.noise_refresh:
        s.since_refresh = 0
        seen = s.histogram_weight / s.sample_weight
        trust = seen / (seen + p.noise_prior_samples)
        s.noise_x_deg_s = _blend(
            spread_of(s.histogram_x, s.histogram_weight), p.noise_prior_deg_s, trust
        )
        s.noise_y_deg_s = _blend(
            spread_of(s.histogram_y, s.histogram_weight), p.noise_prior_deg_s, trust
        )


@kernel
def _blend(measured: float, prior: float, trust: float) -> float:
    """Return the geometric mean of two noises, `trust` of it the measured one."""
    return math.exp(
        trust * math.log(max(measured, SMALLEST_NOISE_DEG_S)) + (1.0 - trust) * math.log(prior)
    )
