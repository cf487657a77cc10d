"""Requests and answers: msgpack maps both ways, one socket per server, with time-outs.

A request is `{"command": name, …}`, an answer `{"ok": true, …}` or
`{"ok": false, "error": sentence}`.
"""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import zmq

from gazelive.errors import GazeliveError, PeerLostError, TransportError
from gazelive.live.wire.keys import Context, Socket
from gazelive.system import UNDECODABLE

Answer = dict[str, Any]
Prepare = Callable[[Socket], None]
"""Gives a socket its keys and limits before it is bound or connected."""

REPLY_TIMEOUT_S = 2.0
MOST_REQUESTS, REQUESTS_S = 8, 0.002
"""Most requests that are answered at once, and the longest time for it."""
BEAT_S = 1.0
"""Interval of heartbeats."""
ANSWER_QUEUE = 20
"""Answers that wait for a client that does not read them; further ones are dropped."""
_NOT_HERE = " (is it an address of this computer?)"
_HINTS = {
    zmq.EADDRINUSE: " (another engine? choose another port with --bind)",
    zmq.EADDRNOTAVAIL: _NOT_HERE,
    errno.ENODEV: _NOT_HERE,
}


@dataclass(frozen=True)
class Request:
    """A request and the envelope of its sender."""

    envelope: tuple[bytes, ...]
    command: str
    arguments: dict[str, Any]


class ControlServer:
    """Takes requests when asked to; never waits."""

    def __init__(self, context: Context, address: str, *, prepare: Prepare | None = None) -> None:
        self.socket = bound_socket(context, zmq.ROUTER, address, prepare=_answering(prepare))

    def requests(self, most: int = MOST_REQUESTS) -> Iterator[Request]:
        """Yield the requests that have come; anything else is refused here.

        After `most` messages or `REQUESTS_S` the rest waits for the next call, so that a flood of
        requests cannot starve the caller's thread.
        """
        until_s = time.monotonic() + REQUESTS_S
        for _ in range(most):
            try:
                *envelope, payload = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            arguments = decoded_map(payload)
            command = None if arguments is None else arguments.pop("command", None)
            if arguments is not None and isinstance(command, str):
                yield Request(tuple(envelope), command, arguments)
            else:
                self._send(tuple(envelope), {"ok": False, "error": "not a request of this version"})
            if time.monotonic() > until_s:
                return

    def answer(self, request: Request, **facts: Any) -> None:
        """Answer that it was done."""
        self._send(request.envelope, {"ok": True, **facts})

    def refuse(self, request: Request, error: str) -> None:
        """Answer why it was not done."""
        self._send(request.envelope, {"ok": False, "error": error})

    def pass_on(self, request: Request, answer: Answer) -> None:
        """Pass on another process's answer."""
        self._send(request.envelope, answer)

    def _send(self, envelope: tuple[bytes, ...], answer: Answer) -> None:
        # a router drops messages to a peer that is gone or does not read
        self.socket.send_multipart([*envelope, msgspec.msgpack.encode(answer)], zmq.NOBLOCK)

    def close(self) -> None:
        """Close the socket after the last answers have left."""
        self.socket.close(linger=500)


def request(
    context: Context,
    address: str,
    command: str,
    *,
    prepare: Prepare | None = None,
    timeout_s: float = REPLY_TIMEOUT_S,
    **arguments: Any,
) -> Answer:
    """Send a request and wait for the answer.

    Raises `PeerLostError` without an answer, `TransportError` if the request is refused.
    """
    with connected_socket(context, zmq.REQ, address, prepare=prepare) as socket:
        socket.linger = 0
        socket.sndtimeo = round(1000 * timeout_s)
        try:
            socket.send(msgspec.msgpack.encode({"command": command, **arguments}))
        except zmq.Again:  # a peer that has refused our keys takes nothing
            raise PeerLostError(f"no answer from {address}") from None
        if not socket.poll(round(1000 * timeout_s)):
            raise PeerLostError(f"no answer from {address}")
        answer = decoded_map(socket.recv())
    if answer is None:
        raise TransportError(f"the process at {address} is not a gazelive of this version")
    if not answer.get("ok", False):
        raise TransportError(str(answer.get("error", "refused without a reason")))
    return answer


class Heartbeat:
    """Asks an engine for its status once a second, without ever waiting for it."""

    def __init__(
        self,
        context: Context,
        address: str,
        prepare: Prepare | None = None,
        *,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._socket = connected_socket(context, zmq.DEALER, address, prepare=prepare)
        self._now_s = now_s
        self.reset()

    def reset(self) -> None:
        """Begin anew, with another process."""
        self.has_answered = False
        self._silent_s = 0.0
        self._next_s = self._looked_s = self._now_s()

    def note_answer(self) -> None:
        """Take an answer to another request as a beat."""
        self.has_answered, self._silent_s = True, 0.0

    def silent_s(self) -> float:
        """Return the seconds since the last answer; call it again and again.

        Time between two calls counts as `BEAT_S` at most: a computer that slept for an hour has
        given the engine no time to answer.
        """
        now_s = self._now_s()
        self._silent_s += min(now_s - self._looked_s, BEAT_S)
        self._looked_s = now_s
        while True:
            try:
                self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            self.note_answer()
            self._next_s = now_s + BEAT_S
        if now_s >= self._next_s:
            # sent again after a while: a process that died took the last one with it
            self._next_s = now_s + 5 * BEAT_S
            with contextlib.suppress(zmq.Again):
                payload = msgspec.msgpack.encode({"command": "status"})
                self._socket.send_multipart([b"", payload], zmq.NOBLOCK)
        return self._silent_s

    def close(self) -> None:
        """Close the socket."""
        self._socket.close(linger=0)


def _answering(prepare: Prepare | None) -> Prepare:
    def prepared(socket: Socket) -> None:
        socket.sndhwm = ANSWER_QUEUE
        if prepare is not None:
            prepare(socket)

    return prepared


def decoded_map(payload: bytes) -> dict[str, Any] | None:
    """Return the map in a message; None if it is anything else."""
    try:
        return msgspec.msgpack.decode(payload, type=dict[str, Any])
    except UNDECODABLE:
        return None


def snapshot_messages(answer: Answer) -> list[bytes]:
    """Return the documents, as on the wire, in the answer to `snapshot`."""
    messages = answer.get("documents")
    if not isinstance(messages, list) or not all(isinstance(one, bytes) for one in messages):
        raise TransportError("not a snapshot of this version: use the same gazelive on both sides")
    return messages


def sentence(error: Exception) -> str:
    """Return an error as the text of an answer."""
    return str(error) if isinstance(error, GazeliveError) else f"{type(error).__name__}: {error}"


def bound_socket(
    context: Context, kind: int, address: str, *, prepare: Prepare | None = None
) -> Socket:
    """Return a socket at an address, or raise a `TransportError`."""
    return _socket(context, kind, address, prepare, Socket.bind)


def connected_socket(
    context: Context, kind: int, address: str, *, prepare: Prepare | None = None
) -> Socket:
    """Return a socket that connects as soon as its peer is there."""
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
