from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gazelive.detection import DetectorParameters, OnlineDetector, detect_online
from gazelive.detection.agreement import match_events
from gazelive.gaze.documents import Quality, Retraction, SaccadeOnset
from gazelive.gaze.events import Blink, Fixation, Saccade

Make = Callable[..., Any]


def run(trace: Any, chunk: int = 37, **settings: Any) -> list[Any]:
    detector = OnlineDetector(sampling_rate_hz=trace.rate_hz, **settings)
    outputs = []
    for i in range(0, len(trace.times_us), chunk):
        outputs += detector.push(
            trace.times_us[i : i + chunk], trace.x_deg[i : i + chunk], trace.y_deg[i : i + chunk]
        )
    return outputs + detector.flush()


def only(outputs: list[Any], kind: type) -> list[Any]:
    return [o for o in outputs if isinstance(o, kind)]


@pytest.mark.parametrize("rate_hz", [250.0, 500.0, 1000.0, 2000.0])
def test_finds_every_saccade_at_every_rate(make_trace: Make, rate_hz: float) -> None:
    trace = make_trace(rate_hz=rate_hz, amplitudes_deg=(1.0, 5.0, 12.0), seconds=4.0)
    outputs = run(trace)
    saccades = only(outputs, Saccade)
    found = np.searchsorted(trace.times_us, [(s.onset_us, s.offset_us) for s in saccades])
    assert len(found) == len(trace.saccades)
    assert len(match_events(trace.saccades, found)) == len(trace.saccades)
    error_ms = (found - trace.saccades) * 1000 / rate_hz
    # a minimum-jerk movement begins and ends at zero velocity, so the edges are cut a little
    assert np.all(np.abs(error_ms) <= 10)
    assert len(only(outputs, SaccadeOnset)) == len(trace.saccades)
    assert only(outputs, Quality) == []


def test_triggers_within_milliseconds_and_confirms_after(make_trace: Make) -> None:
    trace = make_trace(amplitudes_deg=(8.0,))
    outputs = run(trace, chunk=1)
    for onset, saccade in zip(only(outputs, SaccadeOnset), only(outputs, Saccade), strict=True):
        assert onset.detection_delay_ms == 4.0
        assert abs(onset.onset_us - saccade.onset_us) <= 3000
        assert outputs.index(onset) < outputs.index(saccade)
        assert 0 < saccade.detection_delay_ms <= 8
        assert onset.confidence == 0.9
        assert 0.9 < saccade.confidence < 1.0


def test_fixations_fill_what_lies_between_saccades(make_trace: Make) -> None:
    trace = make_trace()
    outputs = run(trace, eye="L")
    events = sorted(only(outputs, Saccade) + only(outputs, Fixation), key=lambda e: e.onset_us)
    assert events[0].onset_us == trace.times_us[0]
    assert events[-1].offset_us == trace.times_us[-1]
    for before, after in itertools.pairwise(events):
        assert after.onset_us - before.offset_us == 1000
        assert type(before) is not type(after)
    for fixation in only(outputs, Fixation):
        inside = (trace.times_us >= fixation.onset_us) & (trace.times_us <= fixation.offset_us)
        assert fixation.x_deg == pytest.approx(trace.x_deg[inside].mean(), abs=1e-9)
        assert fixation.y_deg == pytest.approx(trace.y_deg[inside].mean(), abs=1e-9)
        assert fixation.confidence > 0.9
        assert fixation.eye == "L"


def test_a_loss_right_after_a_saccade_retracts_it(make_trace: Make) -> None:
    trace = make_trace(seconds=1.0, every_ms=400.0)
    first_end = trace.saccades[0, 1]
    trace.x_deg[first_end + 20 : first_end + 150] = np.nan
    outputs = run(trace)
    first, second = only(outputs, Saccade)
    (retraction,) = only(outputs, Retraction)
    assert retraction.onset_us == first.onset_us
    assert outputs.index(first) < outputs.index(retraction) < outputs.index(second)
    detection = detect_online(trace.times_us, trace.x_deg, trace.y_deg, trace.rate_hz)
    assert [s.onset_us for s in detection.saccades] == [second.onset_us]


@pytest.mark.parametrize("after_ms", [10, 20, 38, 60])
def test_retractions_come_within_their_reach(make_trace: Make, after_ms: int) -> None:
    parameters = DetectorParameters()
    trace = make_trace(seconds=1.0, every_ms=2000.0)
    (saccade,) = only(run(trace), Saccade)
    lost = int(saccade.offset_us / 1000) + after_ms
    trace.x_deg[lost : lost + 100] = np.nan
    detector = OnlineDetector(sampling_rate_hz=1000.0)
    known_us = [
        trace.times_us[i]
        for i in range(len(trace.times_us))
        for output in detector.push(
            *(a[i : i + 1] for a in (trace.times_us, trace.x_deg, trace.y_deg))
        )
        if isinstance(output, Retraction)
    ]
    assert len(known_us) == (after_ms <= parameters.loss_retracts_ms)
    # a loss is known to be no dropout when it is too long for one
    reach_us = 1000 * (parameters.loss_retracts_ms + parameters.dropout_ms)
    assert all(t <= saccade.offset_us + reach_us for t in known_us)


