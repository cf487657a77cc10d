import math

import pytest
from hypothesis import given, strategies as st

from gazelive.devices.pacing import Pace

from ...support.manual_clock import ManualClock


def test_it_stands_still_until_it_is_run():
    clock = ManualClock(100.0)
    pace = Pace(clock, position_us=7.0)
    clock.advance_s(5.0)
    assert pace.position_us() == 7.0
    assert pace.reached_s(8.0) == math.inf
    assert pace.reached_s(7.0) <= clock.now_s()


def test_a_change_of_rate_holds_from_the_moment_it_is_made():
    clock = ManualClock(10.0)
    pace = Pace(clock)
    pace.run(2.0)
    clock.advance_s(3.0)
    assert pace.position_us() == pytest.approx(6e6)
    assert pace.reached_s(10e6) == pytest.approx(15.0)
    pace.run(0.0)
    clock.advance_s(60.0)
    pace.run(0.5)
    clock.advance_s(4.0)
    assert pace.position_us() == pytest.approx(8e6)
    assert pace.position_us(at_s=clock.now_s() - 2.0) == pytest.approx(7e6)
    assert pace.position_us(at_s=0.0) == pytest.approx(6e6), "not earlier than the last change"
    pace.run(1.0, position_us=1e6)
    assert pace.position_us() == 1e6


@given(
    start_s=st.floats(0, 1e6),
    rate=st.floats(0.01, 1000),
    target_us=st.integers(1, 86_400_000_000),
)
def test_a_target_is_reached_within_half_a_microsecond(start_s, rate, target_us):
    clock = ManualClock(start_s)
    pace = Pace(clock)
    pace.run(rate)
    clock.sleep_until_s(pace.reached_s(target_us))
    assert abs(pace.position_us() - target_us) < 0.5
