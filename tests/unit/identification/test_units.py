import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazelive.identification.units import (
    LONGEST_UNIT,
    STEP,
    WINDOW,
    n_units,
    unit_weight,
    unit_windows,
)


@given(n=st.integers(0, 1000))
def test_windows_cover_every_saccade_and_nothing_else(n):
    windows = unit_windows(n)
    assert {i for first, beyond in windows for i in range(first, beyond)} == set(range(n))
    for first, beyond in windows:
        assert 0 < beyond - first <= LONGEST_UNIT
        assert n <= LONGEST_UNIT or WINDOW <= beyond - first < WINDOW + STEP
        assert first % STEP == 0


@given(n=st.integers(1, 1000))
def test_weighted_windows_count_every_saccade_once(n):
    shared = sum(beyond - first for first, beyond in unit_windows(n))
    assert shared * unit_weight(n) == pytest.approx(n)


def test_examples():
    assert unit_windows(30) == [(0, 30)]
    assert unit_windows(31) == [(0, 20), (10, 31)]
    assert unit_windows(40) == [(0, 20), (10, 30), (20, 40)]
    assert n_units(30) == 1
    assert n_units(40) == 2
