"""Contract of `GazeDevice`, run on every device."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gazelive.clock import Clock
from gazelive.devices.eyelink.device import EyeLinkDevice
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.devices.protocol import (
    Calibrates,
    ControlsPlayback,
    CrossStimulus,
    GazeDevice,
    HasHostFile,
    ImageStimulus,
    SeesStimulus,
    SendsMessages,
)
from gazelive.devices.replay import ReplayDevice
from gazelive.errors import CalibrationError, ConfigError, DeviceError
from gazelive.gaze.samples import SAMPLE_DTYPE
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.conversion import manifest_of, write_session
from gazelive.recordings.session.reader import read_session

from ..support.fake_host import FakeHost
from ..support.fake_pylink import FakePylink
from ..support.faults import FaultyDevice
from ..support.manual_clock import ManualClock
from ..support.recordings import make_recording, numbered_block, samples_of

MakeDevice = Callable[[Clock], GazeDevice]


def _recording() -> Recording:
    """Two trials of an experiment, as an ASC file would give them."""
    blocks = [
        numbered_block(7_000_000, 2000, rate_hz=1000.0, eyes="R"),
        numbered_block(9_500_000, 1000, rate_hz=500.0, eyes="R"),
    ]
    messages = (
        (6_990_000, "TRIALID 1"),
        (7_500_500, "image_onset"),
        (9_010_000, "TRIAL_RESULT 0"),
        (9_490_000, "TRIALID 2"),
        (11_510_000, "TRIAL_RESULT 0"),
    )
    return make_recording(blocks, messages, path=Path("two_trials.asc"), format="asc")


def _make_eyelink(clock: Clock) -> GazeDevice:
    """Connect to a tracker that is not there, through a pylink that is not the vendor's."""
    pylink = FakePylink(FakeHost(clock))
    settings = EyeLinkSettings(screen=PAPER_SCREEN)
    device = EyeLinkDevice(settings, clock=clock, host_file_stem="contract", pylink=pylink)
    device.use_graphics(lambda _tracker: pylink.EyeLinkCustomDisplay())
    return device


@pytest.fixture(scope="session")
def session_recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder = tmp_path_factory.mktemp("sessions") / "one"
    recording = _recording()
    write_session(recording, folder, manifest_of(recording, started_at="2026-01-01T12:00:00+01:00"))
    return read_session(folder)


@pytest.fixture(params=["replay", "replay of a session folder", "simulated", "eyelink"])
def make_plain(request: pytest.FixtureRequest) -> MakeDevice:
    if request.param == "simulated":
        from gazelive.devices.simulated import SimulatedDevice

        return lambda clock: SimulatedDevice("contract", seed=3, session=1, clock=clock)
    if request.param == "eyelink":
        return _make_eyelink
    if request.param == "replay":
        return lambda clock: ReplayDevice(_recording(), clock=clock)
    recording = request.getfixturevalue("session_recording")
    return lambda clock: ReplayDevice(recording, clock=clock)


@pytest.fixture(params=["plain", "without faults"])
def make_device(request: pytest.FixtureRequest, make_plain: MakeDevice) -> MakeDevice:
    if request.param == "plain":
        return make_plain
    return lambda clock: FaultyDevice(make_plain(clock), [], clock=clock)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1000.0)


@pytest.fixture
def device(make_device: MakeDevice, clock: ManualClock):
    device = make_device(clock)
    yield device
    device.close()


def _read_for(device, clock, seconds, timeout_s=0.05):
    """Read for some time; return chunks and what describes the block of each."""
    chunks, streams = [], {}
    until_s = clock.now_s() + seconds
    while clock.now_s() < until_s - 1e-9:
        chunk = device.read_chunk(min(timeout_s, until_s - clock.now_s()))
        if chunk is not None:
            chunks.append(chunk)
            streams.setdefault(chunk.block, device.describe())
    return chunks, streams


def _drain(device):
    chunks = []
    while (chunk := device.read_chunk(0.0)) is not None:
        chunks.append(chunk)
    return chunks


def _texts(chunks):
    return [message.text for chunk in chunks for message in chunk.messages]


def test_it_fills_the_protocol_and_describes_itself_before_the_start(device):
    assert isinstance(device, GazeDevice)
    stream = device.describe()
    assert isinstance(stream, StreamDescription)
    assert stream.sampling_rate_hz > 0
    assert stream.device
    assert not device.finished
    assert isinstance(device.tracker_time_us(), int)


def test_reading_before_the_start_is_refused(device):
    with pytest.raises(DeviceError, match="never started"):
        device.read_chunk(0.0)


def test_starting_twice_is_refused_and_does_no_harm(device, clock):
    device.start()
    with pytest.raises(DeviceError, match="recording already: stop it"):
        device.start()
    chunks, _ = _read_for(device, clock, 0.5)
    assert len(samples_of(chunks)) > 200


