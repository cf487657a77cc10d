"""Where a dashboard's documents come from: over ZeroMQ from an engine, or from a list.

On the wire: the engine publishes each document (`gazelive.gaze.documents.encode`) as one message,
and answers requests, msgpack maps both ways. A request is `{"command": name, …}`, a reply
`{"ok": true, …}` or `{"ok": false, "error": sentence}`. The commands a dashboard sends:

- `snapshot` → `documents`: what a late comer missed and needs, each as encoded on the wire
  (the last RunStarted, ModelLoaded, TrialStarted, Posterior, QualitySummary and Validated);
- `pause`, `resume`, `speed` (with `speed`: times real time, null is as fast as possible);
- `mark` (with `text`).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec
import zmq
from zmq.utils.monitor import recv_monitor_message

from gazelive.errors import PeerLostError, TransportError
from gazelive.gaze.documents import Document, Notice, decode

Command = Mapping[str, Any]
Reply = dict[str, Any]
Secure = Callable[["zmq.Socket[bytes]"], None]
"""Gives a client socket its CurveZMQ keys before it connects."""

MOST_PER_POLL = 5_000
"""Documents taken at once; the rest waits for the next poll, so that the window stays alive."""
QUEUE_LENGTH = 20_000
"""Documents that ZeroMQ keeps for a dashboard that does not keep up; older ones it leaves out."""
REPLY_TIMEOUT_MS = 2_000
HEARTBEAT_MS = 1_000
"""How often the engine's host is asked whether it is there; three silences and it is gone."""


@runtime_checkable
class DocumentFeed(Protocol):
    """What a dashboard needs from the world."""

    @property
    def connected(self) -> bool:
        """True while somebody is there who may send."""
        ...

    @property
    def source(self) -> str:
        """Who that is, in words."""
        ...

    def poll(self) -> list[Document]:
        """Return what has come since the last call, in its order; never waits."""
        ...

    def request(self, command: Command) -> Reply:
        """Ask for something and wait for the answer; from any thread, so that a window need not.

        Raises `PeerLostError` where nobody answers, `TransportError` where it is refused.
        """
        ...

    def close(self) -> None:
        """Let go of everything; twice too."""
        ...


class ZmqFeed:
    """Documents of an engine that may not be there yet, may die, and may come back."""

    def __init__(
        self, documents_address: str, control_address: str, *, secure: Secure | None = None
    ) -> None:
        self._documents_address = documents_address
        self._control_address = control_address
        self._secure = secure
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._subscriber = self._context.socket(zmq.SUB)
        self._subscriber.set_hwm(QUEUE_LENGTH)
        self._subscriber.setsockopt(zmq.RECONNECT_IVL, 100)
        self._subscriber.setsockopt(zmq.RECONNECT_IVL_MAX, 1_000)
        self._subscriber.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT_MS)
        self._subscriber.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3 * HEARTBEAT_MS)
        self._subscriber.subscribe(b"")
        self._monitor = self._subscriber.get_monitor_socket(
            zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED, f"inproc://{uuid.uuid4()}"
        )
        self._connected = False
        self._closed = False
        try:
            if secure is not None:
                secure(self._subscriber)
            self._subscriber.connect(documents_address)
        except zmq.ZMQError as error:
            self.close()
            raise TransportError(f"{documents_address}: {error}") from error
        except BaseException:  # keys that are wrong, say
            self.close()
            raise

    @property
    def connected(self) -> bool:
        """True while the connection stands, as of the last poll."""
        return self._connected

    @property
    def source(self) -> str:
        """The engine's address."""
        return self._documents_address

    def poll(self) -> list[Document]:
        """Return what has come since the last call; a message that is none becomes a notice."""
        self._watch_connection()
        found: list[Document] = []
        while len(found) < MOST_PER_POLL:
            try:
                message = self._subscriber.recv(zmq.NOBLOCK)
            except zmq.Again:
                break
            found.append(_document(message))
        return found

    def request(self, command: Command) -> Reply:
        """Send `command` over a socket of its own: one that never got its answer is of no use."""
        try:
            with self._context.socket(zmq.REQ) as socket:
                socket.setsockopt(zmq.LINGER, 0)
                if self._secure is not None:
                    self._secure(socket)
                socket.connect(self._control_address)
                socket.send(msgspec.msgpack.encode(dict(command)))
                if not socket.poll(REPLY_TIMEOUT_MS):
                    raise PeerLostError(f"the engine does not answer at {self._control_address}")
                return read_reply(socket.recv())
        except zmq.ZMQError as error:
            raise TransportError(f"{self._control_address}: {error}") from error

    def close(self) -> None:
        """Close the sockets."""
        if self._closed:
            return
        self._closed = True
        self._connected = False
        self._subscriber.disable_monitor()
        self._monitor.close(0)
        self._subscriber.close(0)
        self._context.term()

    def _watch_connection(self) -> None:
        while self._monitor.poll(0):
            event = recv_monitor_message(self._monitor)["event"]
            self._connected = event == zmq.EVENT_HANDSHAKE_SUCCEEDED


class ListFeed:
    """Documents from a list, given out in the portions they are put in; for tests and figures."""

    def __init__(
        self,
        documents: Iterable[Document] = (),
        *,
        answer: Callable[[Command], Reply] | None = None,
        source: str = "a list",
    ) -> None:
        self.connected = True
        self.source = source
        self.requests: list[Command] = []
        self._waiting = list(documents)
        self._answer = answer

    def put(self, *documents: Document) -> None:
        """Let the next poll return these too."""
        self._waiting += documents

    def poll(self) -> list[Document]:
        """Return everything that was put in since the last call."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def request(self, command: Command) -> Reply:
        """Keep the request and answer it with the function that was given."""
        self.requests.append(command)
        if not self.connected:
            raise PeerLostError("the engine does not answer")
        return {"ok": True} if self._answer is None else self._answer(command)

    def close(self) -> None:
        """Give out nothing more."""
        self._waiting = []
        self.connected = False


def read_reply(data: bytes) -> Reply:
    """Return the reply, or raise what it complains of."""
    try:
        reply = msgspec.msgpack.decode(data, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise TransportError(f"not an answer of this version: {error}") from error
    if not reply.get("ok", False):
        raise TransportError(str(reply.get("error", "refused without a reason")))
    return reply


def snapshot_documents(reply: Reply) -> list[Document]:
    """Return the documents that the answer to `snapshot` holds."""
    return [_document(data) for data in reply.get("documents", ())]


def _document(message: bytes) -> Document:
    try:
        return decode(message)
    except TransportError as error:
        return Notice(level="error", text=f"The engine sent something unreadable: {error}")
