"""The tracker's device_thread: one thread for the device, and what happens when it fails."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gazelive.clock import MonotonicClock
from gazelive.devices.simulated import SimulatedDevice
from gazelive.errors import CalibrationError, DeviceDisconnectedError, DeviceError
from gazelive.experiment.display.display import Words
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.session.manifest import SessionManifest, read_manifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

from ...support.faults import Disconnect, FaultyDevice
from ...support.manual_clock import ManualClock
from .lab import Lab, texts

MANIFEST = SessionManifest(
    session="1", device="simulated", mode="enrol", started_at="2026-01-01T00:00:00+00:00"
)


class Sent:
    """A line to an engine that keeps what went over it."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.threads: set[int] = set()

    def __call__(self, chunk: Chunk, stream: StreamDescription) -> None:
        self.words.append(f"chunk {chunk.number}")
        self.threads.add(threading.get_ident())

    def end_block(self) -> None:
        self.words.append("block")

    def end_run(self, reason: str) -> None:
        self.words.append(reason)


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def device_thread(tmp_path: Path, sent: Sent) -> Iterator[DeviceThread]:
    """Return a device_thread with a thread of its own."""
    clock = MonotonicClock()
    device = SimulatedDevice("anna", seed=1, session=1, clock=clock)
    writer = SessionWriter.create(tmp_path / "s", MANIFEST)
    opened = DeviceThread(device, writer, clock=clock, sender=sent)
    opened.open()
    yield opened
    opened.close("the test is over")
    device.close()


def test_one_thread_makes_every_call(
    tmp_path: Path, device_thread: DeviceThread, sent: Sent
) -> None:
    device_thread.say("TRIALID 1")
    device_thread.start_block()
    device_thread.say("something", at_s=MonotonicClock().now_s())
    device_thread.stop_block("TRIAL_RESULT 0")
    device_thread.close("done")
    assert threading.get_ident() not in sent.threads
    assert len(sent.threads) == 1
    assert sent.words[-2:] == ["block", "done"]
    recording = read_session(tmp_path / "s")
    assert texts(recording) == ["TRIALID 1", "something", "TRIAL_RESULT 0"]
    assert read_manifest(tmp_path / "s").stop_reason == "done"


def test_the_device_is_lent_only_between_blocks(device_thread: DeviceThread) -> None:
    device = device_thread.device
    assert isinstance(device, SimulatedDevice)
    assert device_thread.lend(device.calibrate)
    assert device_thread.lend(threading.get_ident) == threading.get_ident()
    device_thread.start_block()
    with pytest.raises(CalibrationError, match="stop it before"):
        device_thread.lend(device.calibrate)
    device_thread.stop_block()


def test_a_task_that_fails_ends_the_thread(tmp_path: Path, device_thread: DeviceThread) -> None:
    device_thread.start_block()
    with pytest.raises(DeviceError, match="recording already"):
        device_thread.start_block()
    with pytest.raises(DeviceError, match="recording already"):
        device_thread.say("anything")
    device_thread.close("failed")
    assert read_session(tmp_path / "s").n_samples >= 0
    assert read_manifest(tmp_path / "s").stop_reason == "failed"


def test_a_lost_tracker_keeps_its_samples(tmp_path: Path) -> None:
    clock = ManualClock(100.0)
    device = FaultyDevice(
        SimulatedDevice("anna", seed=1, session=1, clock=clock),
        [Disconnect(after_n_samples=1500)],
        clock=clock,
    )
    lab = Lab(tmp_path / "s", clock=clock, device=device)
    with pytest.raises(DeviceDisconnectedError):
        lab.run()
    assert read_session(tmp_path / "s").n_samples == 1500
    assert [what for _, _, what in lab.session.report.outcomes][-1] == "aborted"
    assert read_manifest(tmp_path / "s").finished_at is not None


def test_notes_reach_the_session_but_not_the_trackers_own_file(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s")
    lab.device_thread.start_block()
    lab.clock.advance_s(0.1)
    lab.device_thread.turn()
    lab.device_thread.note(Message(3_600_050_000, "!CAL VALIDATION HV9 R RIGHT GOOD"))
    lab.device_thread.say("both")
    lab.device_thread.stop_block()
    lab.device_thread.close("done")
    assert isinstance(lab.device, SimulatedDevice)
    own = lab.device.receive_host_file(tmp_path, "own").read_text()
    lab.device.close()
    assert "both" in own
    assert "!CAL" not in own
    assert "!CAL VALIDATION HV9 R RIGHT GOOD" in texts(read_session(tmp_path / "s"))


def test_a_calibration_without_any_trial_is_in_the_session(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s")
    lab.display.press_at = [
        (lambda d: isinstance(d.scene, Words) and "Validation" in d.scene.text, "escape")
    ]
    recording = lab.run()
    assert recording.n_samples == 0
    assert [c.kind for c in recording.calibrations] == ["calibration", "validation"]


def test_a_task_after_a_failure_fails_at_once(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s")
    device_thread = lab.device_thread

    class Wishes(queue.SimpleQueue):  # type: ignore[type-arg]
        def put(self, *arguments: Any) -> None:
            device_thread._failure = DeviceError("gone")
            super().put(*arguments)

    device_thread._tasks = Wishes()
    with pytest.raises(DeviceError, match="gone"):
        device_thread.start_block()
    device_thread.close("failed")
    device_thread.device.close()


def test_the_engine_learns_of_the_end_if_the_tracker_does_not_stop(
    tmp_path: Path, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock(100.0)
    device = SimulatedDevice("anna", seed=1, session=1, clock=clock)
    device_thread = DeviceThread(
        device, SessionWriter.create(tmp_path / "s", MANIFEST), clock=clock, sender=sent
    )
    device_thread.start_block()
    clock.advance_s(0.5)

    def stop() -> None:
        raise DeviceError("it does not stop")

    monkeypatch.setattr(device, "stop", stop)
    with pytest.raises(DeviceError, match="does not stop"):
        device_thread.close("over")
    assert sent.words[-1] == "over"
    assert read_manifest(tmp_path / "s").stop_reason == "over"
    assert read_session(tmp_path / "s").n_samples == 500
    device.close()
