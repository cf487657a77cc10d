"""Chunks to the engine and documents from it, over ZeroMQ.

Senders never wait. The engine fills in missing chunks from the session folder by their numbers; a
dashboard does not get missed documents again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import msgspec
import zmq

from gazelive.gaze import (
    Chunk,
    Document,
    ModelLoaded,
    Posterior,
    StreamDescription,
    decode,
    encode,
)
from gazelive.live.wire.chunks import (
    WIRE_VERSION,
    BlockEnded,
    ChunkDecoder,
    ChunkEncoder,
    RunEnded,
    Wired,
    encode_end,
)
from gazelive.live.wire.control import Prepare, bound_socket, connected_socket
from gazelive.live.wire.keys import Context, Socket

CHUNK_QUEUE = 64
"""Chunks that wait on either side of the wire; what does not fit, the engine reads from disk."""
FLOWING_MS = 20
"""Wait for the next chunk of a stream before other inputs are polled."""
DOCUMENT_QUEUE = 20_000
"""Documents that wait for a dashboard that does not keep up."""


class ChunkSender:
    """A `ChunkSink` for the recorder: sends to an engine that may not be there.

    `session` is the id of the session (`SessionManifest.id`).
    """

    def __init__(
        self, context: Context, address: str, session: str = "", *, prepare: Prepare | None = None
    ) -> None:
        self._socket = connected_socket(context, zmq.PUSH, address, prepare=_short_queue(prepare))
        self._session = session
        self._encoder = ChunkEncoder(session)
        self._next_chunk = 0
        self.n_unsent = 0
        """Chunks that found no room; the engine has them from disk."""

    def __call__(self, chunk: Chunk, stream: StreamDescription) -> None:
        """Send a chunk that is on disk."""
        self._next_chunk = chunk.number + 1
        self._send(self._encoder.frames(chunk, stream))

    def end_block(self) -> None:
        """Mark the end of a block: the device has stopped and all chunks were sent."""
        self._send(encode_end(BlockEnded(WIRE_VERSION, self._session, self._next_chunk)))

    def end_run(self, reason: str) -> None:
        """Mark the end of the run: the session is closed."""
        end = RunEnded(WIRE_VERSION, self._session, self._next_chunk, reason)
        self._send(encode_end(end))

    def close(self) -> None:
        """Close the socket; the last messages have a moment to leave."""
        self._socket.close(linger=500)

    def _send(self, frames: Sequence[bytes | memoryview]) -> None:
        try:
            self._socket.send_multipart(frames, zmq.NOBLOCK)
        except zmq.Again:
            self.n_unsent += 1


class ChunkReceiver:
    """Receives the chunks of the device's owner."""

    def __init__(self, context: Context, address: str, *, prepare: Prepare | None = None) -> None:
        self.socket = bound_socket(context, zmq.PULL, address, prepare=_short_queue(prepare))
        self.socket.rcvtimeo = FLOWING_MS
        self._decoder = ChunkDecoder()

    def wait(self) -> Wired | None:
        """Return the next chunk or sign, waiting for it up to `FLOWING_MS`.

        While chunks flow, this wakes up at a third of the price of a poll of several sockets.
        """
        try:
            frames = self.socket.recv_multipart()
        except zmq.Again:
            return None
        return self._decoder.read(frames)

    def receive(self) -> Wired | None:
        """Return the next chunk or sign that has arrived; None where there is none."""
        # faster than `poll`, which makes a poller, and than the exception of an empty queue
        if not int(self.socket.get(zmq.EVENTS)) & zmq.POLLIN:
            return None
        return self._decoder.read(self.socket.recv_multipart(zmq.NOBLOCK))

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()


class DocumentPublisher:
    """Publishes documents, each as one message; a `DocumentSink`."""

    def __init__(self, context: Context, address: str, *, prepare: Prepare | None = None) -> None:
        self._socket = bound_socket(context, zmq.PUB, address, prepare=_publishing(prepare))
        self._closed = False

    def write(self, document: Document) -> None:
        """Publish a document."""
        if self._closed:
            raise ValueError("the publisher is closed")
        self._socket.send(encode(document), zmq.NOBLOCK)

    def close(self) -> None:
        """Close the socket after the last documents have left."""
        self._closed = True
        self._socket.close(linger=500)


