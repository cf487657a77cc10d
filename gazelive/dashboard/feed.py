"""Documents of an engine for the dashboard, over ZeroMQ.

The engine publishes each document (`gazelive.gaze.documents.encode`) as one message and answers
requests; both directions use msgpack maps. A request is `{"command": name, …}`, a reply
`{"ok": true, …}` or `{"ok": false, "error": sentence}`. The dashboard sends:

- `snapshot` → `documents`: the documents that a late subscriber missed, in order, encoded;
- `status`, every second → `playback`: null, or `paused` and `speed` of the replay; `takes`: which
  of the last two the session takes, null while its process does not answer;
- `pause`, `resume`, `speed` (with `speed`: relative to real time, null is as fast as possible);
- `mark` (with `text`);
- `calibrate` (before the next trial) and `end` (the session).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import zmq
from zmq.utils.monitor import recv_monitor_message

from gazelive.errors import PeerLostError, TransportError
from gazelive.gaze import Document, Notice, decode
from gazelive.live import REPLY_TIMEOUT_S, Context, Door, Prepare, Way, request

Command = Mapping[str, Any]
Reply = dict[str, Any]

MOST_PER_POLL = 5_000
"""Documents per poll; the rest waits for the next poll to keep the window responsive."""
DOCUMENT_QUEUE = 20_000
"""Documents that ZeroMQ queues for a slow dashboard before it drops some."""
LOOK_S = 0.5
"""Interval of looks for a run that is not there."""
HEARTBEAT_MS = 1_000
"""Interval of heartbeats; the connection is lost after three without a reply."""


@runtime_checkable
class DocumentFeed(Protocol):
    """A source of documents that also answers requests."""

    @property
    def connected(self) -> bool:
        """True if the sender is connected."""
        ...

    @property
    def source(self) -> str:
        """The sender's address or name."""
        ...

    def poll(self) -> list[Document]:
        """Return the documents since the last call, in order, without waiting."""
        ...

    def request(self, command: Command) -> Reply:
        """Send a request and wait for the reply; may be called from any thread.

        Raises `PeerLostError` without a reply, `TransportError` if the request is refused.
        """
        ...

    def close(self) -> None:
        """Close all connections; may be called twice."""
        ...


class ZmqFeed:
    """Documents of an engine that may start late, stop and restart."""

    def __init__(
        self, documents_address: str, control_address: str, *, prepare: Prepare | None = None
    ) -> None:
        self.source = documents_address
        self.connected = False
        """Connection at the last poll."""
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
        except BaseException:  # for example wrong keys
            self.close()
            raise

    def poll(self) -> list[Document]:
        """Return the documents since the last call; an unreadable message becomes a notice."""
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
        """Send `command` over a new socket: one that got no reply cannot be used again."""
        name, arguments = command["command"], {k: command[k] for k in command if k != "command"}
        try:
            return request(
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
        """Close the sockets; a pending request fails."""
        if self._closed:
            return
        self._closed = True
        self.connected = False
        self._subscriber.disable_monitor()
        self._monitor.close(0)
        self._subscriber.close(0)
        self._context.term()


class RunFeed:
    """Documents of a run that is found by its run file, now or as soon as it starts.

    When its run is over, the next one takes its place.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._way: Way | None = None
        self._feed: ZmqFeed | None = None
        self._next_look_s = 0.0
        self._look()

    @property
    def connected(self) -> bool:
        """True if the engine is connected."""
        return self._feed is not None and self._feed.connected

    @property
    def source(self) -> str:
        """Address of the engine, or the run that is awaited."""
        return str(self._door) if self._feed is None else self._feed.source

    def poll(self) -> list[Document]:
        """Return the documents since the last call."""
        found = [] if self._feed is None else self._feed.poll()
        if not self.connected and time.monotonic() >= self._next_look_s:
            self._look()
        return found

    def request(self, command: Command) -> Reply:
        """Send a request to the engine and wait for the reply."""
        feed = self._feed
        if feed is None:
            raise PeerLostError(f"no engine yet: {self._door}")
        return feed.request(command)

    def close(self) -> None:
        """Close the connections; may be called twice."""
        if self._feed is not None:
            self._feed.close()

    def _look(self) -> None:
        """Connect to the run, unless it is the one that was connected before."""
        self._next_look_s = time.monotonic() + LOOK_S
        way = self._door.way_if_any()
        if way is None or (self._way is not None and way.run == self._way.run):
            return
        self.close()
        self._way = way
        addresses = way.addresses
        self._feed = ZmqFeed(addresses.documents, addresses.control, prepare=way.prepare)


def snapshot_documents(reply: Reply) -> list[Document]:
    """Return the documents in the reply to `snapshot`."""
    return [_document(data) for data in reply.get("documents", ())]


def _document(message: bytes) -> Document:
    try:
        return decode(message)
    except TransportError as error:
        return Notice(level="error", text=f"Unreadable message from the engine: {error}")
