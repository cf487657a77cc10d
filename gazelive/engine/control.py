"""Requests and answers: msgpack maps both ways, one socket per server, nobody waits for ever.

A request is `{"command": name, …}`, an answer `{"ok": true, …}` or
`{"ok": false, "error": sentence}`.
"""

from __future__ import annotations

import contextlib
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
            try:
                arguments = msgspec.msgpack.decode(payload, type=dict[str, Any])
                command = arguments.pop("command")
                if isinstance(command, str):
                    return Request(tuple(envelope), command, arguments)
            except (msgspec.MsgspecError, KeyError):
                pass
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
            request, self._asked = self._asked, None
            if request is not None:
                self._take(request[0], answer, answers)
        if self._asked is not None and now_s > self._asked[1]:
            nobody: Answer = {"ok": False, "error": "nobody answers who owns a device"}
            request, self._asked = self._asked, None
            self._take(request[0], nobody, answers)
        if self._asked is None:
            self._send_next(now_s)
        return answers

    def _take(
        self, request: Request | None, answer: Answer, answers: list[tuple[Request, Answer]]
    ) -> None:
        self.status = answer if answer.get("ok") else {}
        if request is not None:
            answers.append((request, answer))

    def _send_next(self, now_s: float) -> None:
        request: Request | None = None
        payload: dict[str, Any] = {"command": "status"}
        if self._waiting:
            request = self._waiting.pop(0)
            payload = {"command": request.command, **request.arguments}
        elif now_s < self._next_status_s:
            return
        self._next_status_s = now_s + 1.0
        self._number += 1
        frames = [self._number.to_bytes(8, "little"), b"", msgspec.msgpack.encode(payload)]
        with contextlib.suppress(zmq.Again):  # nobody is there
            self.socket.send_multipart(frames, zmq.NOBLOCK)
        self._asked = request, now_s + REPLY_TIMEOUT_S * 0.75

    def _receive(self) -> Answer | None:
        while True:
            try:
                number, *_, payload = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return None
            if int.from_bytes(number, "little") == self._number:
                return msgspec.msgpack.decode(payload, type=dict[str, Any])

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
        try:
            answer = msgspec.msgpack.decode(socket.recv(), type=dict[str, Any])
        except msgspec.MsgspecError as error:
            raise TransportError(f"not an answer of this version: {error}") from error
    if not answer.get("ok", False):
        raise TransportError(str(answer.get("error", "refused without a reason")))
    return answer


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
    socket = context.socket(kind)
    socket.linger = 0
    try:
        if prepare is not None:
            prepare(socket)
        socket.bind(address)
    except zmq.ZMQError as error:
        socket.close()
        taken = error.errno == zmq.EADDRINUSE
        hint = " (another engine? choose another port with --bind)" if taken else ""
        raise TransportError(f"{address}: {error}{hint}") from error
    except BaseException:
        socket.close()
        raise
    return socket


def connected_socket(
    context: Context, kind: int, address: str, *, prepare: Prepare | None = None
) -> Socket:
    """Return a socket that connects, now or when somebody is there."""
    socket = context.socket(kind)
    socket.linger = 0
    try:
        if prepare is not None:
            prepare(socket)
        socket.connect(address)
    except zmq.ZMQError as error:
        socket.close()
        raise TransportError(f"{address}: {error}") from error
    except BaseException:
        socket.close()
        raise
    return socket
