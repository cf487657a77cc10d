"""The process that owns a device which needs no experiment, such as a replay."""

from __future__ import annotations

from collections.abc import Callable

import zmq

from gazelive.clock import Clock
from gazelive.devices.protocol import GazeDevice
from gazelive.devices.recorder import PATIENCE_S, Recorder
from gazelive.engine.addresses import Addresses
from gazelive.engine.device_control import DeviceControl
from gazelive.engine.keys import Context
from gazelive.engine.transport import ChunkSender
from gazelive.recordings.session_folder import SessionWriter


def own_device(
    device: GazeDevice,
    writer: SessionWriter,
    addresses: Addresses,
    *,
    clock: Clock,
    meanwhile: Callable[[], None] = lambda: None,
) -> str:
    """Record one run, sending it to the engine and answering requests; return why it ended."""
    context: Context = zmq.Context()
    sender = ChunkSender(context, addresses.chunks)
    control = DeviceControl(context, addresses.device, device)
    try:
        return play(device, writer, sender, control, clock=clock, meanwhile=meanwhile)
    finally:
        sender.close()
        control.close()
        context.term()


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

    `meanwhile` is called again and again. Every chunk is on disk before it is sent. The device is
    stopped and the session closed with the reason, also when something fails: then with that
    failure, which is raised.
    """
    recorder = Recorder(device, writer, [sender], clock=clock)
    with writer:
        try:
            device.start()
            reason = None
            while reason is None:
                recorder.step(PATIENCE_S / 2)
                control.serve()
                meanwhile()
                if control.is_stopped:
                    reason = "stopped on request"
                elif device.finished:
                    reason = "the device had no more"
            device.stop()
            recorder.drain()
        except BaseException:
            recorder.rescue()
            raise
        recorder.finish(reason)
    sender.end_run(reason)
    return reason
