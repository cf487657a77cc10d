"""Reading a journal from front to back: every whole record, whatever happened to the others.

The file passes through a window of a megabyte, so that a journal of any length is read in
constant memory; a memory map would do the same, but cutting a torn tail under one kills its
reader.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.recordings.journal import (
    CRC_BYTES,
    FRAME_BYTES,
    HEAD_BYTES,
    HEAD_DTYPE,
    MAGIC,
    MAX_PAYLOAD_BYTES,
    Kind,
)

WINDOW_BYTES = 1 << 20
_MAGIC_AND_LENGTH = struct.Struct("<4sI")
_NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class Run:
    """Whole records that follow each other without a gap."""

    window: bytearray
    """Holds the records, and is overwritten when the next run is asked for."""
    offsets: npt.NDArray[np.int64]
    """Where in the window each record begins."""
    heads: npt.NDArray[Any]
    """The records' heads, of `HEAD_DTYPE`."""
    start: int
    """Position of the first record in the file."""
    end: int
    """Position behind the last one."""

    def payload(self, index: int) -> memoryview:
        """Return the payload of the record `index`."""
        start = int(self.offsets[index]) + HEAD_BYTES
        return memoryview(self.window)[start : start + int(self.heads["payload_bytes"][index])]

    def record_end(self, index: int) -> int:
        """Return the position in the file behind the record `index`."""
        return (
            self.start
            + int(self.offsets[index] - self.offsets[0])
            + int(self.heads["payload_bytes"][index])
            + FRAME_BYTES
        )


def gather_at(
    window: bytearray, offsets: npt.NDArray[np.int64], dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return copies of the items of `dtype` that begin at `offsets`, wherever those fall."""
    at_every_byte: npt.NDArray[Any] = np.ndarray(
        (len(window) - dtype.itemsize + 1,), dtype, window, strides=(1,)
    )
    return at_every_byte[offsets]


def scan(file: FileIO, start: int = 0) -> Iterator[Run]:
    """Yield the runs of whole records from byte `start` on.

    What lies between two runs is damaged, and so is what lies behind the last one, unless a
    writer is at work there.
    """
    window = _Window(file, start)
    limit = _NO_LIMIT
    while True:
        offsets, wanted_bytes = _walk(window, limit)
        n_whole = _count_whole(window, offsets)
        if n_whole:
            run = window.take(offsets[:n_whole])
            yield run
            limit = min(2 * limit, _NO_LIMIT)
        if n_whole < len(offsets):
            wanted_bytes = 0  # the next record is there, but damaged
        if wanted_bytes and window.fill(wanted_bytes):
            continue
        limit = 1  # careful behind damage, lest every bit of it make us walk the window again
        if not window.skip_to_next_magic():
            return


@dataclass(frozen=True, slots=True)
class JournalEnd:
    """Where a journal that was left can be gone on with."""

    whole_bytes: int
    """Position behind the last whole record."""
    torn_bytes: int
    """What lies behind it."""
    next_chunk: int
    next_block: int


def find_end(path: Path) -> JournalEnd:
    """Return where the journal ends; one that is missing ends where it begins."""
    whole_bytes, n_bytes, last_chunk, last_block = 0, 0, -1, -1
    if path.exists():
        with path.open("rb", buffering=0) as file:
            n_bytes = file.seek(0, 2)
            for run in scan(file):
                whole_bytes = run.end
                chunks = run.heads["number"][run.heads["kind"] == Kind.CHUNK]
                last_chunk = max(last_chunk, int(chunks.max(initial=0)) if len(chunks) else -1)
                last_block = max(last_block, int(run.heads["block"].max()))
    return JournalEnd(
        whole_bytes=whole_bytes,
        torn_bytes=n_bytes - whole_bytes,
        next_chunk=last_chunk + 1,
        next_block=last_block + 1,
    )


class _Window:
    """A part of the file in memory; `position` is where in it the unread bytes begin."""

    def __init__(self, file: FileIO, start: int) -> None:
        self._file = file
        self.data = bytearray(WINDOW_BYTES)
        self.position = 0
        self.filled = 0
        self._data_start = start
        file.seek(start)

    def take(self, offsets: list[int]) -> Run:
        """Return the records at `offsets` (the first is at `position`) and step behind them."""
        places = np.array(offsets, np.int64)
        heads = gather_at(self.data, places, HEAD_DTYPE)
        start = self.position
        self.position = offsets[-1] + int(heads["payload_bytes"][-1]) + FRAME_BYTES
        return Run(
            window=self.data,
            offsets=places,
            heads=heads,
            start=self._data_start + start,
            end=self._data_start + self.position,
        )

    def fill(self, n_bytes: int) -> bool:
        """Read on until `n_bytes` are unread; False where the file ends before."""
        if self.filled - self.position >= n_bytes:
            return True
        unread = self.data[self.position : self.filled]
        if n_bytes > len(self.data):
            self.data = bytearray(n_bytes)
        self.data[: len(unread)] = unread
        self._data_start += self.position
        self.position, self.filled = 0, len(unread)
        with memoryview(self.data) as view:
            while self.filled < len(view):
                n_read = self._file.readinto(view[self.filled :])
                if not n_read:
                    break
                self.filled += n_read
        return self.filled >= n_bytes

    def skip_to_next_magic(self) -> bool:
        """Step to where the next record may begin; False where the file ends before."""
        searched = self.position + 1
        while (found := self.data.find(MAGIC, searched, self.filled)) < 0:
            # the last bytes may be the beginning of the magic
            self.position = max(self.position, self.filled - len(MAGIC) + 1)
            n_unread = self.filled - self.position
            if not self.fill(n_unread + 1):
                return False
            searched = self.position
        self.position = found
        return True


def _walk(window: _Window, limit: int) -> tuple[list[int], int]:
    """Follow the lengths from head to head; return the records' places, unchecked.

    The second value is how many bytes the next record needs, 0 where there is none.
    """
    data, position, filled = window.data, window.position, window.filled
    unpack = _MAGIC_AND_LENGTH.unpack_from
    offsets: list[int] = []
    while position + FRAME_BYTES <= filled and len(offsets) < limit:
        magic, payload_bytes = unpack(data, position)
        if magic != MAGIC or payload_bytes > MAX_PAYLOAD_BYTES:
            return offsets, 0
        record_end = position + FRAME_BYTES + payload_bytes
        if record_end > filled:
            return offsets, record_end - position
        offsets.append(position)
        position = record_end
    return offsets, FRAME_BYTES


def _count_whole(window: _Window, offsets: list[int]) -> int:
    """Return how many of the first records have the right checksum."""
    if not offsets:
        return 0
    data = memoryview(window.data)
    ends = [*offsets[1:], _record_end(window.data, offsets[-1])]
    if zlib.crc32(data[offsets[0] : ends[-1]]) == 0:
        return len(offsets)
    for index, (start, end) in enumerate(zip(offsets, ends, strict=True)):
        if zlib.crc32(data[start:end]) != 0:
            return index
    return len(offsets)


def _record_end(data: bytearray, offset: int) -> int:
    _, payload_bytes = _MAGIC_AND_LENGTH.unpack_from(data, offset)
    return int(offset + HEAD_BYTES + payload_bytes + CRC_BYTES)