def test_chunks_are_numbered_whole_and_owned_by_the_reader(device, clock):
    device.start()
    chunks, streams = _read_for(device, clock, 3.0)
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert chunks[0].block == 0
    assert set(np.diff([chunk.block for chunk in chunks])) <= {0, 1}
    for chunk in chunks:
        assert chunk.samples.dtype == SAMPLE_DTYPE
        assert len(chunk.samples) or chunk.messages
        chunk.samples["left_x"] = -1.0
    for block, stream in streams.items():
        times_us = samples_of([c for c in chunks if c.block == block])["tracker_time_us"]
        assert (np.diff(times_us) == round(stream.sample_interval_us)).all()
    fresh = device.read_chunk(0.1)
    assert not (fresh.samples["left_x"] == -1.0).any()


def test_arrival_is_on_the_hosts_clock_and_never_before_the_sample(device, clock):
    device.start()
    last_s = clock.now_s()
    for _ in range(30):
        chunk = device.read_chunk(0.05)
        if chunk is None:
            continue
        assert last_s <= chunk.arrival_s <= clock.now_s()
        last_s = chunk.arrival_s
        if len(chunk.samples):
            assert chunk.samples["tracker_time_us"][-1] <= device.tracker_time_us() + 1


def test_time_passes_on_the_tracker_as_on_the_host(device, clock):
    device.start()
    before_us = device.tracker_time_us()
    clock.advance_s(1.5)
    assert device.tracker_time_us() - before_us == pytest.approx(1.5e6, rel=1e-3)


def test_a_read_waits_no_longer_than_it_may(device, clock):
    device.start()
    for timeout_s in (0.0, -1.0, 0.0003, 0.004, 0.0):
        before_s = clock.now_s()
        device.read_chunk(timeout_s)
        assert clock.now_s() - before_s <= max(timeout_s, 0.0) + 1e-9
    _drain(device)
    assert device.read_chunk(0.0) is None, "at once there is nothing new"


def test_a_late_reader_finds_everything(device, clock):
    device.start()
    clock.advance_s(1.9)
    samples = samples_of(_drain(device))
    assert len(samples) == pytest.approx(1.9 * device.describe().sampling_rate_hz, abs=25)
    assert len(np.unique(samples["tracker_time_us"])) == len(samples)


def test_reading_pattern_does_not_change_the_data(make_device):
    streams = []
    for timeout_s, pause_s in ((0.05, 0.0), (0.0, 0.013), (0.001, 0.0007), (0.2, 0.3)):
        clock = ManualClock(1000.0)
        device = make_device(clock)
        device.start()
        chunks = []
        while clock.now_s() < 1001.7:
            chunk = device.read_chunk(min(timeout_s, 1001.7 - clock.now_s()))
            if chunk is not None:
                chunks.append(chunk)
            clock.advance_s(min(pause_s, max(1001.7 - clock.now_s(), 0)))
        device.stop()
        chunks += _drain(device)
        streams.append((samples_of(chunks).tobytes(), _texts(chunks)))
        device.close()
    assert streams[0] == streams[1] == streams[2] == streams[3]
    assert len(streams[0][0]) > 1600 * SAMPLE_DTYPE.itemsize


def test_after_stop_the_rest_can_be_read_and_nothing_more(device, clock):
    device.start()
    chunks, _ = _read_for(device, clock, 0.3)
    clock.advance_s(0.25)
    stopped_us = device.tracker_time_us()
    device.stop()
    device.stop()
    clock.advance_s(5.0)
    rest = _drain(device)
    assert len(samples_of(rest)) == pytest.approx(250, abs=2)
    assert samples_of(rest)["tracker_time_us"][-1] <= stopped_us
    before_s = clock.now_s()
    assert device.read_chunk(1.0) is None
    assert clock.now_s() == before_s, "there is nothing to wait for"
    samples = samples_of(chunks + rest)
    assert (np.diff(samples["tracker_time_us"]) == 1000).all()


def test_each_start_begins_a_block_and_numbers_go_on(device, clock):
    chunks = []
    for _ in range(3):
        device.start()
        chunks += _read_for(device, clock, 0.2)[0]
        device.stop()
        clock.advance_s(0.1)
        chunks += _drain(device)
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    with_samples = [chunk for chunk in chunks if len(chunk.samples)]
    assert sorted({chunk.block for chunk in with_samples}) == [0, 1, 2]
    assert (np.diff(samples_of(chunks)["tracker_time_us"]) > 0).all()


def test_starting_again_before_the_rest_was_read_loses_nothing(device, clock):
    device.start()
    clock.advance_s(0.3)
    device.stop()
    device.start()
    clock.advance_s(0.3)
    device.stop()
    chunks = _drain(device)
    times_us = samples_of(chunks)["tracker_time_us"]
    assert len(times_us) == pytest.approx(600, abs=25)
    assert (np.diff(times_us) > 0).all()


