"""Input that has no saccades in it, or is no input: each case has its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.detection import (
    Detection,
    EngbertKlieglParameters,
    OnlineDetector,
    detect_engbert_kliegl,
    detect_engbert_kliegl_binocular,
    detect_online,
    detect_settled,
)
from gazelive.detection.result import Outcome
from gazelive.errors import ConfigError, RecordingError

DETECTORS = [detect_settled, detect_online, detect_engbert_kliegl]
Detect = Callable[..., Detection]
N = 400
TIMES_US = np.arange(N) * 2000


def assert_finite(value: Any) -> None:
    """No NaN and no infinity anywhere in what was returned."""
    if isinstance(value, float):
        assert np.isfinite(value)
    elif isinstance(value, dict):
        for item in value.values():
            assert_finite(item)
    elif isinstance(value, list):
        for item in value:
            assert_finite(item)


def events_of(detection: Detection) -> Any:
    return msgspec.to_builtins([detection.saccades, detection.fixations, detection.blinks])


@pytest.mark.parametrize("detect", DETECTORS)
class TestOffline:
    def test_all_lost(self, detect: Detect) -> None:
        lost = np.full(N, np.nan)
        detection = detect(TIMES_US, lost, lost, 500.0)
        assert detection.outcome is Outcome.NO_GAZE
        assert detection.saccades == ()
        assert detection.fixations == ()
        assert [b.offset_us for b in detection.blinks] == [TIMES_US[-1]]
        assert_finite(events_of(detection))

    def test_constant_gaze(self, detect: Detect) -> None:
        detection = detect(TIMES_US, np.full(N, 3.0), np.full(N, -2.0), 500.0)
        assert detection.outcome is Outcome.CONSTANT_GAZE
        assert detection.saccades == ()
        (fixation,) = detection.fixations
        assert (fixation.x_deg, fixation.y_deg) == (3.0, -2.0)

    @pytest.mark.parametrize("n", [0, 1, 2, 4])
    def test_too_few_samples(self, detect: Detect, n: int) -> None:
        detection = detect(TIMES_US[:n], np.arange(n), np.arange(n), 500.0)
        assert detection.outcome is Outcome.TOO_SHORT
        assert detection.saccades == ()
        assert_finite(events_of(detection))

    def test_valid_samples_too_scattered(self, detect: Detect) -> None:
        x = np.where(np.arange(N) % 3 == 0, np.nan, 1.0 * np.arange(N))
        assert detect(TIMES_US, x, x, 500.0).outcome is Outcome.TOO_SHORT

    def test_nothing_found(self, detect: Detect) -> None:
        slow = np.sin(np.arange(N) / N) + np.random.default_rng(0).normal(0, 0.01, N)
        detection = detect(TIMES_US, slow, slow[::-1], 500.0)
        assert detection.outcome is Outcome.NOTHING_FOUND
        assert detection.thresholds_deg_s is not None

    def test_infinite_positions_are_lost(self, detect: Detect) -> None:
        random = np.random.default_rng(0)
        x, y = random.normal(0, 0.01, (2, N))
        x[100:110] = np.inf
        detection = detect(TIMES_US, x, y, 500.0)
        assert [b.onset_us for b in detection.blinks] == [TIMES_US[100]]
        assert_finite(events_of(detection))

    def test_rate_not_stated(self, detect: Detect) -> None:
        with pytest.raises(ConfigError, match="rate is not stated"):
            detect(TIMES_US, np.zeros(N), np.zeros(N), None)

    @pytest.mark.parametrize("rate", [0.0, -500.0, np.nan, np.inf, 30.0, 1e5])
    def test_impossible_rate(self, detect: Detect, rate: float) -> None:
        with pytest.raises(ConfigError, match="sampling_rate_hz"):
            detect(TIMES_US, np.zeros(N), np.zeros(N), rate)

    @pytest.mark.parametrize("step", [0, -2000])
    def test_time_that_does_not_increase(self, detect: Detect, step: int) -> None:
        times = TIMES_US.copy()
        times[7] = times[6] + step
        with pytest.raises(RecordingError, match="increase at sample 7"):
            detect(times, np.zeros(N), np.zeros(N), 500.0)

    def test_columns_of_different_length(self, detect: Detect) -> None:
        with pytest.raises(RecordingError, match="one length"):
            detect(TIMES_US, np.zeros(N), np.zeros(N - 1), 500.0)

    def test_the_input_is_left_alone(self, detect: Detect) -> None:
        x, y = np.zeros(N), np.zeros(N)
        x[5] = np.nan
        detect(TIMES_US, x, y, 500.0)
        assert y[5] == 0.0


class TestOnline:
    def test_rate_not_stated(self) -> None:
        with pytest.raises(ConfigError, match="rate is not stated"):
            OnlineDetector()

    def test_columns_of_different_length(self) -> None:
        with pytest.raises(RecordingError, match="one length"):
            OnlineDetector(sampling_rate_hz=500.0).push(TIMES_US, np.zeros(N), np.zeros(3))

    def test_columns_of_two_dimensions(self) -> None:
        with pytest.raises(RecordingError, match="one dimension"):
            OnlineDetector(sampling_rate_hz=500.0).push(TIMES_US, np.zeros((N, 2)), np.zeros(N))

    def test_nothing_at_all(self) -> None:
        detector = OnlineDetector(sampling_rate_hz=500.0)
        assert detector.push(TIMES_US[:0], np.empty(0), np.empty(0)) == []
        assert detector.flush() == []


def test_every_outcome_has_a_sentence() -> None:
    assert all(outcome.sentence.strip() for outcome in Outcome)


@given(
    seed=st.integers(0, 2**16),
    rate_hz=st.sampled_from([100.0, 250.0, 1000.0]),
    lost=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 999), st.integers(1, 60)), max_size=30
    ),
    shortest_ms=st.sampled_from([1.0, 6.0]),
)
def test_losses_in_either_eye_leave_no_end_empty(
    make_trace: Callable[..., Any],
    seed: int,
    rate_hz: float,
    lost: list[tuple[int, int, int]],
    shortest_ms: float,
) -> None:
    trace = make_trace(rate_hz=rate_hz, seconds=1000 / rate_hz, every_ms=40_000 / rate_hz)
    random = np.random.default_rng(seed)
    eyes = [
        position + random.normal(0, 0.01, 1000)
        for position in (trace.x_deg, trace.y_deg, trace.x_deg + 0.5, trace.y_deg - 0.5)
    ]
    for eye, first, n in lost:
        eyes[eye][first : first + n] = np.nan
    parameters = EngbertKlieglParameters(shortest_saccade_ms=shortest_ms, threshold_noise=3.0)
    both = detect_engbert_kliegl_binocular(trace.times_us, *eyes, rate_hz, parameters)
    left = detect_engbert_kliegl(trace.times_us, *eyes[:2], rate_hz, parameters)
    for detection in (both, left):
        assert_finite(events_of(detection))
        for saccade in detection.saccades:
            assert saccade.onset_us <= saccade.offset_us
            assert saccade.peak_velocity_deg_s > 0


def test_a_binocular_saccade_that_one_eye_begins_alone(make_trace: Callable[..., Any]) -> None:
    trace = make_trace(seconds=1.0, every_ms=5000.0, amplitudes_deg=(10.0,))
    left_x, left_y = trace.x_deg - 1.0, trace.y_deg.copy()
    right_x, right_y = trace.x_deg + 1.0, trace.y_deg.copy()
    (whole,) = detect_engbert_kliegl_binocular(
        trace.times_us, left_x, left_y, right_x, right_y, trace.rate_hz
    ).saccades
    first = int(trace.saccades[0, 0])
    left_x[first - 5 : first + 12] = np.nan
    (saccade,) = detect_engbert_kliegl_binocular(
        trace.times_us, left_x, left_y, right_x, right_y, trace.rate_hz
    ).saccades
    assert saccade.onset_us == whole.onset_us
    # half the distance between the eyes is no part of its amplitude
    moved, moved_whole = (s.end_x_deg - s.start_x_deg for s in (saccade, whole))
    assert moved == pytest.approx(moved_whole, abs=0.35)
