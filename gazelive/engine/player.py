"""The process that owns a device which needs no experiment: a replay, or a simulated viewer."""

from __future__ import annotations

from collections.abc import Callable

from gazelive.clock import Clock
from gazelive.devices.protocol import GazeDevice
from gazelive.devices.recorder import PATIENCE_S, Recorder
from gazelive.engine.device_control import DeviceControl
from gazelive.engine.transport import ChunkSender
from gazelive.recordings.session_folder import SessionWriter


def play(
    device: GazeDevice,
    writer: SessionWriter,
    sender: ChunkSender,
    control: DeviceControl,
    *,
    clock: Clock,
    meanwhile: Callable[[], None] = lambda: None,
) -> str:
    """Record one run until the device has no more or somebody stops it; return why it ended.

    Every chunk is on disk before it is sent. The device is stopped and the session closed with
    the reason, also when something fails: then with that failure, which is raised.
    """
    recorder = Recorder(device, writer, [sender], clock=clock)
    with writer:
        try:
            device.start()
            while not (device.finished or control.is_stopped):
                recorder.step(PATIENCE_S / 2)
                control.serve()
                meanwhile()
            reason = "stopped on request" if control.is_stopped else "the device had no more"
            device.stop()
            recorder.drain()
        except BaseException:
            recorder.rescue()
            raise
        recorder.finish(reason)
    sender.end_run(reason)
    return reason
