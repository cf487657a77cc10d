"""Requests to the engine and to the owners of devices, and answers, over real sockets.

The first byte of an input chooses who receives the rest.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import msgspec
import zmq

from gazelive.devices import GazeDevice, ReplayDevice, SimulatedDevice
from gazelive.errors import ModelError
from gazelive.gaze import RunStopped, decode, encode
from gazelive.live.engine.model import EngineModel
from gazelive.live.engine.runner import FOR_THE_DEVICE, Engine
from gazelive.live.settings import LiveSettings
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.control import (
    Answer,
    Request,
    connected_socket,
    decoded_map,
    snapshot_messages,
)
from gazelive.live.wire.device_control import DeviceControl, DeviceLink
from gazelive.live.wire.keys import Context

from ..support.manual_clock import ManualClock
from ..support.recordings import make_block, make_recording
from .target import Target

ENGINE, REPLAY, TRACKER, LINK, SUBSCRIBER = range(5)
COMMANDS = ("status", "snapshot", "load model", "stop", "dance", *FOR_THE_DEVICE)
ARGUMENTS: tuple[dict[str, object], ...] = (
    {},
    {"model": "a.model"},
    {"model": None},
    {"text": "x\ny"},
    {"speed": 2.0},
    {"speed": None},
    {"speed": -1},
)


def seeds(_folder: Path) -> list[bytes]:
    """Return every request, to each receiver, and answers."""
    requests = [
        msgspec.msgpack.encode({"command": command, **arguments})
        for command in COMMANDS
        for arguments in ARGUMENTS
    ]
    answers = [
        msgspec.msgpack.encode(answer)
        for answer in (
            {"ok": True, "playback": None},
            {"ok": False, "error": "x"},
            {"ok": True, "documents": [encode(RunStopped(reason="x"))]},
        )
    ]
    return [
        *(bytes([to]) + request for to in (ENGINE, REPLAY, TRACKER) for request in requests),
        *(bytes([to]) + answer for to in (LINK, SUBSCRIBER) for answer in answers),
    ]


def read(data: bytes, _folder: Path) -> None:
    """Send a message to one of the receivers, and take its answer."""
    receivers = _receivers()
    receivers[data[0] % len(receivers) if data else 0](data[1:])


_kept = ExitStack()


def _at_the_end(*closings: Callable[[], object]) -> None:
    for close in closings:
        _kept.callback(close)


def close() -> None:
    """Close all sockets and devices."""
    _receivers.cache_clear()
    _kept.close()


@functools.cache
def _receivers() -> tuple[Callable[[bytes], None], ...]:
    """Return what asks an engine, the owners of two kinds of devices, and what they answer to."""
    context: Context = zmq.Context()
    _at_the_end(partial(context.destroy, linger=0))
    recording = make_recording([make_block(0, 0.1, 1_000_000)], [])
    replayed = ReplayDevice(recording, clock=ManualClock())
    replayed.start()
    simulated = SimulatedDevice("v001", seed=1, session=1, clock=ManualClock())
    return (
        _ask_engine(context),
        *(_ask_owner(context, device) for device in (replayed, simulated)),
        _answer_link(context),
        _take_snapshot,
    )


def _ask_engine(context: Context) -> Callable[[bytes], None]:
    folder = Path(tempfile.gettempdir()) / "no session of gazelive"
    settings = LiveSettings(folder=folder, address=str(free_addresses()))
    # no model later on: their files are a target of their own, and warming them up takes long
    models = iter([EngineModel()])

    def load(path: Path | None) -> EngineModel:
        for model in models:
            return model
        raise ModelError(f"{path}: not here")

    engine = Engine(settings, clock=ManualClock(), load=load)
    _at_the_end(engine._close)
    client = connected_socket(
        context,
        zmq.DEALER,
        settings.addresses.control,
        prepare=engine.run_info.watching.secure,
    )
    _at_the_end(client.close)

    def ask(payload: bytes) -> None:
        client.send_multipart([b"", payload])
        while not client.poll(0):
            engine.step(1)
        assert decoded_map(client.recv_multipart()[-1]) is not None
        engine._stop_reason = None

    return ask


def _ask_owner(context: Context, device: GazeDevice) -> Callable[[bytes], None]:
    address = f"inproc://{id(device)}"
    control = DeviceControl(context, address, device)
    client = connected_socket(context, zmq.DEALER, address)
    _at_the_end(control.close, client.close, device.close)

    def ask(payload: bytes) -> None:
        client.send_multipart([b"", payload])
        while not client.poll(0):
            control.serve()
        answer = decoded_map(client.recv_multipart()[-1])
        assert answer is not None
        assert answer["ok"] or answer["error"]
        device.read_chunk(0.0)  # the messages that it was asked to send

    return ask


def _answer_link(context: Context) -> Callable[[bytes], None]:
    server = context.socket(zmq.ROUTER)
    server.bind("inproc://link")
    link = DeviceLink(context, "inproc://link")
    _at_the_end(server.close, link.close)
    clock = ManualClock()

    def answer(payload: bytes) -> None:
        link.ask(Request((), "status", {}))
        answers: list[tuple[Request, Answer]] = []
        while not answers:
            answers = link.step(clock.now_s())
            if server.poll(0):
                sender, number, *_ = server.recv_multipart()
                server.send_multipart([sender, number, b"", payload])
            else:  # the link gives up where this was no answer
                clock.advance_s(0.5)
        assert len(answers) == 1

    return answer


def _take_snapshot(payload: bytes) -> None:
    answer = decoded_map(payload)
    for message in snapshot_messages(answer or {}):
        decode(message)


TARGET = Target(
    read=read,
    seeds=seeds,
    close=close,
    tokens=tuple(msgspec.msgpack.encode(word) for word in (*COMMANDS, "command", "text", "speed")),
    longest=256,
)
