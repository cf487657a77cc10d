"""Requests to the owner of a device: playback, mark, calibrate, end and status; both ends."""

from __future__ import annotations

import threading
from typing import Any

import msgspec
import zmq

from gazelive.devices import Calibrates, ControlsPlayback, GazeDevice, SendsMessages
from gazelive.errors import ConfigError, DeviceError, GazeliveError, TransportError
from gazelive.live.wire.control import (
    REPLY_TIMEOUT_S,
    Answer,
    ControlServer,
    Prepare,
    Request,
    connected_socket,
    decoded_map,
)
from gazelive.live.wire.keys import Context, Socket


def mark_message(text: str) -> str:
    """Return the message of a mark, which can never act as a message of the protocol."""
    return f"MARK {' '.join(text.split())}".rstrip()


class DeviceControl:
    """Answers requests in the thread that owns the device, whenever it finds the time."""

    def __init__(
        self,
        context: Context,
        address: str,
        device: GazeDevice,
        *,
        prepare: Prepare | None = None,
    ) -> None:
        self._device = device
        self._server = ControlServer(context, address, prepare=prepare)
        self.is_stopped = False
        """True after a request to end the session."""
        self._calibration = threading.Event()

    def serve(self) -> None:
        """Answer some of the requests that have come; never wait."""
        for request in self._server.requests():
            try:
                self._do(request)
                self._server.answer(request, **self.facts())
            except GazeliveError as error:
                self._server.refuse(request, str(error))

    def take_calibration_request(self) -> bool:
        """Return, once and in any thread, whether a calibration was requested."""
        if not self._calibration.is_set():
            return False
        self._calibration.clear()
        return True

    def facts(self) -> dict[str, Any]:
        """Return the status of the device, and which requests it takes."""
        device = self._device
        playback, takes = None, ["end"]
        if isinstance(device, ControlsPlayback):
            playback = msgspec.to_builtins(device.playback())
        if isinstance(device, Calibrates):
            takes.append("calibrate")
        return {"device": device.describe().device, "playback": playback, "takes": takes}

    def close(self) -> None:
        """Answer no more."""
        self._server.close()

    def _do(self, request: Request) -> None:
        match request.command:
            case "status":
                pass
            case "end":
                self.is_stopped = True
            case "calibrate":
                if not isinstance(self._device, Calibrates):
                    raise DeviceError("this device cannot be calibrated")
                self._calibration.set()
            case "mark":
                if not isinstance(self._device, SendsMessages):
                    raise DeviceError("this device takes no messages")
                self._device.send_message(mark_message(str(request.arguments.get("text", ""))))
            case "pause" | "resume" | "speed":
                if not isinstance(self._device, ControlsPlayback):
                    raise DeviceError("a live tracker cannot be paused")
                self._play(self._device, request)
            case command:
                raise ConfigError(f"unknown request {command!r}")

    def _play(self, device: ControlsPlayback, request: Request) -> None:
        if request.command == "pause":
            device.pause()
        elif request.command == "resume":
            device.resume()
        else:
            speed = request.arguments.get("speed")
            if speed is not None and not isinstance(speed, (int, float)):
                raise ConfigError(f"must be a number or nothing, not {speed!r}", key="speed")
            device.set_speed(None if speed is None else float(speed))


MOST_WAITING = 50
"""Requests that wait for the owner of the device; further ones are refused."""
_NO_ANSWER: Answer = {"ok": False, "error": "the owner of the device does not answer"}


class DeviceLink:
    """Passes requests on to the owner of the device, one at a time, without waiting for it."""

    def __init__(self, context: Context, address: str, *, prepare: Prepare | None = None) -> None:
        self.socket = connected_socket(
            context, zmq.DEALER, address, prepare=_only_if_there(prepare)
        )
        self._asked: tuple[Request | None, float] | None = None
        self._waiting: list[Request] = []
        self._next_status_s = 0.0
        self._number = 0
        self.status: Answer = {}
        """Last status of the owner; empty while it does not answer."""

    def ask(self, request: Request) -> None:
        """Pass a request on, as soon as those before it have their answers."""
        if len(self._waiting) >= MOST_WAITING:
            raise TransportError("too many requests are waiting for the owner of the device")
        self._waiting.append(request)

    def step(self, now_s: float) -> list[tuple[Request, Answer]]:
        """Send what can be sent; return the answers that have come, or will not."""
        answers: list[tuple[Request, Answer]] = []
        while (answer := self._receive()) is not None:
            self._take(answer, answers)
        if self._asked is not None and now_s > self._asked[1]:
            self._take(_NO_ANSWER, answers)
        while self._asked is None and self._has_next(now_s):
            if not self._send_next(now_s):
                self._take(_NO_ANSWER, answers)
        return answers

    def _take(self, answer: Answer, answers: list[tuple[Request, Answer]]) -> None:
        """Take the answer to the pending request."""
        asked, self._asked = self._asked, None
        if answer.get("ok"):
            self.status = answer
        elif answer is _NO_ANSWER:
            self.status = {}
        if asked is not None and asked[0] is not None:
            answers.append((asked[0], answer))

    def _has_next(self, now_s: float) -> bool:
        return bool(self._waiting) or now_s >= self._next_status_s

    def _send_next(self, now_s: float) -> bool:
        """Send the next request, else ask for the status; return False without a peer."""
        request: Request | None = None
        payload: dict[str, Any] = {"command": "status"}
        if self._waiting:
            request = self._waiting.pop(0)
            payload = {"command": request.command, **request.arguments}
        self._next_status_s = now_s + 1.0
        self._number += 1
        self._asked = request, now_s + REPLY_TIMEOUT_S * 0.75
        frames = [_number_frame(self._number), b"", msgspec.msgpack.encode(payload)]
        try:
            self.socket.send_multipart(frames, zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def _receive(self) -> Answer | None:
        while True:
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return None
            answer = decoded_map(frames[-1])
            if answer is not None and frames[0] == _number_frame(self._number):
                return answer  # others came too late, or are none

    def close(self) -> None:
        """Close the socket."""
        self.socket.close(linger=0)


def _number_frame(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _only_if_there(prepare: Prepare | None) -> Prepare:
    """Queue nothing for a peer that is not there: it has no use for old requests."""

    def prepared(socket: Socket) -> None:
        socket.setsockopt(zmq.IMMEDIATE, 1)
        socket.setsockopt(zmq.RECONNECT_IVL, 500)
        if prepare is not None:
            prepare(socket)

    return prepared
