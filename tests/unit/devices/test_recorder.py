import sys
from contextlib import closing

import numpy as np
import pytest

from gazelive.devices.recorder import Recorder
from gazelive.devices.replay import ReplayDevice
from gazelive.devices.simulated import SimulatedDevice
from gazelive.errors import DeviceDisconnectedError, RecordingError
from gazelive.gaze.stream import Chunk
from gazelive.recordings.session.journal_reader import JournalFollower
from gazelive.recordings.session.manifest import JOURNAL_NAME, SessionManifest, read_manifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

from ...support.devices import record
from ...support.faults import (
    BackwardTimes,
    Disconnect,
    FaultyDevice,
    Jitter,
    LostSamples,
    RepeatedTimes,
    Stalls,
    TimeJitter,
)
from ...support.manual_clock import ManualClock
from ...support.recordings import make_recording, numbered_block, samples_of


@pytest.fixture
def writer(tmp_path):
    manifest = SessionManifest(
        session="1", device="replay", mode="identify", started_at="2026-01-01T12:00:00+01:00"
    )
    writer = SessionWriter.create(tmp_path / "session", manifest, sync_interval_s=None)
    yield writer
    writer.close()


@pytest.fixture
def recording():
    return make_recording(
        [numbered_block(1_000_000, 3000), numbered_block(5_000_000, 1000, rate_hz=500.0)],
        messages=((990_000, "TRIALID 1"), (2_000_500, "image_onset"), (7_200_000, "over")),
    )


def _last_on_disk(folder):
    """Return the last chunk that a reader who knows nothing of the writer finds."""
    *_, last = (
        item for item in JournalFollower(folder / JOURNAL_NAME).poll() if isinstance(item, Chunk)
    )
    return last


def test_a_sink_sees_only_chunks_on_disk(recording, writer):
    clock = ManualClock()
    seen = []

    def check(chunk, stream):
        stored = _last_on_disk(writer.folder)
        assert (stored.number, stored.block) == (chunk.number, chunk.block)
        assert stored.samples.tobytes() == chunk.samples.tobytes()
        assert stored.messages == chunk.messages
        assert stream == recording.blocks[chunk.block].stream
        seen.append(chunk)

    device = ReplayDevice(recording, clock=clock, chunk_s=0.25)
    reason = record(device, writer, [check], clock=clock)
    assert reason == "end of the recording"
    assert len(seen) > 10
    assert samples_of(seen).tobytes() == _recorded_bytes(recording)


def test_replayed_samples_are_stored_unchanged(recording, writer):
    clock = ManualClock()
    record(ReplayDevice(recording, clock=clock), writer, clock=clock)
    stored = read_session(writer.folder)
    assert [b.samples.tobytes() for b in stored.blocks] == [
        b.samples.tobytes() for b in recording.blocks
    ]
    assert [b.stream for b in stored.blocks] == [b.stream for b in recording.blocks]
    assert stored.messages == recording.messages
    assert stored.problems == ()
    manifest = read_manifest(writer.folder)
    assert manifest.stop_reason == "end of the recording"
    assert manifest.clock_fit is None, "a playback has no clock"


def test_it_stops_on_request_and_keeps_arrived_samples(recording, writer):
    clock = ManualClock()
    device = ReplayDevice(recording, clock=clock)
    seen = []
    reason = record(
        device,
        writer,
        [lambda chunk, stream: seen.append(chunk)],
        clock=clock,
        should_stop=lambda: clock.now_s() > 0.5,
    )
    assert reason == "stopped"
    assert read_manifest(writer.folder).stop_reason == "stopped"
    stored = read_session(writer.folder)
    n = len(stored.blocks[0].samples)
    assert n == pytest.approx(500, abs=20)
    assert stored.blocks[0].samples.tobytes() == recording.blocks[0].samples[:n].tobytes()
    assert samples_of(seen).tobytes() == stored.blocks[0].samples.tobytes()