def test_closed_is_closed(device, clock):
    device.start()
    clock.advance_s(0.5)
    device.close()
    device.close()
    device.stop()
    assert device.finished
    assert device.describe().sampling_rate_hz > 0
    for call in (device.start, lambda: device.read_chunk(0.0)):
        with pytest.raises(DeviceError, match="was closed"):
            call()
    if isinstance(device, SendsMessages):
        with pytest.raises(DeviceError, match="closed"):
            device.send_message("too late")


def test_it_may_be_closed_before_it_was_started(make_device):
    device = make_device(ManualClock())
    device.close()
    assert device.finished
    with pytest.raises(DeviceError, match="closed"):
        device.read_chunk(0.0)


def test_messages_are_stamped_and_none_is_lost(device, clock):
    if not isinstance(device, SendsMessages):
        pytest.skip("sends no messages")
    device.send_message("before the start")
    device.start()
    chunks, _ = _read_for(device, clock, 0.2)
    then_s, then_us = clock.now_s(), device.tracker_time_us()
    device.send_message("while recording")
    clock.advance_s(0.05)
    device.send_message("while recording, told late", at_s=then_s)
    chunks += _read_for(device, clock, 0.1)[0]
    device.stop()
    chunks += _drain(device)
    device.send_message("between blocks")
    chunks += _drain(device)
    device.send_message("before the next block")
    device.start()
    chunks += _read_for(device, clock, 0.1)[0]
    stamped = {m.text: m.tracker_time_us for chunk in chunks for m in chunk.messages}
    sent = ["before the start", "while recording", "while recording, told late"]
    sent += ["between blocks", "before the next block"]
    assert sorted(text for text in _texts(chunks) if text in sent) == sorted(sent)
    assert stamped["while recording"] == pytest.approx(then_us, abs=1)
    assert stamped["while recording, told late"] == pytest.approx(then_us, abs=1)
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        times_us = [message.tracker_time_us for message in chunk.messages]
        assert times_us == sorted(times_us)


def test_a_playback_can_be_paused_and_hurried(device, clock):
    if not isinstance(device, ControlsPlayback):
        pytest.skip("plays nothing back")
    device.start()
    device.pause()
    assert device.playback().paused
    assert not len(samples_of(_read_for(device, clock, 1.0)[0]))
    device.resume()
    device.set_speed(2.0)
    begin_s = device.playback().position_s
    chunks, _ = _read_for(device, clock, 0.5)
    assert device.playback().position_s - begin_s == pytest.approx(1.0)
    assert len(samples_of(chunks)) == pytest.approx(990, abs=25)
    with pytest.raises(ConfigError):
        device.set_speed(0.0)


def test_a_viewer_looks_at_the_shown_image(device, clock):
    if not isinstance(device, SeesStimulus):
        pytest.skip("sees no stimulus")
    device.start()
    for x_px, y_px in ((400.0, 300.0), (1500.0, 800.0)):
        device.show(CrossStimulus(x_px=x_px, y_px=y_px))
        _read_for(device, clock, 1.0)
        samples = samples_of(_read_for(device, clock, 1.0)[0])
        assert np.nanmedian(samples["right_x"]) == pytest.approx(x_px, abs=60)
        assert np.nanmedian(samples["right_y"]) == pytest.approx(y_px, abs=60)
    device.show(
        ImageStimulus(name="scene.png", left_px=210, top_px=40, width_px=1500, height_px=1000)
    )
    samples = samples_of(_read_for(device, clock, 6.0)[0])
    assert np.nanstd(samples["right_x"]) > 50, "explores the image"
    device.hide()
    assert len(samples_of(_read_for(device, clock, 1.0)[0])) > 900


def test_calibration_is_done_between_blocks(device, clock):
    if not isinstance(device, Calibrates):
        pytest.skip("is not calibrated")
    results = device.calibrate()
    assert {r.eye for r in results} == set(device.describe().eyes)
    assert {r.kind for r in results} == {"calibration", "validation"}
    for result in results:
        if result.kind == "validation":
            assert 0 < result.mean_error_deg < result.max_error_deg < 3
    (drift,) = device.check_drift(960.0, 540.0)
    assert drift.offset_deg < 3
    assert math.hypot(drift.offset_x_px, drift.offset_y_px) < 150
    device.start()
    with pytest.raises(CalibrationError, match="stop it before"):
        device.calibrate()
    with pytest.raises(CalibrationError, match="stop it before"):
        device.check_drift(960.0, 540.0)


def test_the_host_file_holds_the_recording(device, clock, tmp_path):
    if not isinstance(device, HasHostFile):
        pytest.skip("keeps no file of its own")
    device.start()
    with pytest.raises(DeviceError, match="stop it before"):
        device.receive_host_file(tmp_path, "session")
    clock.advance_s(0.5)
    device.stop()
    fractions = []
    path = device.receive_host_file(tmp_path, "session", fractions.append)
    assert path.parent == tmp_path
    assert path.stem == "session"
    assert path.stat().st_size > 1000
    assert fractions[-1] == 1.0
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
