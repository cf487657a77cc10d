from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.detection import DetectorOutput, OnlineDetector, Trace, TracedDetector
from gazelive.gaze import SaccadeOnset

from ...support.traces import Trace as MadeGaze, make_trace


def spoiled_gaze() -> MadeGaze:
    """Return gaze with losses of many durations, a gap in time and samples out of order."""
    gaze = make_trace(seconds=4.0, amplitudes_deg=(0.7, 5.0, 12.0))
    for start, n in ((350, 3), (600, 15), (1000, 60), (1430, 700), (2650, 1), (2655, 7)):
        gaze.x_deg[start : start + n] = np.nan
    gaze.times_us[2800:] += 45_000
    gaze.times_us[3000] -= 5000
    gaze.times_us[3100] = gaze.times_us[3099]
    return gaze


def traced(gaze: MadeGaze, edges: list[int]) -> tuple[list[DetectorOutput], Trace]:
    detector = TracedDetector(sampling_rate_hz=gaze.rate_hz)
    outputs: list[DetectorOutput] = []
    traces = []
    for start, stop in zip([0, *edges], [*edges, len(gaze.times_us)], strict=True):
        part = slice(start, stop)
        found, trace = detector.trace(gaze.times_us[part], gaze.x_deg[part], gaze.y_deg[part])
        outputs += found
        traces.append(trace)
    return outputs + detector.flush(), np.concatenate(traces)


def test_finds_what_the_online_detector_finds() -> None:
    gaze = spoiled_gaze()
    detector = OnlineDetector(sampling_rate_hz=gaze.rate_hz)
    expected = detector.push(gaze.times_us, gaze.x_deg, gaze.y_deg) + detector.flush()
    assert traced(gaze, [])[0] == expected


@given(st.lists(st.integers(0, 4000), max_size=30))
@settings(max_examples=30, deadline=None)
def test_the_trace_does_not_depend_on_the_chunks(edges: list[int]) -> None:
    gaze = spoiled_gaze()
    outputs, trace = traced(gaze, sorted(edges))
    expected_outputs, expected = traced(gaze, [])
    assert outputs == expected_outputs
    for name in expected.dtype.names or ():
        np.testing.assert_array_equal(trace[name], expected[name])


def test_a_movement_begins_at_its_trigger_and_leaves_where_gaze_was() -> None:
    gaze = make_trace(seconds=2.0)
    outputs, trace = traced(gaze, [])
    onsets = [output for output in outputs if isinstance(output, SaccadeOnset)]
    assert len(onsets) == len(gaze.saccades)
    for k, onset in enumerate(onsets, start=1):
        at = np.flatnonzero(trace["movement"] == k)
        assert gaze.times_us[at[0]] == onset.onset_us + round(1000 * onset.detection_delay_ms)
        assert np.array_equal(at, np.arange(at[0], at[-1] + 1))
        assert np.all(trace["onset_us"][at] == onset.onset_us)
        start, end = gaze.saccades[k - 1]
        dx = gaze.x_deg[at[-1]] - gaze.x_deg[start - 20 : start].mean()
        assert trace["dx_deg"][at[-1]] == pytest.approx(dx, abs=0.05)
        assert at[-1] > end


def test_a_movement_does_not_outlast_a_loss() -> None:
    gaze = make_trace(seconds=1.0)
    start = gaze.saccades[0, 0] + 15
    gaze.x_deg[start : start + 12] = np.nan
    _, trace = traced(gaze, [])
    assert trace["movement"][start - 1] == 1
    assert np.all(trace["movement"][start + 20 : gaze.saccades[1, 0]] == 0)


def test_says_since_when_gaze_rests_or_is_lost() -> None:
    gaze = make_trace(seconds=1.0)
    gaze.x_deg[400:460] = np.nan
    outputs, trace = traced(gaze, [])
    del outputs
    assert trace["resting_since_us"][100] == gaze.times_us[0]
    assert trace["resting_since_us"][gaze.saccades[0, 1] - 5] == -1
    assert trace["lost_since_us"][399] == -1
    assert trace["lost_since_us"][420] == gaze.times_us[400]
    assert trace["resting_since_us"][480] == gaze.times_us[460]