@pytest.mark.parametrize(
    "fault",
    [
        LostSamples(every_n=100, length=9),
        RepeatedTimes(every_n=30),
        BackwardTimes(every_n=70),
        TimeJitter(max_us=2000),
        Jitter(max_s=0.05),
        Stalls(every_s=1.0, length_s=0.4),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_bad_data_are_stored_as_they_came(recording, writer, fault):
    clock = ManualClock()
    device = FaultyDevice(ReplayDevice(recording, clock=clock), [fault], clock=clock)
    seen = []
    record(device, writer, [lambda chunk, stream: seen.append(chunk)], clock=clock)
    kept = [
        item
        for item in JournalFollower(writer.folder / JOURNAL_NAME).poll()
        if isinstance(item, Chunk)
    ]
    assert samples_of(kept).tobytes() == samples_of(seen).tobytes(), "nothing is lost on the way"
    stored = read_session(writer.folder)
    assert stored.messages == recording.messages
    times_us = np.concatenate([block.samples["tracker_time_us"] for block in stored.blocks])
    assert (np.diff(times_us) > 0).all(), "whoever reads it gets what goes on in time …"
    n_left_out = len(samples_of(seen)) - stored.n_samples
    assert bool(stored.problems) == (n_left_out > 0), "… and is told what does not"
    replay = ReplayDevice(stored, clock=clock, speed=None)
    replay.start()
    chunks = []
    while not replay.finished:
        chunks.append(replay.read_chunk(0.0))
    played = b"".join(block.samples.tobytes() for block in stored.blocks)
    assert samples_of(chunks).tobytes() == played


def test_a_disconnection_ends_the_session_with_its_reason(recording, writer):
    clock = ManualClock()
    faults = [Disconnect(after_n_samples=1234)]
    device = FaultyDevice(ReplayDevice(recording, clock=clock), faults, clock=clock)
    with pytest.raises(DeviceDisconnectedError, match="was lost"):
        record(device, writer, clock=clock)
    assert "connection to the tracker was lost" in read_manifest(writer.folder).stop_reason
    stored = read_session(writer.folder)
    assert stored.blocks[0].samples.tobytes() == recording.blocks[0].samples[:1234].tobytes()
    assert stored.problems == ()


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on the size of files")
def test_a_full_disk_ends_the_session_before_sinks_see_the_chunk(recording, writer):
    import resource

    clock = ManualClock()
    device = ReplayDevice(recording, clock=clock)
    seen = []
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(RecordingError, match=r"gaze\.journal: cannot be written"):
            record(device, writer, [lambda chunk, stream: seen.append(chunk)], clock=clock)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    stored = read_session(writer.folder)
    assert stored.blocks[0].samples.tobytes() == samples_of(seen).tobytes()
    assert "cannot be written" in read_manifest(writer.folder).stop_reason
    device.start()  # it was stopped, so it can be


def test_a_failing_sink_ends_the_session_after_the_rest_is_saved(recording, writer):
    clock = ManualClock()
    device = ReplayDevice(recording, clock=clock)

    def fail(chunk, stream):
        if chunk.number == 20:
            clock.advance_s(0.5)
            raise RuntimeError("out of order")

    with pytest.raises(RuntimeError, match="out of order"):
        record(device, writer, [fail], clock=clock)
    assert read_manifest(writer.folder).stop_reason == "RuntimeError: out of order"
    stored = read_session(writer.folder).blocks[0].samples
    assert len(stored) == pytest.approx(700, abs=20)
    assert stored.tobytes() == recording.blocks[0].samples[: len(stored)].tobytes()


def test_an_interruption_is_a_reason_too(recording, writer):
    clock = ManualClock()

    def interrupt():
        if clock.now_s() > 0.2:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        record(ReplayDevice(recording, clock=clock), writer, clock=clock, should_stop=interrupt)
    assert read_manifest(writer.folder).stop_reason == "stopped by the user"
    assert len(read_session(writer.folder).blocks[0].samples) >= 190


def test_a_resumed_session_goes_on_with_its_numbers(recording, writer):
    clock = ManualClock()
    record(ReplayDevice(recording, clock=clock, speed=None), writer, clock=clock)
    resumed = SessionWriter.resume(writer.folder, sync_interval_s=None)
    record(ReplayDevice(recording, clock=clock, speed=None), resumed, clock=clock)
    stored = read_session(writer.folder)
    assert len(stored.blocks) == 4
    assert stored.n_samples == 2 * recording.n_samples


@pytest.fixture
def simulated():
    """A simulated device on a manual clock, whose tracker runs 37 ppm fast."""
    clock = ManualClock(50_000.0)
    with closing(SimulatedDevice("a", seed=1, session=1, clock=clock, drift_ppm=37.0)) as device:
        yield device, clock


def test_a_custom_loop_starts_and_stops_blocks(writer, simulated):
    device, clock = simulated
    recorder = Recorder(device, writer, clock=clock)
    for trial in range(3):
        device.send_message(f"TRIALID {trial}")
        device.start()
        for _ in range(20):
            recorder.step(0.01)
        device.stop()
        recorder.drain()
    recorder.finish("the experiment is over")
    stored = read_session(writer.folder)
    assert [len(block.samples) for block in stored.blocks] == [200, 200, 200]
    assert [m.text for m in stored.messages] == ["TRIALID 0", "TRIALID 1", "TRIALID 2"]
    assert read_manifest(writer.folder).stop_reason == "the experiment is over"


def test_the_clocks_drift_is_stored(writer, simulated):
    device, clock = simulated
    asked_us = device.tracker_time_us()
    record(device, writer, clock=clock, should_stop=lambda: clock.now_s() > 50_030.0)
    fit = read_manifest(writer.folder).clock_fit
    assert fit.n_queries == pytest.approx(30, abs=2)
    assert fit.tracker_us_per_host_s == pytest.approx(1e6 * (1 + 37e-6), abs=0.1)
    at_start_us = fit.tracker_reference_us + fit.tracker_us_per_host_s * (
        50_000.0 - fit.host_reference_s
    )
    assert at_start_us == pytest.approx(asked_us, abs=2)
    assert fit.residual_us < 1


def _recorded_bytes(recording):
    return b"".join(block.samples.tobytes() for block in recording.blocks)
