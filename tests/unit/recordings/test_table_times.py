from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazelive.recordings.table_times import (
    NOMINAL_RATES_HZ,
    estimate_rate_hz,
    repair_times_us,
)


@given(st.sampled_from(NOMINAL_RATES_HZ), st.integers(50, 300), st.integers(0, 10**7))
def test_a_nominal_rate_is_found_again(rate_hz: int, n: int, start_ms: int) -> None:
    t_ms = np.round(start_ms + np.arange(n) * 1000 / rate_hz, 3)
    assert estimate_rate_hz(t_ms) == rate_hz


def test_jitter_and_gaps_do_not_matter() -> None:
    noise = np.random.default_rng(0).integers(-3, 4, 1000) / 1000
    t_ms = np.arange(1000) * 2.0 + noise
    t_ms[500:] += 700
    assert estimate_rate_hz(t_ms) == 500


def test_integer_milliseconds_at_2000_hz() -> None:
    t_ms = np.repeat(np.arange(100, 600.0), 2)
    assert estimate_rate_hz(t_ms) == 2000
    times_us, n_repaired = repair_times_us(t_ms, 2000)
    np.testing.assert_array_equal(times_us, 100_000 + 500 * np.arange(1000))
    assert n_repaired == 500


def test_an_odd_rate_stays_odd() -> None:
    assert estimate_rate_hz(np.arange(100) * (1000 / 277)) == pytest.approx(277, rel=1e-6)


@pytest.mark.parametrize("t_ms", [[], [5.0], [np.nan, np.nan], [3.0, 3.0, 3.0], [9.0, 5.0, 1.0]])
def test_no_rate_without_two_times(t_ms: list[float]) -> None:
    assert estimate_rate_hz(np.array(t_ms, float)) is None


def test_good_times_stay() -> None:
    t_ms = np.array([0.5, 1.0, 2.0, 700.25])
    times_us, n_repaired = repair_times_us(t_ms, 1000)
    np.testing.assert_array_equal(times_us, [500, 1000, 2000, 700250])
    assert n_repaired == 0


def test_missing_times_are_counted_from_their_neighbours() -> None:
    t_ms = np.array([np.nan, np.nan, 10.0, np.nan, 14.0, 13.0, 18.0])
    times_us, n_repaired = repair_times_us(t_ms, 500)
    np.testing.assert_array_equal(times_us, [6000, 8000, 10000, 12000, 14000, 16000, 18000])
    assert n_repaired == 4


def test_without_any_time_it_begins_at_zero() -> None:
    times_us, n_repaired = repair_times_us(np.full(3, np.nan), 250)
    np.testing.assert_array_equal(times_us, [0, 4000, 8000])
    assert n_repaired == 3


@given(st.lists(st.one_of(st.just(np.nan), st.floats(0, 1e6)), max_size=60))
def test_repaired_times_always_advance(values: list[float]) -> None:
    t_ms = np.array(values, float)
    times_us, n_repaired = repair_times_us(t_ms, 1000)
    assert (np.diff(times_us) > 0).all()
    kept = np.isfinite(t_ms) & (times_us == np.round(np.nan_to_num(t_ms) * 1000))
    assert n_repaired >= len(t_ms) - int(kept.sum())
