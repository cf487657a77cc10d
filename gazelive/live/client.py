"""Subscription to a run: its documents in Python, from any process.

::

    for document in gazelive.live.subscribe():
        print(document)

A subscriber that comes late first gets the snapshot: the documents that describe the run so far.
It stays connected when the engine is replaced, and ends with the run.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
import zmq
from zmq.utils.monitor import recv_monitor_message

from gazelive.errors import PeerLostError
from gazelive.gaze import Document, RunStopped, decode, encode
from gazelive.live.wire.control import Answer, request, snapshot_messages
from gazelive.live.wire.doors import Door
from gazelive.live.wire.keys import Context
from gazelive.live.wire.transport import DocumentSubscriber

REMEMBERED = 5_000
"""Documents that are recognised in a later snapshot."""
OVERLAP_S = 2.0
"""A document of a snapshot may arrive by subscription up to this much later."""
TURN_S = 0.1
"""Longest wait before the state of the connection is looked at again."""

Kinds = Sequence[type[msgspec.Struct]]


class Subscription:
    """Documents of a run, one after the other; an iterator that ends with the run.

    Use it in one thread. Documents that were published while the engine was being replaced come
    with the snapshot of the new one; each comes once.
    """

    def __init__(self, door: Door, kinds: Kinds = (), *, snapshot: bool = True) -> None:
        self._way = door.way()
        self._kinds = tuple(kinds)
        self._context: Context = zmq.Context()
        end = (RunStopped,) if kinds and RunStopped not in kinds else ()
        self._subscriber = DocumentSubscriber(
            self._context,
            self._way.addresses.documents,
            (*kinds, *end),
            prepare=self._way.prepare,
        )
        self._monitor = self._subscriber.socket.get_monitor_socket(
            zmq.EVENT_HANDSHAKE_SUCCEEDED, f"inproc://{uuid.uuid4()}"
        )
        self._wants_snapshot = snapshot
        self._needs_snapshot = snapshot
        self._ready: deque[Document] = deque()
        self._seen: deque[bytes] = deque(maxlen=REMEMBERED)
        self._overlap: set[bytes] = set()
        self._overlap_until_s = 0.0
        self._is_over = self._closed = False

    def receive(self, timeout_s: float = 0.0) -> Document | None:
        """Return the next document, waiting for it up to `timeout_s`; None if none came."""
        until_s = time.monotonic() + timeout_s
        while True:
            if self._ready:
                return self._deliver(self._ready.popleft())
            if self._is_over:
                return None
            self._look()
            if self._ready:  # a snapshot; what arrives now may be older than its end
                continue
            left_s = until_s - time.monotonic()
            document = self._subscriber.receive(max(0.0, min(left_s, TURN_S)))
            if document is not None and self._is_new(document):
                self._ready.append(document)
            elif document is None and left_s <= 0 and not self._ready:
                self._is_over = self._way.is_over  # its processes died without a last document
                return None

    def ask(self, command: str, **arguments: Any) -> Answer:
        """Send a request such as `status` or `mark` (with `text`) and return the answer."""
        return request(
            self._context,
            self._way.addresses.control,
            command,
            prepare=self._way.prepare,
            **arguments,
        )

    @property
    def has_ended(self) -> bool:
        """True once the run has ended and all its documents were returned."""
        return self._is_over and not self._ready

    def __iter__(self) -> Iterator[Document]:
        return self

    def __next__(self) -> Document:
        while not self.has_ended:
            document = self.receive(1.0)
            if document is not None:
                return document
        self.close()
        raise StopIteration

    def close(self) -> None:
        """Close the connection; may be called twice."""
        if not self._closed:
            self._closed = self._is_over = True
            self._subscriber.socket.disable_monitor()
            self._monitor.close(0)
            self._subscriber.close()
            self._context.term()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def _look(self) -> None:
        """Ask for a snapshot after every connection, until one has come."""
        while self._monitor.poll(0):
            recv_monitor_message(self._monitor)
            self._needs_snapshot = self._wants_snapshot
        if not self._needs_snapshot:
            return
        try:
            answer = self.ask("snapshot")
        except PeerLostError:
            return  # not there yet; the subscription waits for it
        self._needs_snapshot = False
        messages = snapshot_messages(answer)
        seen = set(self._seen)
        self._ready.extend(decode(data) for data in messages if data not in seen)
        if time.monotonic() > self._overlap_until_s:
            self._overlap.clear()
        self._overlap |= set(messages) - seen  # those of a snapshot just before may still come
        self._overlap_until_s = time.monotonic() + OVERLAP_S

    def _is_new(self, document: Document) -> bool:
        """Return whether a document that arrives by subscription was not in the snapshot."""
        if not self._overlap:
            return True
        if time.monotonic() > self._overlap_until_s:
            self._overlap.clear()
            return True
        message = encode(document)
        is_new = message not in self._overlap
        self._overlap.discard(message)
        return is_new

    def _deliver(self, document: Document) -> Document | None:
        """Return a document, unless its kind is not wanted; remember it."""
        self._seen.append(encode(document))
        self._is_over = self._is_over or isinstance(document, RunStopped)
        return document if not self._kinds or isinstance(document, self._kinds) else None


def subscribe(
    run: str | Path | None = None,
    *,
    kinds: Kinds = (),
    keys: str | Path | None = None,
    snapshot: bool = True,
) -> Subscription:
    """Subscribe to the documents of a run; iterate over the result.

    `run` is an address, a session folder or the id of a run; None is your newest run on this
    computer. `kinds` chooses types of documents, such as `gazelive.gaze.SaccadeOnset`; by default
    all. `keys` is the folder of your keys (`gazelive keys`), for the run of another user or
    computer. Without `snapshot` only new documents come. Raises `TransportError` if there is no
    such run.
    """
    door = Door(None if run is None else str(run), None if keys is None else Path(keys))
    return Subscription(door, kinds, snapshot=snapshot)


async def subscribe_async(
    run: str | Path | None = None,
    *,
    kinds: Kinds = (),
    keys: str | Path | None = None,
    snapshot: bool = True,
) -> AsyncIterator[Document]:
    """Subscribe in an asyncio program: `async for document in subscribe_async():`.

    The arguments are those of `subscribe`. The sockets live in a thread of their own, which works
    with every event loop.
    """
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix="subscription") as thread:
        subscription = await loop.run_in_executor(
            thread, partial(subscribe, run, kinds=kinds, keys=keys, snapshot=snapshot)
        )
        try:
            while not subscription.has_ended:
                document = await loop.run_in_executor(thread, subscription.receive, TURN_S)
                if document is not None:
                    yield document
        finally:
            thread.submit(subscription.close).result()
