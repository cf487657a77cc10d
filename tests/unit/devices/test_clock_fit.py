import numpy as np
import pytest

from gazelive.devices.recorder import ClockQueries

from ...support.manual_clock import ManualClock


class UnsteadyLink:
    """A tracker 25 ppm fast, whose answers now and then take long on the way back."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._random = np.random.default_rng(4)

    def tracker_time_us(self) -> int:
        asked_us = self.true_us(self._clock.now_s())
        self._clock.advance_s(0.02 if self._random.random() < 0.1 else 0.0001)
        return round(asked_us)

    @staticmethod
    def true_us(host_s: float) -> float:
        return 5e9 + host_s * 1e6 * (1 + 25e-6)


def test_slow_answers_do_not_spoil_the_fit():
    clock = ManualClock(1000.0)
    link, queries = UnsteadyLink(clock), ClockQueries(clock)
    assert queries.fit() is None
    queries.ask(link)
    assert queries.fit() is None, "one answer tells no drift"
    for _ in range(3000):
        clock.advance_s(0.1)
        queries.ask(link)
    fit = queries.fit()
    assert fit.n_queries == pytest.approx(300, abs=3), "asked once a second"
    assert fit.tracker_us_per_host_s == pytest.approx(1e6 * (1 + 25e-6), abs=1.0)
    for host_s in (1000.0, 1150.0, clock.now_s()):
        fitted_us = fit.tracker_reference_us + fit.tracker_us_per_host_s * (
            host_s - fit.host_reference_s
        )
        assert fitted_us == pytest.approx(link.true_us(host_s), abs=120)
    assert fit.residual_us > 100, "and what was wrong with the answers is told"


def test_a_tracker_time_becomes_the_hosts_by_the_surest_recent_answer():
    clock = ManualClock(1000.0)
    link, queries = UnsteadyLink(clock), ClockQueries(clock)
    assert queries.host_time_s(0) is None
    for _ in range(600):
        clock.advance_s(0.5)
        queries.ask(link)
        now_s = clock.now_s()
        if now_s > 1010:
            found_s = queries.host_time_s(round(link.true_us(now_s)))
            assert found_s == pytest.approx(now_s, abs=0.0003)
