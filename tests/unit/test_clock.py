import time

import pytest

from gazelive.clock import Clock, MonotonicClock

from ..support.manual_clock import ManualClock


def test_a_manual_clock_moves_only_when_advanced():
    clock = ManualClock()
    assert clock.now_s() == 0
    clock.advance_s(1.5)
    assert clock.now_s() == 1.5
    clock.sleep_until_s(4.0)
    assert clock.now_s() == 4.0
    clock.sleep_until_s(2.0)
    assert clock.now_s() == 4.0
    with pytest.raises(ValueError, match="backwards"):
        clock.advance_s(-1)


def test_the_real_clock_never_returns_early():
    clock = MonotonicClock()
    for delay_s in (0.0, 0.0001, 0.002):
        deadline_s = clock.now_s() + delay_s
        clock.sleep_until_s(deadline_s)
        assert clock.now_s() >= deadline_s
    assert time.perf_counter() <= clock.now_s() <= time.perf_counter()


def test_both_fill_the_protocol():
    assert isinstance(ManualClock(), Clock)
    assert isinstance(MonotonicClock(), Clock)
