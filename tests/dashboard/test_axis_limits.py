import math

import pytest
from hypothesis import given, strategies as st

from gazelive.dashboard.state.axis_limits import round_step, round_ticks, steady_limits

values = st.floats(-1e4, 1e4)


@given(values, values, st.none() | st.tuples(values, st.floats(0.1, 1e4)))
def test_limits_contain_the_data_and_are_tight(one, other, before):
    low, high = min(one, other), max(one, other)
    previous = None if before is None else (before[0], before[0] + before[1])
    limits = steady_limits(low, high, previous, 1.0)
    assert limits[0] <= low <= high <= limits[1]
    assert limits[1] - limits[0] <= 10 * max(high - low, 1.0)


def test_limits_change_only_if_necessary():
    limits = steady_limits(-4, 4, None, 2)
    assert steady_limits(-3, 4, limits, 2) == limits
    wider = steady_limits(-3, 40, limits, 2)
    assert wider != limits
    assert steady_limits(-1, 2, wider, 2) != wider, "much too wide"
    assert steady_limits(math.nan, math.nan, wider, 2) == wider
    assert steady_limits(math.nan, math.nan, None, 2) == (0, 2)


@given(st.floats(1e-3, 1e6), st.integers(1, 12))
def test_steps_are_round_and_few(span, most):
    step = round_step(span, most)
    assert span / step <= most * (1 + 1e-6)
    assert round(step / 10 ** math.floor(math.log10(step) + 1e-9), 6) in (1, 2, 5, 10)


def test_ticks_lie_inside_and_away_from_the_edges():
    assert round_ticks((0, 10), 5) == [0, 2, 4, 6, 8, 10]
    assert round_ticks((0, 10), 5, 0.05) == [2, 4, 6, 8]
    assert round_ticks((-5, 0), 5) == pytest.approx([-5, -4, -3, -2, -1, 0])