def test_a_later_loss_retracts_nothing_but_ends_the_fixation(make_trace: Make) -> None:
    trace = make_trace(seconds=1.0, every_ms=400.0)
    start = trace.saccades[0, 1] + 100
    trace.y_deg[start : start + 100] = np.nan
    outputs = run(trace)
    assert only(outputs, Retraction) == []
    (blink,) = only(outputs, Blink)
    assert blink.cause == "blink"
    assert (blink.onset_us, blink.offset_us) == (start * 1000, (start + 99) * 1000)
    assert blink.detection_delay_ms == 1.0
    assert start * 1000 - 1000 in [f.offset_us for f in only(outputs, Fixation)]
    assert (start + 100) * 1000 in [f.onset_us for f in only(outputs, Fixation)]


def test_a_short_dropout_is_no_blink_and_ends_no_fixation(make_trace: Make) -> None:
    trace = make_trace(seconds=0.6, every_ms=1000.0)
    trace.x_deg[450:455] = np.nan
    outputs = run(trace)
    assert [b.cause for b in only(outputs, Blink)] == ["loss"]
    assert len(only(outputs, Fixation)) == 2
    assert only(outputs, Fixation)[1].offset_us == trace.times_us[-1]


def test_the_jump_back_after_a_blink_is_no_saccade(make_trace: Make) -> None:
    trace = make_trace(seconds=1.0, every_ms=2000.0)
    trace.x_deg[500:600] = np.nan
    trace.y_deg[600:630] += np.linspace(6, 0, 30)  # the lid opens
    assert len(only(run(trace), Saccade)) == 1


def test_a_saccade_soon_after_a_blink_is_found_once_gaze_was_quiet(make_trace: Make) -> None:
    trace = make_trace(seconds=1.0, every_ms=2000.0, amplitudes_deg=(5.0,))
    trace.x_deg[80:150] = np.nan  # 50 ms before the saccade
    (saccade,) = only(run(trace), Saccade)
    assert saccade.near_loss


def test_oscillation_after_a_saccade_is_not_another_saccade(make_trace: Make) -> None:
    trace = make_trace(seconds=1.0, every_ms=2000.0, amplitudes_deg=(10.0,))
    end = trace.saccades[0, 1]
    t_ms = np.arange(len(trace.x_deg) - end)
    trace.x_deg[end:] += 0.8 * np.exp(-t_ms / 15) * np.sin(2 * np.pi * t_ms / 25)
    assert len(only(run(trace), Saccade)) == 1


def test_a_saccade_that_the_end_cuts_is_kept(make_trace: Make) -> None:
    trace = make_trace(seconds=1.0, every_ms=2000.0, amplitudes_deg=(15.0,))
    cut = trace.saccades[0, 0] + 30
    trace.times_us, trace.x_deg, trace.y_deg = (
        a[:cut] for a in (trace.times_us, trace.x_deg, trace.y_deg)
    )
    (saccade,) = only(run(trace), Saccade)
    assert saccade.offset_us == trace.times_us[-1]


def test_a_lone_spike_triggers_nothing(make_trace: Make) -> None:
    trace = make_trace(seconds=1.0, every_ms=5000.0)
    trace.x_deg[600] += 3.0
    outputs = run(trace)
    assert len(only(outputs, SaccadeOnset)) == 1
    assert len(only(outputs, Saccade)) == 1


def test_bad_time_is_told_and_survived(make_trace: Make) -> None:
    trace = make_trace()
    times = trace.times_us.copy()
    times[100] = times[99]
    times[300] = times[298]
    times[600:] += 10_000
    trace.times_us = times
    outputs = run(trace)
    problems = only(outputs, Quality)
    assert [p.kind for p in problems] == [
        "duplicate",
        "time_gap",
        "time_order",
        "time_gap",
        "time_gap",
    ]
    assert problems[-1].value == 11.0
    assert [(b.onset_us, b.offset_us) for b in only(outputs, Blink)][-1] == (600_000, 609_000)
    assert len(only(outputs, Saccade)) == len(trace.saccades)


def test_flush_keeps_the_noise_and_reset_forgets_it(make_trace: Make) -> None:
    trace = make_trace(noise_deg=0.05)
    detector = OnlineDetector(sampling_rate_hz=trace.rate_hz)
    fresh = detector.noise_deg_s
    detector.push(trace.times_us, trace.x_deg, trace.y_deg)
    learned = detector.noise_deg_s
    assert learned != fresh
    assert detector.thresholds_deg_s == tuple(9.0 * n for n in learned)
    detector.flush()
    assert detector.noise_deg_s == learned
    # time may start anew after flush: it is another recording block
    assert only(detector.push(trace.times_us, trace.x_deg, trace.y_deg), Quality) == []
    detector.reset()
    assert detector.noise_deg_s == fresh


