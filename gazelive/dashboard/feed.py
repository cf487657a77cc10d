"""Where a dashboard's documents come from: over ZeroMQ from an engine, or from a list.

On the wire: the engine publishes each document (`gazelive.gaze.documents.encode`) as one message,
and answers requests, msgpack maps both ways. A request is `{"command": name, …}`, a reply
`{"ok": true, …}` or `{"ok": false, "error": sentence}`. The commands a dashboard sends:

- `snapshot` → `documents`: what a late comer missed and needs, in its order, each as encoded on
  the wire;
- `status`, every second → `playback`: null, or `paused` and `speed` of what is replayed;
- `pause`, `resume`, `speed` (with `speed`: times real time, null is as fast as possible);
- `mark` (with `text`).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import zmq
from zmq.utils.monitor import recv_monitor_message

from gazelive.engine import control
from gazelive.engine.control import REPLY_TIMEOUT_S, Prepare
from gazelive.engine.keys import Context
from gazelive.errors import PeerLostError, TransportError
from gazelive.gaze.documents import Document, Notice, decode

Command = Mapping[str, Any]
Reply = dict[str, Any]

MOST_PER_POLL = 5_000
"""Documents taken at once; the rest waits for the next poll, so that the window stays alive."""
DOCUMENT_QUEUE = 20_000
"""Documents that ZeroMQ keeps for a dashboard that does not keep up; older ones it leaves out."""
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
        self, documents_address: str, control_address: str, *, prepare: Prepare | None = None
    ) -> None:
        self.source = documents_address
        self.connected = False
        """As of the last poll."""
        self._control_address = control_address
        self._prepare = prepare
        self._closed = False
        self._context: Context = zmq.Context()
        self._subscriber = self._context.socket(zmq.SUB)
        self._subscriber.rcvhwm = DOCUMENT_QUEUE
        self._subscriber.setsockopt(zmq.RECONNECT_IVL_MAX, 1_000)
        self._subscriber.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT_MS)
        self._subscriber.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3 * HEARTBEAT_MS)
        self._subscriber.subscribe(b"")
        self._monitor = self._subscriber.get_monitor_socket(
            zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED, f"inproc://{uuid.uuid4()}"
        )
        try:
            if prepare is not None:
                prepare(self._subscriber)
            self._subscriber.connect(documents_address)
        except zmq.ZMQError as error:
            self.close()
            raise TransportError(f"{documents_address}: {error}") from error
        except BaseException:  # keys that are wrong, say
            self.close()
            raise

    def poll(self) -> list[Document]:
        """Return what has come since the last call; a message that is none becomes a notice."""
        while self._monitor.poll(0):
            event = recv_monitor_message(self._monitor)["event"]
            self.connected = event == zmq.EVENT_HANDSHAKE_SUCCEEDED
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
        name, arguments = command["command"], {k: command[k] for k in command if k != "command"}
        try:
            return control.request(
                self._context,
                self._control_address,
                name,
                prepare=self._prepare,
                timeout_s=REPLY_TIMEOUT_S,
                **arguments,
            )
        except zmq.ZMQError as error:
            raise TransportError(f"{self._control_address}: {error}") from error

    def close(self) -> None:
        """Close the sockets; a request that is under way fails."""
        if self._closed:
            return
        self._closed = True
        self.connected = False
        self._subscriber.disable_monitor()
        self._monitor.close(0)
        self._subscriber.close(0)
        self._context.term()


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


def snapshot_documents(reply: Reply) -> list[Document]:
    """Return the documents that the answer to `snapshot` holds."""
    return [_document(data) for data in reply.get("documents", ())]


def _document(message: bytes) -> Document:
    try:
        return decode(message)
    except TransportError as error:
        return Notice(level="error", text=f"The engine sent something unreadable: {error}")
