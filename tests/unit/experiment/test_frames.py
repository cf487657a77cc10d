from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.experiment.display.frames import (
    FrameLog,
    FramePacer,
    FrameSummary,
    measured_frame_s,
    summarise_intervals,
)

from ...support.manual_clock import ManualClock

FRAME_S = 1 / 60
intervals = st.lists(st.floats(0.001, 0.2), max_size=40)
trials = st.lists(intervals, max_size=5)


def log_of(trials: list[list[float]]) -> tuple[FrameLog, list[FrameSummary]]:
    log, now_s, summaries = FrameLog(FRAME_S), 100.0, []
    for intervals_s in trials:
        log.start_trial()
        log.add(now_s)
        for interval_s in intervals_s:
            now_s += interval_s
            log.add(now_s)
        summaries.append(log.stop_trial())
        now_s += 3.0  # the window rests
        log.add(now_s)
    return log, summaries


@given(trials)
def test_every_interval_of_a_trial_counts_and_none_between_trials(
    trials: list[list[float]],
) -> None:
    log, summaries = log_of(trials)
    assert [summary.n for summary in summaries] == [len(trial) for trial in trials]
    assert log.session.n == sum(len(trial) for trial in trials)
    assert log.session.dropped == sum(summary.dropped for summary in summaries)
    assert log.session.worst_ms == max((summary.worst_ms for summary in summaries), default=0)
    assert log.session.worst_ms <= 200.001


@given(intervals)
def test_a_summary_equals_numpy(intervals_s: list[float]) -> None:
    summary = summarise_intervals(intervals_s, FRAME_S)
    assert summary.n == len(intervals_s)
    assert summary.dropped == sum(interval_s > 1.5 * FRAME_S for interval_s in intervals_s)
    if intervals_s:
        assert summary.worst_ms == pytest.approx(max(intervals_s) * 1e3)
        assert summary.median_ms == pytest.approx(float(np.median(intervals_s)) * 1e3)


def test_a_trial_that_runs_is_part_of_the_session() -> None:
    log = FrameLog(FRAME_S)
    log.start_trial()
    for flip in range(4):
        log.add(flip * FRAME_S)
    assert log.trial.n == log.session.n == 3
    assert log.stop_trial() == log.stop_trial() == log.session
    log.start_trial()
    assert log.trial == FrameSummary(n=0, dropped=0, worst_ms=0.0, median_ms=0.0)
    assert log.session.n == 3


def test_a_new_trial_ends_the_one_before() -> None:
    log = FrameLog(FRAME_S)
    log.start_trial()
    log.add(0.0)
    log.add(0.02)
    log.start_trial()
    log.add(1.0)
    log.add(1.1)
    log.stop_trial()
    assert log.session == FrameSummary(
        n=2, dropped=1, worst_ms=pytest.approx(100), median_ms=pytest.approx(60)
    )


def test_the_duration_of_a_frame_is_positive() -> None:
    with pytest.raises(ValueError, match="must be positive"):
        FrameLog(0)


@given(st.floats(24, 240), st.lists(st.floats(0, 0.03), min_size=9, max_size=60), st.floats(0, 1e6))
def test_paced_frames_lie_on_one_grid_and_never_come_early(
    rate_hz: float, work_s: list[float], start_s: float
) -> None:
    """Whatever time drawing takes; a frame that is missed is the next one's time."""
    clock = ManualClock(start_s)
    pacer = FramePacer(1 / rate_hz, clock)
    flips_s = []
    for busy_s in work_s:
        clock.advance_s(busy_s)
        asked_s = clock.now_s()
        pacer.wait()
        assert asked_s <= clock.now_s() <= asked_s + 1 / rate_hz + 1e-9
        flips_s.append(clock.now_s())
    frames = (np.array(flips_s) - start_s) * rate_hz
    np.testing.assert_allclose(frames, np.round(frames), atol=1e-3)
    assert (np.diff(np.round(frames)) >= 1).all()


def test_paced_frames_do_not_drift() -> None:
    clock = ManualClock()
    pacer = FramePacer(FRAME_S, clock)
    for _ in range(60_000):
        clock.advance_s(0.004)
        pacer.wait()
    assert clock.now_s() == pytest.approx(1000.0, abs=1e-6)


def test_a_frame_is_measured_on_a_synchronised_screen() -> None:
    rng = np.random.default_rng(1)
    flips_s = np.arange(31) / 59.95 + rng.normal(0, 2e-4, 31)
    flips_s[20:] += 0.2  # one that was late
    assert measured_frame_s(flips_s, [60.0]) == pytest.approx(1 / 59.95, rel=0.01)
    assert measured_frame_s(flips_s, [144.0, 59.0]) is not None
    assert measured_frame_s(flips_s, [144.0, 0.0]) is None


@pytest.mark.parametrize("flips_s", [[], [1.0], [1.0, 1.0, 1.0], list(np.arange(30) / 1900)])
def test_without_a_screen_no_frame_is_measured(flips_s: list[float]) -> None:
    assert measured_frame_s(flips_s, [60.0]) is None
