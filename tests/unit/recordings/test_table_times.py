from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from gazelive.recordings.tables.times import (
    LONELY_MS,
    NOMINAL_RATES_HZ,
    estimate_rate_hz,
    other_unit,
    repair_times_us,
    restarts,
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
    repaired = repair_times_us(t_ms, 2000)
    np.testing.assert_array_equal(repaired.times_us, 100_000 + 500 * np.arange(1000))
    assert repaired.repaired.sum() == 500


@pytest.mark.parametrize("rate_hz", [120, 300, 600])
def test_integer_milliseconds_of_fractional_steps(rate_hz: int) -> None:
    assert estimate_rate_hz(np.floor(np.arange(500) * 1000 / rate_hz)) == rate_hz


@given(st.integers(0, 199), st.floats(-1e9, 1e9))
def test_one_wild_time_does_not_change_the_rate(row: int, wild_ms: float) -> None:
    t_ms = np.arange(200.0) * 4
    t_ms[row] = wild_ms
    assert estimate_rate_hz(t_ms) == 250


def test_an_odd_rate_stays_odd() -> None:
    assert estimate_rate_hz(np.arange(100) * (1000 / 277)) == pytest.approx(277, rel=1e-6)


@pytest.mark.parametrize("t_ms", [[], [5.0], [np.nan, np.nan], [3.0, 3.0, 3.0], [9.0, 5.0, 1.0]])
def test_no_rate_without_two_times(t_ms: list[float]) -> None:
    assert estimate_rate_hz(np.array(t_ms, float)) is None


def test_good_times_stay() -> None:
    t_ms = np.array([0.5, 1.0, 2.0, 700.25])
    repaired = repair_times_us(t_ms, 1000)
    np.testing.assert_array_equal(repaired.times_us, [500, 1000, 2000, 700250])
    assert repaired.kept.all()
    assert not repaired.repaired.any()


def test_missing_times_are_those_of_their_places() -> None:
    t_ms = np.array([np.nan, np.nan, 10.0, np.nan, 14.0, 13.0, 18.0, np.nan])
    repaired = repair_times_us(t_ms, 500)
    np.testing.assert_array_equal(
        repaired.times_us, [6000, 8000, 10000, 12000, 14000, 16000, 18000, 20000]
    )
    np.testing.assert_array_equal(np.flatnonzero(repaired.repaired), [0, 1, 3, 5, 7])


def test_without_any_time_it_begins_at_zero() -> None:
    repaired = repair_times_us(np.full(3, np.nan), 250)
    np.testing.assert_array_equal(repaired.times_us, [0, 4000, 8000])
    assert repaired.repaired.all()


@given(st.lists(st.one_of(st.just(np.nan), st.floats(-1e6, 1e6)), max_size=60))
def test_mended_times_always_advance(values: list[float]) -> None:
    t_ms = np.array(values, float)
    repaired = repair_times_us(t_ms, 1000)
    assert len(repaired.times_us) == repaired.kept.sum()
    assert (np.diff(repaired.times_us) > 0).all()
    untouched = repaired.kept & ~repaired.repaired
    np.testing.assert_array_equal(
        repaired.times_us[untouched[repaired.kept]], np.round(t_ms[untouched] * 1000)
    )


@given(
    st.sampled_from([120.0, 250.0, 1000.0, 2000.0]),
    st.integers(12, 80),
    st.integers(0, 10**9),
    st.one_of(st.just(np.nan), st.just(np.inf), st.floats(-1e12, 1e12)),
    st.data(),
)
def test_one_wild_time_moves_no_other_row(
    rate_hz: float, n: int, start_ms: int, wild_ms: float, data: st.DataObject
) -> None:
    t_ms = np.round(start_ms + np.arange(n) * 1000 / rate_hz, 3)
    row = data.draw(st.integers(0, n - 1))
    # a lone time at an end may be the truth unless it is far off
    assume(0 < row < n - 1 or not abs(wild_ms - t_ms[row]) < 2 * LONELY_MS)
    damaged = t_ms.copy()
    damaged[row] = wild_ms
    repaired = repair_times_us(damaged, rate_hz)
    truth_us = np.round(t_ms * 1000)
    assert repaired.kept[np.arange(n) != row].sum() >= n - 2  # a neighbour may look as wild
    error_us = np.abs(repaired.times_us - truth_us[repaired.kept])
    assert error_us.max() <= 1e6 / rate_hz + 1
    assert (error_us > 1).sum() <= 2


def test_a_time_that_repeats_has_no_place() -> None:
    t_ms = np.array([0.0, 2, 4, 4, 6, 8, 10, 12, 14, 16])
    repaired = repair_times_us(t_ms, 500)
    np.testing.assert_array_equal(repaired.times_us, np.arange(0, 18000, 2000))
    np.testing.assert_array_equal(np.flatnonzero(~repaired.kept), [3])


class TestRestarts:
    def test_of_every_trial(self) -> None:
        t_ms = np.concatenate([np.arange(50.0), np.arange(30.0), np.arange(40.0)])
        assert restarts(t_ms) == [50, 80]

    def test_with_wild_times_among_them(self) -> None:
        t_ms = np.concatenate([np.arange(100.0), np.arange(100.0)])
        t_ms[[30, 120, 150]] = 1e6, -7, np.nan
        assert restarts(t_ms) == [100]

    def test_a_few_damaged_times_are_no_restart(self) -> None:
        t_ms = np.arange(500.0)
        t_ms[[100, 200, 300]] = 0, 1e9, 5
        assert restarts(t_ms) == []


class TestOtherUnit:
    @given(st.floats(25, 2400))
    def test_follows_from_the_steps(self, rate_hz: float) -> None:
        t_s = np.arange(40) / rate_hz
        assert other_unit(t_s * 1e3) is None
        for unit, factor in (("seconds", 1.0), ("microseconds", 1e6), ("nanoseconds", 1e9)):
            found = other_unit(t_s * factor)
            assert found is not None
            assert found[0] == unit

    def test_microseconds_since_1970(self) -> None:
        assert other_unit(1.7e15 + np.arange(40) * 1000.0) == ("microseconds", 1e-3)

    def test_a_rate_that_fits_is_believed(self) -> None:
        assert other_unit(np.arange(40) * 1000.0, 1.0) is None
