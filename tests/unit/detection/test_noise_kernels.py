from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.detection.online.noise_kernels import EDGES_DEG_S, N_BINS, bin_of, spread_of


@given(velocity=st.floats(-1400, 1400))
def test_a_velocity_lies_between_the_edges_of_its_bin(velocity: float) -> None:
    k = bin_of(velocity)
    slack = 1e-9 * max(1.0, abs(velocity))
    assert EDGES_DEG_S[k] - slack <= velocity <= EDGES_DEG_S[k + 1] + slack


@pytest.mark.parametrize("velocity", [1e9, -1e9])
def test_impossible_velocities_go_into_the_last_bins(velocity: float) -> None:
    assert bin_of(velocity) == (N_BINS - 1 if velocity > 0 else 0)


@given(
    scale=st.floats(0.2, 60.0),
    centre=st.floats(-30.0, 30.0),
    seed=st.integers(0, 100),
)
def test_the_spread_is_the_median_distance_from_the_median(
    scale: float, centre: float, seed: int
) -> None:
    velocities = np.random.default_rng(seed).normal(centre, scale, 2000)
    histogram = np.zeros(N_BINS)
    for v in velocities:
        histogram[bin_of(v)] += 1
    exact = np.median(np.abs(velocities - np.median(velocities)))
    coarseness = 0.05 * np.hypot(1.0, abs(centre) + scale)
    assert spread_of(histogram, 2000.0) == pytest.approx(exact, abs=coarseness)


def test_one_velocity_has_hardly_any_spread() -> None:
    histogram = np.zeros(N_BINS)
    histogram[bin_of(0.0)] = 5.0
    assert 0.0 <= spread_of(histogram, 5.0) < 0.05
