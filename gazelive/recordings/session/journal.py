"""Journal format: framed records in an append-only file.

A record is a head, a payload, and four bytes that make the CRC-32 of the whole record zero. The
CRC-32 of consecutive records is then zero too, so a reader checks a megabyte of small records with
one call. `docs/session-folder.md` describes every byte.
"""

from __future__ import annotations

import enum
import struct
import zlib
from typing import Any, TypeVar

import msgspec
import numpy as np

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze import (
    SAMPLE_DTYPE,
    Chunk,
    Message,
    Samples,
    SingleFloats,
    StreamDescription,
    TrackerEvent,
)
from gazelive.recordings.recording import Signal, Trial

T = TypeVar("T")
Columns = dict[str, SingleFloats]

MAGIC = b"GZJ1"
"""Start of every record; the digit is the version of the format."""
HEAD_DTYPE = np.dtype(
    [
        ("magic", "S4"),
        ("payload_bytes", "<u4"),
        ("kind", "<u4"),
        ("block", "<u4"),
        ("number", "<u8"),
    ]
)
HEAD_BYTES = HEAD_DTYPE.itemsize
CRC_BYTES = 4
FRAME_BYTES = HEAD_BYTES + CRC_BYTES
MAX_PAYLOAD_BYTES = 64 << 20
"""A longer record is damaged; half an hour of samples at 1000 Hz fits."""
CHUNK_PREFIX_DTYPE = np.dtype(
    [("n_samples", "<u4"), ("additions_bytes", "<u4"), ("arrival_s", "<f8")]
)
CHUNK_PREFIX_BYTES = CHUNK_PREFIX_DTYPE.itemsize

_HEAD = struct.Struct("<4sIIIQ")
_CHUNK_PREFIX = struct.Struct("<IId")
_CRC = struct.Struct("<I")
_CRC_TO_ZERO = 0x6DD90A9D
"""crc32(data + little-endian (crc32(data) ^ this)) is 0 for any data."""


class Kind(enum.IntEnum):
    """Kind of a record."""

    BLOCK = 1
    """A `BlockHead` as JSON; repeated in long blocks, so damage to one does not lose the block."""
    CHUNK = 2
    """The prefix, the samples, `ChunkAdditions` as JSON if any, the extra columns if any."""
    NOTES = 3
    """`Notes` as JSON."""


class BlockHead(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Description of a block; its bounds only if they differ from its first and last sample."""

    stream: StreamDescription
    start_us: int | None = None
    end_us: int | None = None


class ChunkAdditions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Contents of a chunk besides its samples."""

    messages: tuple[Message, ...] = ()
    extras: tuple[str, ...] = ()
    """Names of further columns, whose values follow: each as many float32 as samples."""


class Notes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Metadata of the recording that belong to no chunk."""

    messages: tuple[Message, ...] = ()
    tracker_events: tuple[TrackerEvent, ...] = ()
    signals: tuple[Signal, ...] = ()
    trials: tuple[Trial, ...] = ()
    """Trials that the messages do not mark."""
    header: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


_block_decoder = msgspec.json.Decoder(BlockHead)
_additions_decoder = msgspec.json.Decoder(ChunkAdditions)
_notes_decoder = msgspec.json.Decoder(Notes)


def frame(kind: Kind, block: int, number: int, *parts: bytes) -> bytes:
    """Return the record whose payload is `parts`; `number` is a chunk's, or the next one's."""
    payload_bytes = sum(map(len, parts))
    if payload_bytes > MAX_PAYLOAD_BYTES:
        raise ValueError(
            f"a record of {payload_bytes} bytes is too long for a journal "
            f"(at most {MAX_PAYLOAD_BYTES}): use shorter chunks"
        )
    body = b"".join((_HEAD.pack(MAGIC, payload_bytes, kind, block, number), *parts))
    return body + _CRC.pack(zlib.crc32(body) ^ _CRC_TO_ZERO)


def chunk_record(chunk: Chunk, extras: Columns | None = None) -> bytes:
    """Return a chunk's record; `extras` are further columns, each as long as its samples."""
    if chunk.samples.dtype != SAMPLE_DTYPE or chunk.samples.ndim != 1:
        raise ValueError("a chunk's samples must be a one-dimensional array of SAMPLE_DTYPE")
    extras = extras or {}
    additions = b""
    if chunk.messages or extras:
        additions = to_json(ChunkAdditions(messages=chunk.messages, extras=tuple(extras)))
    return frame(
        Kind.CHUNK,
        chunk.block,
        chunk.number,
        _CHUNK_PREFIX.pack(len(chunk.samples), len(additions), chunk.arrival_s),
        chunk.samples.tobytes(),
        additions,
        *(np.asarray(column, "<f4").tobytes() for column in extras.values()),
    )


def to_json(value: Any) -> bytes:
    """Return JSON; undecodable bytes in text are written as escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_escaped(msgspec.to_builtins(value)))


def is_text_kept(text: str) -> bool:
    """Return whether a journal restores `text` unchanged."""
    return escape(text) == text


def escape(text: str) -> str:
    r"""Return `text` with `\udc80` and the like spelt out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _escaped(value: Any) -> Any:
    match value:
        case str():
            return escape(value)
        case dict():
            return {_escaped(key): _escaped(item) for key, item in value.items()}
        case list() | tuple():
            return [_escaped(item) for item in value]
        case _:
            return value


def decode_block(payload: memoryview) -> BlockHead:
    """Return the contents of a record of kind BLOCK."""
    return _decode(_block_decoder, payload)


def decode_notes(payload: memoryview) -> Notes:
    """Return the contents of a record of kind NOTES."""
    return _decode(_notes_decoder, payload)


def decode_chunk(block: int, number: int, payload: memoryview) -> Chunk:
    """Return a copy of the contents of a record of kind CHUNK, without extra columns."""
    messages, _ = decode_additions(payload)
    n_samples, _, arrival_s = _CHUNK_PREFIX.unpack_from(payload)
    samples: Samples = np.frombuffer(payload, SAMPLE_DTYPE, n_samples, CHUNK_PREFIX_BYTES)
    return Chunk(
        number=number, block=block, samples=samples.copy(), messages=messages, arrival_s=arrival_s
    )


def decode_additions(payload: memoryview) -> tuple[tuple[Message, ...], Columns]:
    """Return the messages and the extra columns in the payload of a record of kind CHUNK."""
    try:
        n_samples, additions_bytes, _ = _CHUNK_PREFIX.unpack_from(payload)
        start = CHUNK_PREFIX_BYTES + n_samples * SAMPLE_DTYPE.itemsize
        columns_start = start + additions_bytes
        if columns_start == start == len(payload):
            return (), {}
        additions = _decode(_additions_decoder, payload[start:columns_start])
        values = np.frombuffer(payload[columns_start:], "<f4").astype(np.float32)
        columns = values.reshape(len(additions.extras), n_samples)
    except (struct.error, ValueError) as error:
        raise RecordingError(f"a record is intact but its parts do not match: {error}") from error
    return additions.messages, dict(zip(additions.extras, columns, strict=True))


def _decode(decoder: msgspec.json.Decoder[T], payload: memoryview) -> T:
    try:
        return decoder.decode(payload)
    except (msgspec.MsgspecError, ConfigError, UnicodeDecodeError) as error:
        raise RecordingError(f"a record is intact but of another version: {error}") from error
