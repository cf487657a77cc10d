"""The owner of a device: answers in its own thread, and writes before it sends."""

import threading

import pytest
import zmq

from gazelive.devices.replay import ReplayDevice
from gazelive.devices.simulated import SimulatedDevice
from gazelive.errors import DeviceError, TransportError
from gazelive.live.replay import run_device
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.chunks import RunEnded, WiredChunk
from gazelive.live.wire.control import request
from gazelive.live.wire.device_control import DeviceControl
from gazelive.live.wire.keys import Doorkeeper
from gazelive.live.wire.runs import hold_run
from gazelive.live.wire.transport import ChunkReceiver
from gazelive.recordings.session.manifest import SessionManifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

from ...support.manual_clock import ManualClock
from ...support.recordings import make_block, make_recording

MANIFEST = SessionManifest(session="s", device="replay", mode="identify", started_at="")


@pytest.fixture
def context():
    context = zmq.Context()
    yield context
    context.destroy(linger=0)


def asked(context, control, address, command, **arguments):
    """Ask from another thread while this one serves."""
    answers = []

    def ask():
        try:
            answers.append(request(context, address, command, timeout_s=20, **arguments))
        except TransportError as error:
            answers.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        control.serve()
        thread.join(0.001)
    return answers[0]


def test_a_replay_is_paused_and_hurried(context):
    clock = ManualClock()
    device = ReplayDevice(make_recording([make_block(0, 2.0, 1_000_000)], []), clock=clock)
    device.start()
    address = free_addresses().device
    control = DeviceControl(context, address, device)
    answer = asked(context, control, address, "status")
    assert answer["device"] == "test"
    assert answer["playback"]["speed"] == 1.0
    assert asked(context, control, address, "pause")["playback"]["paused"] is True
    assert asked(context, control, address, "resume")["playback"]["paused"] is False
    assert asked(context, control, address, "speed", speed=None)["playback"]["speed"] is None
    assert "must be" in str(asked(context, control, address, "speed", speed=-1))
    assert "number" in str(asked(context, control, address, "speed", speed="fast"))
    assert "unknown request" in str(asked(context, control, address, "dance"))
    asked(context, control, address, "mark", text="here\nand there ")
    asked(context, control, address, "mark", text="TRIALID 99")
    asked(context, control, address, "mark")
    marks = [message.text for message in device.read_chunk(0.1).messages]
    assert marks == ["MARK here and there", "MARK TRIALID 99", "MARK"]
    assert not control.is_stopped
    assert answer["takes"] == ["end"]
    assert "cannot be calibrated" in str(asked(context, control, address, "calibrate"))
    asked(context, control, address, "end")
    assert control.is_stopped
    control.close()
    device.close()


def test_a_tracker_cannot_be_paused(context):
    device = SimulatedDevice("v001", seed=1, session=1, clock=ManualClock())
    address = free_addresses().device
    control = DeviceControl(context, address, device)
    assert asked(context, control, address, "status")["playback"] is None
    assert "cannot be paused" in str(asked(context, control, address, "pause"))
    control.close()
    device.close()


def test_a_calibration_is_requested_once(context):
    device = SimulatedDevice("v001", seed=1, session=1, clock=ManualClock())
    address = free_addresses().device
    control = DeviceControl(context, address, device)
    assert asked(context, control, address, "status")["takes"] == ["end", "calibrate"]
    assert not control.take_calibration_request()
    asked(context, control, address, "calibrate")
    assert control.take_calibration_request()
    assert not control.take_calibration_request()
    control.close()
    device.close()


def test_a_whole_replay_is_on_disk_and_sent(context, tmp_path):
    holder = hold_run(free_addresses(), tmp_path)
    own = holder.run.binding
    doorkeeper = Doorkeeper(context, own)
    receiver = ChunkReceiver(context, holder.run.addresses.chunks, prepare=own.secure)
    clock = ManualClock()
    recording = make_recording([make_block(0, 0.5, 1_000_000)], [])
    device = ReplayDevice(recording, clock=clock, chunk_s=0.02)
    writer = SessionWriter.create(tmp_path / "s", MANIFEST)
    n_called = []
    reason = run_device(
        device, writer, holder.run, clock=clock, meanwhile=lambda: n_called.append(1)
    )
    assert reason == "end of the recording"
    assert n_called
    received = []
    while not received or not isinstance(received[-1], RunEnded):
        assert receiver.socket.poll(20_000)
        received.append(receiver.receive())
    chunks = [wired.chunk for wired in received if isinstance(wired, WiredChunk)]
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    samples = b"".join(chunk.samples.tobytes() for chunk in chunks)
    assert samples == recording.blocks[0].samples.tobytes()
    assert read_session(tmp_path / "s").blocks[0].samples.tobytes() == samples
    receiver.close()
    doorkeeper.close()
    holder.close()


def test_a_failure_ends_the_session_with_a_reason(tmp_path):
    clock = ManualClock()
    device = ReplayDevice(make_recording([make_block(0, 0.5, 1_000_000)], []), clock=clock)
    writer = SessionWriter.create(tmp_path / "s", MANIFEST)

    def fail():
        raise DeviceError("the cable")

    with (
        hold_run(free_addresses(), tmp_path) as holder,
        pytest.raises(DeviceError, match="the cable"),
    ):
        run_device(device, writer, holder.run, clock=clock, meanwhile=fail)
    assert writer.manifest.stop_reason == "the cable"
    assert read_session(tmp_path / "s").n_samples > 0
