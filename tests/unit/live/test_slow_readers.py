"""Readers that never read: the engine keeps little for them, and nobody else waits."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import msgspec
import pytest
import zmq

from gazelive.gaze.documents import Notice
from gazelive.live.wire import transport
from gazelive.live.wire.addresses import Addresses, free_addresses
from gazelive.live.wire.control import ANSWER_QUEUE, ControlServer
from gazelive.live.wire.keys import Context
from gazelive.live.wire.transport import DocumentPublisher, DocumentSubscriber

from .test_transport import PATIENCE_S, subscribed

QUEUE, BATCH, N_BATCHES = 2000, 100, 150
"""Batches are short: ZeroMQ learns only in steps of half a queue what a reader has taken."""
TEXT = "x" * 2000
IN_TCP_BYTES = 12_000_000
"""The system's buffers of both ends grow to less than this."""


@pytest.fixture
def context() -> Iterator[Context]:
    context: Context = zmq.Context()
    yield context
    context.destroy(linger=0)


@pytest.fixture
def addresses() -> Addresses:
    return free_addresses()


class LazySubscriber(DocumentSubscriber):
    """Subscribes and never reads; its own queue is short."""

    def __init__(self, context: Context, address: str) -> None:
        def short(socket: zmq.Socket[bytes]) -> None:
            socket.rcvhwm = 10

        super().__init__(context, address, prepare=short)

    def n_unread(self) -> int:
        """Read all that was kept for it."""
        n = 0
        while self.socket.poll(1000):
            self.socket.recv()
            n += 1
        return n


def test_a_subscriber_that_never_reads_delays_nobody_and_fills_no_memory(
    context: Context, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "DOCUMENT_QUEUE", QUEUE)
    publisher = DocumentPublisher(context, addresses.documents)
    host, port = addresses.documents.removeprefix("tcp://").rsplit(":", 1)
    with socket.create_connection((host, int(port))):  # it connects and says nothing at all
        n_kept = publish_to_both(context, addresses, publisher)
    assert n_kept < QUEUE + 10 + IN_TCP_BYTES / len(TEXT) < N_BATCHES * BATCH
    publisher.close()


def publish_to_both(context: Context, addresses: Addresses, publisher: DocumentPublisher) -> int:
    """Publish; one reader gets all of it at once, return how much was kept for the other."""
    lazy = LazySubscriber(context, addresses.documents)
    eager = DocumentSubscriber(context, addresses.documents)
    subscribed(publisher, lazy, eager)
    for batch in range(N_BATCHES):
        sent = [Notice(level="info", text=f"{batch} {k} {TEXT}") for k in range(BATCH)]
        for document in sent:
            publisher.write(document)
        for document in sent:
            assert eager.receive(PATIENCE_S) == document
    n_kept = lazy.n_unread()
    lazy.close()
    eager.close()
    return n_kept


def test_answers_that_nobody_reads_are_dropped(context: Context, addresses: Addresses) -> None:
    server = ControlServer(context, addresses.control)
    lazy = context.socket(zmq.DEALER)
    lazy.rcvhwm = 1
    lazy.connect(addresses.control)
    n_asked, answer_bytes = 400, 100_000
    for _ in range(n_asked):
        lazy.send_multipart([b"", msgspec.msgpack.encode({"command": "snapshot"})])
        assert server.socket.poll(1000 * PATIENCE_S)
        for asked in server.requests():
            server.answer(asked, documents=bytes(answer_bytes))
    other = context.socket(zmq.REQ)
    other.connect(addresses.control)
    other.send(msgspec.msgpack.encode({"command": "status"}))
    assert server.socket.poll(1000 * PATIENCE_S)
    for asked in server.requests():
        server.answer(asked, state="live")
    assert other.poll(1000 * PATIENCE_S), "others get theirs"
    n_kept = 0
    while lazy.poll(1000):
        lazy.recv_multipart()
        n_kept += 1
    assert n_kept <= ANSWER_QUEUE + 1 + IN_TCP_BYTES / answer_bytes < n_asked
    lazy.close(0)
    other.close(0)
    server.close()
