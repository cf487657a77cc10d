"""What comes over the wire or out of `events.jsonl`: documents and chunks.

The first byte of an input chooses the format: a document in msgpack, lines of JSON, or the frames
of a chunk, each with its length (two bytes) before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import product
from pathlib import Path
from types import UnionType
from typing import Any, get_args

import msgspec

from gazelive.errors import TransportError
from gazelive.gaze import (
    Chunk,
    Document,
    Message,
    decode,
    decode_line,
    encode,
    encode_line,
)
from gazelive.live.wire.chunks import (
    WIRE_VERSION,
    BlockEnded,
    ChunkDecoder,
    ChunkEncoder,
    RunEnded,
    WiredChunk,
    encode_end,
)
from gazelive.recordings import DOCUMENTS_NAME
from gazelive.reporting.engine_findings import read_findings

from ..support.recordings import make_stream, numbered_samples
from .target import Target

MSGPACK, JSON, CHUNK = b"\0", b"\1", b"\2"

DEPTH = 1200
"""Of lists in lists: more than Python can take."""


def seeds(_folder: Path) -> list[bytes]:
    """Return a document of each kind with all fields and one with few, and some frames."""
    documents = [
        msgspec.convert(_example(kind, whole=whole), kind)
        for kind, whole in product(get_args(Document), (True, False))
    ]
    encoder = ChunkEncoder("s")
    samples = numbered_samples(1_000_000, 2)
    chunk = Chunk(3, 1, samples, (Message(1_000_500, "TRIALID 1"),), 2.5)
    return [
        *(MSGPACK + encode(document) for document in documents),
        *(JSON + encode_line(document) for document in documents),
        JSON + b"".join(map(encode_line, documents[::2])),
        JSON + b"".join(map(encode_line, documents[1::2])),
        *(start + b"\x91" * DEPTH for start in (MSGPACK, MSGPACK + b"\x81\xa1a")),
        JSON + b"[" * DEPTH,
        JSON + b'{"a":' * DEPTH,
        joined(encoder.frames(chunk, make_stream(1000.0, "LR", px_per_deg=(30.0, 31.0)))),
        joined(encode_end(BlockEnded(WIRE_VERSION, "s", 4))),
        joined(encode_end(RunEnded(WIRE_VERSION, "s", 4, "finished"))),
    ]


def read(data: bytes, folder: Path) -> None:
    """Decode a message; what was read can be written, and is the same when read again."""
    kind, content = data[:1], data[1:]
    try:
        if kind == CHUNK:
            wired = ChunkDecoder().read(split(content))
            frames = (
                ChunkEncoder(wired.session).frames(wired.chunk, wired.stream)
                if isinstance(wired, WiredChunk)
                else encode_end(wired)
            )
            again = ChunkDecoder().read([bytes(frame) for frame in frames])
            assert type(again) is type(wired)
            return
        if kind == JSON:
            (folder / DOCUMENTS_NAME).write_bytes(content)
            assert read_findings(folder) is not None
            documents = [decode_line(line) for line in content.splitlines()]
        else:
            documents = [decode(content)]
    except TransportError:
        return  # the only error for which readers of messages are prepared
    for document in documents:
        message = encode(document)
        assert encode(decode(message)) == message
        if kind == JSON:
            assert decode_line(encode_line(document)) == document


def joined(frames: Sequence[bytes | memoryview]) -> bytes:
    """Return frames as one input."""
    return CHUNK + b"".join(len(frame).to_bytes(2, "big") + bytes(frame) for frame in frames)


def split(content: bytes) -> list[bytes]:
    """Return the frames in an input."""
    frames = []
    while content:
        n_bytes = int.from_bytes(content[:2], "big")
        frames.append(content[2 : 2 + n_bytes])
        content = content[2 + n_bytes :]
    return frames


def _example(kind: Any, *, whole: bool) -> Any:
    """Return a plain value of a type; without `whole` only what it needs."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _example_of_struct(kind, whole=whole)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind)).value
    arguments = get_args(kind)
    if isinstance(kind, UnionType) or type(None) in arguments:
        return _example(arguments[0], whole=whole)
    if arguments and all(isinstance(one, str) for one in arguments):  # a Literal
        return arguments[0]
    if arguments:  # a tuple
        items = arguments[:1] * 2 if arguments[-1] is Ellipsis else arguments
        return [_example(item, whole=whole) for item in items]
    return EXAMPLES[kind]


EXAMPLES: dict[Any, Any] = {int: 1, float: 0.5, str: "a", bool: True, bytes: bytes(8)}


def _example_of_struct(kind: type[msgspec.Struct], *, whole: bool) -> dict[str, Any]:
    tag = {"type": kind.__struct_config__.tag} if kind.__struct_config__.tag else {}
    fields = {
        field.encode_name: _example(field.type, whole=whole)
        for field in msgspec.structs.fields(kind)
        if whole or field.required
    }
    # a screen's pixels must be square
    square = {name: 100 for name in fields if name.startswith(("width_", "height_"))}
    return tag | fields | square


TARGET = Target(read=read, seeds=seeds, longest=4096)
