"""For a lab that has an EyeLink: what only the real one can tell. See docs/eyelink.md.

    GAZELIVE_EYELINK=100.1.1.1 pytest -m hardware tests/hardware -s

Nothing is connected to unless that variable says where the tracker is.
"""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from gazelive.clock import MonotonicClock
from gazelive.devices.clock_fit import ClockQueries
from gazelive.devices.eyelink import EyeLinkDevice, EyeLinkSettings
from gazelive.gaze.quality_messages import told_quality
from gazelive.gaze.samples import EYE_FIELDS
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.edf import read_edf

pytestmark = [pytest.mark.hardware, pytest.mark.timeout(900)]

RATE_HZ = float(os.environ.get("GAZELIVE_EYELINK_RATE", "1000"))
EYES = os.environ.get("GAZELIVE_EYELINK_EYES", "R")


@pytest.fixture
def clock():
    return MonotonicClock()


@pytest.fixture
def device(clock):
    address = os.environ.get("GAZELIVE_EYELINK")
    if not address:
        pytest.skip("set GAZELIVE_EYELINK to the Host PC's address, such as 100.1.1.1")
    settings = EyeLinkSettings(
        address=address,
        screen=PAPER_SCREEN,
        sampling_rate_hz=RATE_HZ,
        eyes=EYES,
        link_filter="standard",
        file_filter="standard",
    )
    device = EyeLinkDevice(settings, clock=clock, host_file_stem="gltest")
    yield device
    device.close()


def _record(device, clock, seconds):
    """Record a block; return its samples and messages."""
    device.start()
    chunks, until_s = [], clock.now_s() + seconds
    while clock.now_s() < until_s:
        chunks.append(device.read_chunk(0.1))
    device.stop()
    while (chunk := device.read_chunk(0.0)) is not None:
        chunks.append(chunk)
    chunks = [chunk for chunk in chunks if chunk is not None]
    samples = np.concatenate([chunk.samples for chunk in chunks])
    return samples, [message for chunk in chunks for message in chunk.messages]


def test_it_is_configured_as_asked(device):
    print(f"\n{device.describe()}\nproblems: {device.problems}")
    assert device.problems == ()


def test_every_sample_comes_and_the_edf_has_the_same(device, clock, tmp_path):
    blocks = [_record(device, clock, 10.0) for _ in range(2)]
    stream = device.describe()
    for samples, messages in blocks:
        steps_us = np.diff(samples["tracker_time_us"])
        assert (steps_us == round(1e6 / stream.sampling_rate_hz)).all()
        assert len(samples) == pytest.approx(10 * stream.sampling_rate_hz, rel=0.02)
        assert [m for m in messages if told_quality(m) is not None] == []
    fractions = []
    edf = read_edf(device.receive_host_file(tmp_path, "hardware test", fractions.append))
    print(f"\nprogress was told {len(fractions)} times")
    assert fractions[-1] == 1.0
    assert len(edf.blocks) == 2
    for (samples, _), block in zip(blocks, edf.blocks, strict=True):
        common = np.isin(block.samples["tracker_time_us"], samples["tracker_time_us"])
        assert common.sum() == len(samples), "the EDF has all that came"
        for eye in stream.eyes:
            for field in EYE_FIELDS[eye][:2]:
                np.testing.assert_allclose(
                    block.samples[field][common], samples[field], atol=0.11, equal_nan=True
                )


def test_the_clock_is_known_to_a_millisecond(device, clock):
    queries = ClockQueries(clock)
    device.start()
    until_s = clock.now_s() + 60.0
    while clock.now_s() < until_s:
        device.read_chunk(0.1)
        queries.ask(device)
    device.stop()
    fit = queries.fit()
    print(f"\n{fit}: {1e6 * (fit.tracker_us_per_host_s / 1e6 - 1):+.1f} ppm")
    assert fit.residual_us < 1000
    assert abs(fit.tracker_us_per_host_s - 1e6) < 500


def test_a_message_that_is_told_late_is_in_time_in_the_edf(device, clock, tmp_path):
    chunks = []
    device.start()
    for late_s in (0.0, 0.02, 0.1):
        true_s = clock.now_s()
        while clock.now_s() < true_s + late_s:
            chunks.append(device.read_chunk(0.005))
        device.send_message(f"late by {late_s}", at_s=true_s)
        chunks.append(device.read_chunk(0.5))
    device.stop()
    while (chunk := device.read_chunk(0.0)) is not None:
        chunks.append(chunk)
    sent_us = {m.text: m.tracker_time_us for chunk in chunks if chunk for m in chunk.messages}
    edf = read_edf(device.receive_host_file(tmp_path, "messages"))
    errors_ms = {
        m.text: (m.tracker_time_us - sent_us[m.text]) / 1000
        for m in edf.messages
        if m.text.startswith("late by")
    }
    print(f"\nin the EDF later than here, in ms: {errors_ms}")
    assert len(errors_ms) == 3
    assert max(map(abs, errors_ms.values())) <= 2.0


def test_other_threads_go_on_while_it_reads(device, clock):
    ticks, ends = [0], threading.Event()

    def tick():
        while not ends.wait(0.001):
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    _record(device, clock, 5.0)
    ends.set()
    thread.join()
    assert ticks[0] > 2000


def test_calibration_tells_the_errors_that_the_edf_has(device, clock, tmp_path):
    """Calibrate (C), validate (V), then leave with O; then fixate the target and press space."""
    visual = pytest.importorskip("psychopy.visual")
    graphics = pytest.importorskip("EyeLinkCoreGraphicsPsychoPy")
    screen = PAPER_SCREEN
    window = visual.Window((screen.width_px, screen.height_px), fullscr=True, units="pix")
    try:
        device.use_graphics(lambda tracker: graphics.EyeLinkCoreGraphicsPsychoPy(tracker, window))
        results = device.calibrate()
        text = device._tracker.getCalibrationMessage()
        drifts = device.check_drift(screen.width_px / 2, screen.height_px / 2)
        drift_text = device._tracker.getCalibrationMessage()
        _record(device, clock, 1.0)
        edf = read_edf(device.receive_host_file(tmp_path, "calibration"))
    finally:
        device.close()
        window.close()
    print(f"\nthe tracker's words: {text!r} and {drift_text!r}\nours: {results} {drifts}")
    for ours in results:
        theirs = [c for c in edf.calibrations if (c.kind, c.eye) == (ours.kind, ours.eye)]
        if ours.kind == "validation":
            assert ours.mean_error_deg == pytest.approx(theirs[-1].mean_error_deg, abs=0.011)
            assert ours.max_error_deg == pytest.approx(theirs[-1].max_error_deg, abs=0.011)
    for ours, theirs in zip(drifts, edf.drift_corrections[-len(drifts) :], strict=True):
        assert ours.offset_deg == pytest.approx(theirs.offset_deg, abs=0.011)


def test_the_abort_menu_ends_the_block(device, clock):
    """Press Abort on the Host PC's recording screen, then choose in its menu."""
    print("\npress Abort on the Host PC and choose in its menu, within 60 s")
    device.start()
    until_s, request = clock.now_s() + 60.0, None
    while request is None and clock.now_s() < until_s:
        device.read_chunk(0.1)
        request = device.take_host_request()
    device.stop()
    assert request in ("repeat", "skip", "abort")
