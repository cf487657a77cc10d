"""Chunks on the wire: a small head, the stream's description, the samples as they are.

Three frames per chunk: the head (msgpack), the description (msgpack, the same bytes for a whole
block), and the raw samples. The ends of a block and of the run are a head alone. Every head carries
the id of its session, so that chunks of another session are never analysed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from gazelive.errors import TransportError, VersionMismatchError
from gazelive.gaze import SAMPLE_DTYPE, Chunk, Message, Samples, StreamDescription
from gazelive.system import UNDECODABLE

WIRE_VERSION = 2


class ChunkHead(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """A chunk without its samples."""

    version: int
    session: str
    number: int
    block: int
    arrival_s: float
    messages: tuple[Message, ...]


class BlockEnded(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """No more samples of this block will come; `next_chunk` is the number of the next one."""

    version: int
    session: str
    next_chunk: int


class RunEnded(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """The session is closed."""

    version: int
    session: str
    next_chunk: int
    reason: str


@dataclass(frozen=True)
class WiredChunk:
    """A chunk, the description of its block, and the id of its session."""

    chunk: Chunk
    stream: StreamDescription
    session: str = ""


Wired = WiredChunk | BlockEnded | RunEnded

_encoder = msgspec.msgpack.Encoder()
_heads: msgspec.msgpack.Decoder[ChunkHead | BlockEnded | RunEnded] = msgspec.msgpack.Decoder(
    ChunkHead | BlockEnded | RunEnded
)
_streams = msgspec.msgpack.Decoder(StreamDescription)


class ChunkEncoder:
    """Makes frames of the chunks of a session."""

    def __init__(self, session: str = "") -> None:
        self._session = session
        self._stream: StreamDescription | None = None
        self._stream_frame = b""

    def frames(self, chunk: Chunk, stream: StreamDescription) -> list[bytes | memoryview]:
        """Return the frames of a chunk."""
        if stream != self._stream:
            self._stream, self._stream_frame = stream, _encoder.encode(stream)
        head = ChunkHead(
            WIRE_VERSION,
            self._session,
            chunk.number,
            chunk.block,
            chunk.arrival_s,
            chunk.messages,
        )
        samples = np.ascontiguousarray(chunk.samples)
        return [_encoder.encode(head), self._stream_frame, samples.view(np.uint8).data]


def encode_end(end: BlockEnded | RunEnded) -> list[bytes | memoryview]:
    """Encode an end-of-block or end-of-run marker."""
    return [_encoder.encode(end)]


class ChunkDecoder:
    """Reads frames; a block's description is decoded once."""

    def __init__(self) -> None:
        self._stream: StreamDescription | None = None
        self._stream_frame = b""

    def read(self, frames: Sequence[bytes]) -> Wired:
        """Decode frames, or raise a `TransportError`."""
        try:
            head = _heads.decode(frames[0])
            if head.version != WIRE_VERSION:
                raise VersionMismatchError(
                    f"chunks come in version {head.version}, this engine reads {WIRE_VERSION}: use "
                    "the same gazelive on both sides"
                )
            if not isinstance(head, ChunkHead):
                return head
            _, stream_frame, samples_frame = frames
            if self._stream is None or stream_frame != self._stream_frame:
                self._stream, self._stream_frame = _streams.decode(stream_frame), stream_frame
            # bytes are read-only, and compiled kernels take only arrays that are not
            samples: Samples = np.frombuffer(bytearray(samples_frame), SAMPLE_DTYPE)
        except (*UNDECODABLE, ValueError, IndexError) as error:
            raise TransportError(f"not a chunk of this version: {error}") from error
        chunk = Chunk(head.number, head.block, samples, head.messages, head.arrival_s)
        return WiredChunk(chunk, self._stream, head.session)
