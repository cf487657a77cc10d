"""Requests and answers: msgpack maps both ways, one socket per server, nobody waits for ever.

A request is `{"command": name, …}`, an answer `{"ok": true, …}` or
`{"ok": false, "error": sentence}`.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import zmq

from gazelive.engine.keys import Context, Socket
from gazelive.errors import GazeliveError, PeerLostError, TransportError

Answer = dict[str, Any]
Prepare = Callable[[Socket], None]
"""Gives a socket its keys and limits before it is bound or connected."""

REPLY_TIMEOUT_S = 2.0
_NOT_HERE = " (is it an address of this computer?)"
_HINTS = {
    zmq.EADDRINUSE: " (another engine? choose another port with --bind)",
    zmq.EADDRNOTAVAIL: _NOT_HERE,
    errno.ENODEV: _NOT_HERE,
}
_NOBODY: Answer = {"ok": False, "error": "nobody answers who owns a device"}


@dataclass(frozen=True)
class Request:
    """What somebody asked for, and how to reach them."""

    envelope: tuple[bytes, ...]
    command: str
    arguments: dict[str, Any]


class ControlServer:
    """Takes requests when asked to; never waits."""

    def __init__(self, context: Context, address: str, *, prepare: Prepare | None = None) -> None:
        self.socket = bound_socket(context, zmq.ROUTER, address, prepare=prepare)

    def receive(self) -> Request | None:
        """Return the next request; what is none is answered here."""
        while True:
            try:
                *envelope, payload = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return None
            arguments = _decoded(payload)
            command = None if arguments is None else arguments.pop("command", None)
            if arguments is not None and isinstance(command, str):
                return Request(tuple(envelope), command, arguments)
            self._send(tuple(envelope), {"ok": False, "error": "not a request of this version"})

    def answer(self, request: Request, **facts: Any) -> None:
        """Say that it was done."""
        self._send(request.envelope, {"ok": True, **facts})

    def refuse(self, request: Request, error: str) -> None:
        """Say why it was not done."""
        self._send(request.envelope, {"ok": False, "error": error})

    def pass_on(self, request: Request, answer: Answer) -> None:
        """Give somebody else's answer."""
        self._send(request.envelope, answer)

    def _send(self, envelope: tuple[bytes, ...], answer: Answer) -> None:
        # a router drops what it has nobody for
        self.socket.send_multipart([*envelope, msgspec.msgpack.encode(answer)], zmq.NOBLOCK)

    def close(self) -> None:
        """Close the socket, after what was answered has left."""
        self.socket.close(linger=500)


class DeviceLink:
    """Passes requests on to the owner of the device, one at a time, without waiting for it."""

    def __init__(self, context: Context, address: str) -> None:
        self.socket = connected_socket(context, zmq.DEALER, address, prepare=_only_if_there)
        self._asked: tuple[Request | None, float] | None = None
        self._waiting: list[Request] = []
        self._next_status_s = 0.0
        self._number = 0
        self.status: Answer = {}
        """What the owner said last of itself; empty where nobody is there."""

    def ask(self, request: Request) -> None:
        """Pass a request on, as soon as those before it have their answers."""
        self._waiting.append(request)

    def step(self, now_s: float) -> list[tuple[Request, Answer]]:
        """Send what can be sent; return the answers that have come, or will not."""
        answers: list[tuple[Request, Answer]] = []
        while (answer := self._receive()) is not None:
            self._take(answer, answers)
        if self._asked is not None and now_s > self._asked[1]:
            self._take(_NOBODY, answers)
        while self._asked is None and self._has_next(now_s):
            if not self._send_next(now_s):
                self._take(_NOBODY, answers)
        return answers

    def _take(self, answer: Answer, answers: list[tuple[Request, Answer]]) -> None:
        """Give an answer to whoever has asked."""
        asked, self._asked = self._asked, None
        if answer.get("ok"):
            self.status = answer
        elif answer is _NOBODY:
            self.status = {}
        if asked is not None and asked[0] is not None:
            answers.append((asked[0], answer))

    def _has_next(self, now_s: float) -> bool:
        return bool(self._waiting) or now_s >= self._next_status_s

    def _send_next(self, now_s: float) -> bool:
        """Send what waits, else a question how the device stands; False where nobody is there."""
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
            answer = _decoded(frames[-1])
            if answer is not None and frames[0] == _number_frame(self._number):
                return answer  # others came too late, or are none

    def close(self) -> None:
        """Close the socket."""
        self.socket.close(linger=0)


def request(
    context: Context,
    address: str,
    command: str,
    *,
    prepare: Prepare | None = None,
    timeout_s: float = REPLY_TIMEOUT_S,
    **arguments: Any,
) -> Answer:
    """Ask for something and wait for the answer.

    Raises `PeerLostError` where nobody answers, `TransportError` where it is refused.
    """
    with connected_socket(context, zmq.REQ, address, prepare=prepare) as socket:
        socket.linger = 0
        socket.sndtimeo = round(1000 * timeout_s)
        try:
            socket.send(msgspec.msgpack.encode({"command": command, **arguments}))
        except zmq.Again:  # a peer that has refused our keys takes nothing
            raise PeerLostError(f"nobody answers at {address}") from None
        if not socket.poll(round(1000 * timeout_s)):
            raise PeerLostError(f"nobody answers at {address}")
        answer = _decoded(socket.recv())
    if answer is None:
        raise TransportError(f"what answers at {address} is no gazelive of this version")
    if not answer.get("ok", False):
        raise TransportError(str(answer.get("error", "refused without a reason")))
    return answer


def _decoded(payload: bytes) -> dict[str, Any] | None:
    """Return the map that somebody sent; None where it is none, whatever else it is."""
    try:
        return msgspec.msgpack.decode(payload, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _number_frame(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _only_if_there(socket: Socket) -> None:
    """Send to a peer that is there or not at all: what is old is of no use to one that comes."""
    socket.setsockopt(zmq.IMMEDIATE, 1)
    socket.setsockopt(zmq.RECONNECT_IVL, 500)


def sentence(error: Exception) -> str:
    """Return what is said of an error to whoever asked."""
    return str(error) if isinstance(error, GazeliveError) else f"{type(error).__name__}: {error}"


def bound_socket(
    context: Context, kind: int, address: str, *, prepare: Prepare | None = None
) -> Socket:
    """Return a socket at an address, or raise a `TransportError`."""
    return _socket(context, kind, address, prepare, Socket.bind)


def connected_socket(
    context: Context, kind: int, address: str, *, prepare: Prepare | None = None
) -> Socket:
    """Return a socket that connects, now or when somebody is there."""
    return _socket(context, kind, address, prepare, Socket.connect)


def _socket(
    context: Context,
    kind: int,
    address: str,
    prepare: Prepare | None,
    reach: Callable[[Socket, str], object],
) -> Socket:
    socket = context.socket(kind)
    socket.linger = 0
    socket.ipv6 = "[" in address
    try:
        if prepare is not None:
            prepare(socket)
        reach(socket, address)
    except zmq.ZMQError as error:
        socket.close()
        raise TransportError(
            f"{address}: {zmq.strerror(error.errno or 0)}{_HINTS.get(error.errno or 0, '')}"
        ) from error
    except BaseException:
        socket.close()
        raise
    return socket