def test_other_types_are_converted_not_compiled(make_trace: Make) -> None:
    trace = make_trace(seconds=1.0)
    expected = run(trace)
    detector = OnlineDetector(sampling_rate_hz=trace.rate_hz)
    interleaved = np.column_stack((trace.x_deg, trace.y_deg))
    outputs = detector.push(list(trace.times_us), interleaved[:, 0], interleaved[:, 1])
    assert outputs + detector.flush() == expected


def test_more_findings_than_fit_into_one_buffer() -> None:
    n = 4000
    x = np.where(np.arange(n) % 2 == 0, np.nan, 0.0)
    detector = OnlineDetector(sampling_rate_hz=1000.0)
    outputs = detector.push(np.arange(n) * 1000, x, x) + detector.flush()
    assert len(only(outputs, Blink)) == n // 2


def test_noise_follows_the_recording(make_trace: Make) -> None:
    quiet, loud = make_trace(noise_deg=0.005), make_trace(noise_deg=0.1)
    thresholds = []
    for trace in (quiet, loud):
        detector = OnlineDetector(sampling_rate_hz=1000.0)
        detector.push(trace.times_us, trace.x_deg, trace.y_deg)
        thresholds.append(detector.thresholds_deg_s[0])
    assert thresholds[0] < 30 < thresholds[1]


def test_spikes_are_mended_and_make_no_saccade(make_trace: Make) -> None:
    clean = make_trace(seconds=4.0)
    spiked = make_trace(seconds=4.0)
    random = np.random.default_rng(0)
    for index in random.integers(0, 4000, 40):
        spiked.x_deg[index] += random.choice([-2.0, 2.0])
    saccades = [only(run(trace), Saccade) for trace in (clean, spiked)]
    assert len(saccades[1]) == len(saccades[0])
    for a, b in zip(*saccades, strict=True):
        assert abs(a.onset_us - b.onset_us) <= 4000
        assert abs(a.offset_us - b.offset_us) <= 4000


def test_a_dropout_inside_a_saccade_is_bridged(make_trace: Make) -> None:
    trace = make_trace(seconds=0.6, every_ms=1000.0, amplitudes_deg=(10.0,))
    middle = trace.saccades[0].mean().astype(int)
    trace.x_deg[middle : middle + 6] = np.nan
    outputs = run(trace)
    (saccade,) = only(outputs, Saccade)
    assert saccade.near_loss
    assert saccade.end_x_deg - saccade.start_x_deg == pytest.approx(
        trace.x_deg[-50:].mean() - trace.x_deg[:50].mean(), abs=0.3
    )
    (loss,) = only(outputs, Blink)
    assert (loss.onset_us, loss.offset_us) == (middle * 1000, middle * 1000 + 5000)


@pytest.mark.parametrize("n_missing", [1, 3, 6, 8])
def test_a_gap_in_time_is_bridged_as_lost_samples_are(make_trace: Make, n_missing: int) -> None:
    trace = make_trace(seconds=0.6, every_ms=1000.0, amplitudes_deg=(10.0,))
    middle = trace.saccades[0].mean().astype(int)
    gap = slice(middle, middle + n_missing)
    lost = make_trace(seconds=0.6, every_ms=1000.0, amplitudes_deg=(10.0,))
    lost.x_deg[gap] = np.nan
    for name in ("times_us", "x_deg", "y_deg"):
        setattr(trace, name, np.delete(getattr(trace, name), gap))
    outputs = run(trace)
    assert [o for o in outputs if not isinstance(o, Quality)] == run(lost)
    assert len(only(outputs, Saccade)) == 1
    (told,) = only(outputs, Quality)
    assert (told.kind, told.value) == ("time_gap", n_missing + 1.0)


def test_a_time_far_ahead_takes_no_time(make_trace: Make) -> None:
    trace = make_trace(seconds=0.6)
    trace.times_us[-1] = 10**17
    blink = only(run(trace), Blink)[-1]
    assert (blink.onset_us, blink.offset_us) == (trace.times_us[-2] + 1000, 10**17 - 1000)


def test_dropouts_in_quick_succession_are_a_loss(make_trace: Make) -> None:
    trace = make_trace(seconds=0.6, every_ms=1000.0, amplitudes_deg=(10.0,))
    middle = trace.saccades[0].mean().astype(int)
    trace.x_deg[middle - 16 : middle - 12] = np.nan
    trace.x_deg[middle : middle + 4] = np.nan
    assert only(run(trace), Saccade) == []
