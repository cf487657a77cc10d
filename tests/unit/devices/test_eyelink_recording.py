"""Recording with an EyeLink: rate, eyes, filter, and every sample."""

import numpy as np
import pytest

from gazelive.gaze.quality_messages import quality_from_message

from ...support.devices import calls_to, drained, quality_of, read_for
from ...support.fake_host import Behaviour
from ...support.recordings import samples_of


def test_requested_and_actual_rate_and_eye(connect, clock):
    device, _ = connect(Behaviour(rate_hz=500.0, eyes="L"), eyes="R", sampling_rate_hz=1000.0)
    assert (device.describe().sampling_rate_hz, device.describe().eyes) == (1000.0, "R")
    chunks = []
    for _ in range(2):
        device.start()
        assert (device.describe().sampling_rate_hz, device.describe().eyes) == (500.0, "L")
        chunks += read_for(device, clock, 0.2)
        device.stop()
        chunks += drained(device)
    assert quality_of(chunks) == [
        ("eye", "requested the right eye, the EyeLink records the left eye"),
        ("rate", "requested 1000 Hz, the EyeLink records at 500 Hz"),
    ]
    samples = samples_of(chunks)
    assert np.isfinite(samples["left_x"]).any()
    assert np.isnan(samples["right_x"]).all()


@pytest.mark.parametrize("half_ms", ["flag", "decimal", "not at all"])
def test_2000_hz_has_half_milliseconds(connect, clock, half_ms):
    device, pylink = connect(Behaviour(half_ms=half_ms), sampling_rate_hz=2000.0)
    device.start()
    samples = samples_of(read_for(device, clock, 0.5))
    assert len(samples) == pytest.approx(1000, abs=2)
    seen = pylink.host.file.samples[0]
    if half_ms == "not at all":  # then nobody knows of the very first
        samples, seen = samples[1:], seen[1:]
    assert (np.diff(samples["tracker_time_us"]) == 500).all()
    assert samples.tobytes() == seen.tobytes()


def test_the_filter_is_set_for_each_block(connect, clock):
    device, pylink = connect(link_filter="off", file_filter="extra")
    for _ in range(3):
        device.start()
        clock.advance_s(0.1)
        device.stop()
    assert pylink.host.filters == ["0 2"] * 3


def test_lost_data_are_reported_where_they_are_missing(connect, clock):
    device, pylink = connect(Behaviour(lose=range(300, 340)))
    device.start()
    chunks = read_for(device, clock, 1.0)
    device.stop()
    chunks += drained(device)
    (told,) = [m for chunk in chunks for m in chunk.messages if quality_from_message(m) is not None]
    assert quality_from_message(told).kind == "lost_samples"
    times_us = samples_of(chunks)["tracker_time_us"]
    (gap,) = np.flatnonzero(np.diff(times_us) > 1000)
    assert told.tracker_time_us == times_us[gap]
    on_host = np.concatenate(pylink.host.file.samples)
    assert len(on_host) == len(times_us) + 40, "the EDF has them"
    assert device.problems == ("the link lost data: the missing samples are in the EDF",)


def test_a_bad_link_is_reported_once_a_second(connect, clock):
    device, _ = connect(Behaviour(lose=range(0, 10_000, 7)))
    device.start()
    assert len(quality_of(read_for(device, clock, 2.5))) == 3


def test_a_late_reader_loses_samples_and_gets_a_report(connect, clock):
    device, _ = connect(Behaviour(queue_size=500))
    device.start()
    clock.advance_s(2.0)
    chunks = read_for(device, clock, 0.1)
    assert quality_of(chunks) == [
        ("lost_samples", "the link lost data: the missing samples are in the EDF")
    ]
    assert len(samples_of(chunks)) < 700


def test_a_read_neither_holds_the_interpreter_nor_spins(connect, clock):
    device, pylink = connect()
    device.start()
    pylink.calls.log.clear()
    chunks = read_for(device, clock, 1.0)
    names = calls_to(pylink)
    assert "msecDelay" not in names
    assert names.count("getNextData") - names.count("getFloatData") < 4 * len(chunks)
    assert len(chunks) == pytest.approx(100, abs=10)
    assert 10 <= names.count("isRecording") <= 25


def test_samples_in_transit_when_recording_ends_still_arrive(connect, clock):
    device, pylink = connect(Behaviour(latency_us=5000))
    device.start()
    chunks = read_for(device, clock, 0.2)
    clock.advance_s(9.0)
    device.stop()
    chunks += drained(device)
    assert samples_of(chunks).tobytes() == pylink.host.file.samples[0].tobytes()
    assert len(samples_of(chunks)) > 9000
    assert max(len(chunk.samples) for chunk in chunks) <= 4096


def test_a_read_leaves_nothing_behind_that_has_come(connect, clock):
    device, _ = connect(Behaviour(latency_us=2700))
    device.start()
    for timeout_s in (0.012, 0.05, 0.0033, 0.02):
        assert device.read_chunk(timeout_s) is not None
        assert device.read_chunk(0.0) is None


def test_each_chunk_is_described_by_its_own_block(connect, clock):
    device, pylink = connect()
    for eyes in ("R", "L"):
        pylink.host.behaviour.eyes = eyes
        device.start()
        assert device.describe().eyes == eyes
        clock.advance_s(0.1)
        device.stop()
    described = []
    while (chunk := device.read_chunk(0.0)) is not None:
        described.append((chunk.block, device.describe().eyes))
    assert described == [(0, "R"), (1, "L")]
