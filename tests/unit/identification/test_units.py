from hypothesis import given
from hypothesis import strategies as st

from gazelive.identification.units import LONGEST_UNIT, WINDOW, n_units, unit_windows


@given(n=st.integers(0, 1000), step=st.integers(1, 20))
def test_windows_cover_every_saccade_and_nothing_else(n, step):
    windows = unit_windows(n, step)
    assert {i for first, beyond in windows for i in range(first, beyond)} == set(range(n))
    for first, beyond in windows:
        assert 0 < beyond - first <= 3 * step
        assert first % step == 0
    assert all(beyond - first == 2 * step for first, beyond in windows[:-1])
    assert len(windows) <= 1 or windows[-1][1] - windows[-1][0] > 2 * step


def test_examples():
    assert unit_windows(0) == []
    assert unit_windows(LONGEST_UNIT) == [(0, 30)]
    assert unit_windows(31) == [(0, 20), (10, 31)]
    assert unit_windows(45) == [(0, 20), (10, 30), (20, 45)]
    assert n_units(30) == 1
    assert n_units(2 * WINDOW) == 2
