"""Medians by sampling are exact: bit for bit what sorting gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.detection.median_kernels import FEW, SAMPLE, median_room, middle_two


def by_sorting(values: np.ndarray) -> tuple[float, float]:
    ordered = np.sort(values[~np.isnan(values)])
    return float(ordered[(len(ordered) - 1) // 2]), float(ordered[len(ordered) // 2])


@given(values=st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=1, max_size=50))
def test_the_middle_two_of_a_few(values: list[float]) -> None:
    array = np.array(values)
    if np.isnan(array).all():
        assert np.isnan(middle_two(array)).all()
        return
    assert middle_two(array) == by_sorting(array)
    assert sum(middle_two(array)) / 2 == pytest.approx(np.nanmedian(array))


DRAWS = {
    "normal": lambda rng, n: rng.normal(3.0, 2.0, n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "few levels": lambda rng, n: rng.integers(-3, 4, n) * 0.1,
    "mostly one level": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    "two far apart": lambda rng, n: np.where(rng.random(n) < 0.5, -1e9, 1e9),
    "in order": lambda rng, n: np.sort(rng.normal(size=n)),
    "in waves of the sample's step": lambda rng, n: (
        np.sin(np.arange(n) * (2 * np.pi / (n // SAMPLE + 1))) + rng.normal(0, 1e-3, n)
    ),
}


@settings(deadline=None)
@given(
    draw=st.sampled_from(sorted(DRAWS)),
    n=st.integers(1, 40 * FEW),
    lost=st.sampled_from((0.0, 0.1, 0.9)),
    seed=st.integers(0, 1000),
)
def test_the_middle_two_of_many(draw: str, n: int, lost: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = DRAWS[draw](rng, n).astype(np.float64)
    values[rng.random(n) < lost] = np.nan
    values[rng.integers(n)] = rng.choice((1e300, -1e300, 1.0))
    values[rng.integers(n)] = 0.5
    before = values.copy()
    room = median_room(n)
    assert middle_two(values, room=room) == by_sorting(values)
    centre = sum(by_sorting(values)) / 2
    assert middle_two(values, centre, room=room) == by_sorting(np.abs(values - centre))
    np.testing.assert_array_equal(values, before)


def test_a_sample_that_misleads_is_found_out() -> None:
    """Every sampled value is large, all others are small."""
    n = 8 * SAMPLE
    step = n // SAMPLE + 1
    values = np.random.default_rng(0).random(n)
    values[step // 2 :: step] += 100.0
    assert middle_two(values) == by_sorting(values)