def _short_queue(prepare: Prepare | None) -> Prepare:
    def prepared(socket: Socket) -> None:
        socket.set_hwm(CHUNK_QUEUE)
        if prepare is not None:
            prepare(socket)

    return prepared


def _publishing(prepare: Prepare | None) -> Prepare:
    def prepared(socket: Socket) -> None:
        socket.sndhwm = DOCUMENT_QUEUE
        if prepare is not None:
            prepare(socket)

    return prepared


class DocumentSubscriber:
    """Documents of an engine that may not be there yet, may die, and may come back.

    `kinds` chooses; by default all.
    """

    def __init__(
        self,
        context: Context,
        address: str,
        kinds: Sequence[type[msgspec.Struct]] = (),
        *,
        prepare: Prepare | None = None,
    ) -> None:
        self.socket = connected_socket(
            context, zmq.SUB, address, prepare=_listening(kinds, prepare)
        )

    def receive(self, timeout_s: float = 0.0) -> Document | None:
        """Return the next document, waiting for it up to `timeout_s`."""
        if not self.socket.poll(round(1000 * timeout_s)):
            return None
        return decode(self.socket.recv(zmq.NOBLOCK))

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()


def _listening(kinds: Sequence[type[msgspec.Struct]], prepare: Prepare | None) -> Prepare:
    def prepared(socket: Socket) -> None:
        socket.rcvhwm = DOCUMENT_QUEUE
        socket.setsockopt(zmq.RECONNECT_IVL_MAX, 1000)
        for kind in kinds:
            socket.subscribe(_beginning(kind))
        if not kinds:
            socket.subscribe(b"")
        if prepare is not None:
            prepare(socket)

    return prepared


def _beginning(kind: type[msgspec.Struct]) -> bytes:
    """Return how the message of every document of a kind begins: as a map with its name first."""
    tag = kind.__struct_config__.tag
    n_fields = 1 + len(kind.__struct_fields__)
    named = msgspec.msgpack.encode({"type": tag})[1:]
    if n_fields < 16:
        return bytes([0x80 | n_fields]) + named
    return b"\xde" + n_fields.to_bytes(2, "big") + named


CATCH_UP_S, MOST_AT_ONCE = 0.5, 100
"""Interval and size of the portions in which posteriors are taken that nobody asks for."""


class Posteriors:
    """Posteriors without waiting, for experiments that depend on them; any thread may ask."""

    def __init__(self, context: Context, address: str, *, prepare: Prepare | None = None) -> None:
        self._subscriber = DocumentSubscriber(
            context, address, (ModelLoaded, Posterior), prepare=prepare
        )
        self._model: ModelLoaded | None = None
        self._newest: Posterior | None = None
        self._settled: Posterior | None = None
        self._lock = threading.Lock()
        self._next_s = 0.0

    def catch_up(self) -> None:
        """Take what has come; call it now and then, or posteriors that nobody reads pile up."""
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + CATCH_UP_S
            self._receive(MOST_AT_ONCE)

    def newest(self) -> Posterior | None:
        """Return the newest posterior, settled or running; None before the first."""
        self._receive()
        return self._newest

    def latest_settled(self) -> Posterior | None:
        """Return the last settled posterior that came since the last call, if any."""
        self._receive()
        settled, self._settled = self._settled, None
        return settled

    @property
    def model(self) -> ModelLoaded | None:
        """The model of the posteriors; None if it was announced before this subscription."""
        return self._model

    def _receive(self, most: int = DOCUMENT_QUEUE) -> None:
        with self._lock:
            for _ in range(most):
                document = self._subscriber.receive()
                if document is None:
                    return
                self._take(document)

    def _take(self, document: Document) -> None:
        if isinstance(document, ModelLoaded):
            self._model = document
            self._newest = self._settled = None  # those of another model
        elif isinstance(document, Posterior):
            self._newest = document
            if document.settled:
                self._settled = document

    def close(self) -> None:
        """Stop listening."""
        self._subscriber.close()
