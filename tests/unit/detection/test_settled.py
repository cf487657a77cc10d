from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gazelive.detection import DetectorParameters, detect_online, detect_settled
from gazelive.detection.online.noise import noise_of_the_whole
from gazelive.detection.result import Outcome

Make = Callable[..., Any]


def test_what_was_used_is_stored(make_trace: Make) -> None:
    trace = make_trace()
    parameters = DetectorParameters(threshold_noise=7.0)
    detection = detect_settled(
        trace.times_us, trace.x_deg, trace.y_deg, trace.rate_hz, parameters, eye="R"
    )
    assert detection.parameters == parameters
    assert (detection.method, detection.eye, detection.sampling_rate_hz) == ("settled", "R", 1000.0)
    noise = noise_of_the_whole(
        trace.times_us, trace.x_deg, trace.y_deg, 1000.0, parameters, detection.saccade_samples
    )
    floor = parameters.threshold_floor_deg_s
    assert detection.thresholds_deg_s == tuple(max(7.0 * n, floor) for n in noise)
    assert detection.outcome is Outcome.FOUND
    assert {s.eye for s in detection.saccades} == {"R"}


def test_indices_point_at_the_samples_even_over_a_gap(make_trace: Make) -> None:
    trace = make_trace()
    keep = np.ones(len(trace.times_us), bool)
    keep[430:470] = False
    times, x, y = (a[keep] for a in (trace.times_us, trace.x_deg, trace.y_deg))
    detection = detect_settled(times, x, y, trace.rate_hz)
    assert len(detection.saccades) == len(trace.saccades)
    for (first, last), saccade in zip(detection.saccade_samples, detection.saccades, strict=True):
        assert (times[first], times[last]) == (saccade.onset_us, saccade.offset_us)
        assert (x[first], y[last]) == (saccade.start_x_deg, saccade.end_y_deg)
    assert [(b.onset_us, b.offset_us) for b in detection.blinks] == [(430_000, 469_000)]


def test_the_first_seconds_have_the_thresholds_of_the_whole(make_trace: Make) -> None:
    """Loud noise that the online detector has yet to learn makes no saccades here."""
    trace = make_trace(noise_deg=0.12, amplitudes_deg=(10.0,), seconds=6.0)
    arguments = trace.times_us, trace.x_deg, trace.y_deg, trace.rate_hz
    same_preset = DetectorParameters(white_noise_above_deg_s=0.0)
    settled, online = detect_settled(*arguments, same_preset), detect_online(*arguments)
    assert len(settled.saccades) == len(trace.saccades)
    assert settled.thresholds_deg_s == pytest.approx(online.thresholds_deg_s, rel=0.2)


def test_a_gap_in_time_is_not_taken_for_a_movement(make_trace: Make) -> None:
    trace = make_trace(seconds=1.0, every_ms=5000.0)
    trace.x_deg[600:] += 8.0
    trace.times_us[600:] += 50_000
    detection = detect_settled(trace.times_us, trace.x_deg, trace.y_deg, trace.rate_hz)
    assert len(detection.saccades) == 1
    assert detection.saccades[0].onset_us < 300_000


def test_saccades_before_a_loss_are_flagged(make_trace: Make) -> None:
    trace = make_trace(every_ms=400.0)
    trace.x_deg[trace.saccades[1, 1] + 80 : trace.saccades[1, 1] + 120] = np.nan
    detection = detect_settled(trace.times_us, trace.x_deg, trace.y_deg, trace.rate_hz)
    assert [s.near_loss for s in detection.saccades[:3]] == [False, True, False]


def test_delays_reach_to_the_end_of_the_interval(make_trace: Make) -> None:
    trace = make_trace()
    detection = detect_settled(trace.times_us, trace.x_deg, trace.y_deg, trace.rate_hz)
    for event in (*detection.saccades, *detection.fixations):
        assert event.detection_delay_ms == (trace.times_us[-1] - event.offset_us) / 1000


def test_saccades_are_no_noise(make_trace: Make) -> None:
    trace = make_trace(every_ms=120.0, amplitudes_deg=(8.0,), noise_deg=0.03)
    arguments = trace.times_us, trace.x_deg, trace.y_deg, 1000.0, DetectorParameters()
    of_all = noise_of_the_whole(*arguments)
    at_rest = noise_of_the_whole(*arguments, trace.saccades)
    still = make_trace(every_ms=9000.0, amplitudes_deg=(0.0,), noise_deg=0.03)
    alone = noise_of_the_whole(still.times_us, still.x_deg, still.y_deg, *arguments[3:])
    assert of_all[0] > 1.2 * alone[0]
    assert at_rest[0] == pytest.approx(alone[0], rel=0.1)
