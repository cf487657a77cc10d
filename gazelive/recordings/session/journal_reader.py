"""Read a journal from front to back, and follow one while another process writes it.

Every intact record is found, whatever happened to the others. The file passes through a window of a
megabyte, so a journal of any length is read in constant memory. A memory map would do the same, but
truncating the file under it kills the reader.

A damaged length can claim any bytes for its record. What is checked in vain is limited to a
multiple of the file's bytes, so reading takes linear time whatever the file contains.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.errors import RecordingError
from gazelive.gaze import Chunk, Flags, Integers, StreamDescription
from gazelive.recordings.recording import Problem
from gazelive.recordings.session.journal import (
    FRAME_BYTES,
    HEAD_BYTES,
    HEAD_DTYPE,
    MAGIC,
    MAX_PAYLOAD_BYTES,
    Kind,
    decode_block,
    decode_chunk,
)

WINDOW_BYTES = 1 << 20
_MAGIC_AND_LENGTH = np.dtype([("magic", "<u4"), ("payload_bytes", "<u4")])
_NO_LIMIT = 1 << 62
VAIN_CHECKS = 64
"""Bytes that may be checked in vain for each byte of the file …"""
VAIN_BYTES = 2 * MAX_PAYLOAD_BYTES
"""… and before them. Then only records that fit in what has accrued are looked at."""


@dataclass(frozen=True, slots=True)
class Run:
    """Intact records that follow each other without a gap."""

    window: bytearray
    """Holds the records; overwritten when the next run is read."""
    offsets: Integers
    """Start of each record in the window."""
    heads: npt.NDArray[Any]
    """The records' heads, of `HEAD_DTYPE`."""
    start: int
    """Position of the first record in the file."""
    end: int
    """Position after the last record."""

    def payload(self, index: int) -> memoryview:
        """Return the payload of the record `index`."""
        start = int(self.offsets[index]) + HEAD_BYTES
        return memoryview(self.window)[start : start + int(self.heads["payload_bytes"][index])]

    def record_end(self, index: int) -> int:
        """Return the position in the file after the record `index`."""
        return (
            self.start
            + int(self.offsets[index] - self.offsets[0])
            + int(self.heads["payload_bytes"][index])
            + FRAME_BYTES
        )


def gather_at(window: bytearray, offsets: Integers, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return copies of the items of `dtype` at `offsets`, which need not be aligned."""
    whole = np.dtype(("V", dtype.itemsize))  # copied as they are, not field by field
    at_every_byte: npt.NDArray[Any] = np.ndarray(
        (max(0, len(window) - dtype.itemsize + 1),), whole, window, strides=(1,)
    )
    return at_every_byte[offsets].view(dtype)


def scan(file: FileIO, start: int = 0, stop: int | None = None) -> Iterator[Run]:
    """Yield the runs of intact records from byte `start` to byte `stop`, or to the current end.

    Bytes between two runs are damaged, and so are bytes after the last one, unless a writer is
    still at work.
    """
    window = _Window(file, start, file.seek(0, 2) if stop is None else stop)
    limit = _NO_LIMIT
    while True:
        bounds, wanted_bytes = window.next_bounds(limit)
        n_whole = _count_whole(window.data, bounds)
        if n_whole:
            yield window.take(bounds[: n_whole + 1])
            limit = min(2 * limit, _NO_LIMIT)
        if n_whole + 1 < len(bounds):
            wanted_bytes = 0  # the next record is there, but damaged
            window.note_vain_check(int(bounds[n_whole + 1] - bounds[n_whole]))
        if wanted_bytes and window.fill(wanted_bytes):
            continue
        limit = 1  # after damage, check one record at a time instead of the window again and again
        if not window.skip_to_next_magic():
            return


@dataclass(frozen=True, slots=True)
class JournalEnd:
    """End of a journal, where writing can continue."""

    whole_bytes: int
    """Position after the last intact record."""
    torn_bytes: int
    """Bytes after it."""
    next_chunk: int
    next_block: int


def find_end(path: Path) -> JournalEnd:
    """Return the end of the journal; a missing one ends at 0."""
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
    """A part of the file in memory; `position` is the start of its unread bytes.

    Possible starts of records are found once per window with array operations: following the
    lengths from head to head would take as long as everything else together.
    """

    def __init__(self, file: FileIO, start: int, stop: int) -> None:
        self._file = file
        self._stop = stop
        self.data = bytearray(max(FRAME_BYTES, min(stop - start, WINDOW_BYTES)))
        self.position = 0
        self._filled = 0
        self._start = self._data_start = start
        self._vain_bytes = 0
        file.seek(start)
        self.fill(FRAME_BYTES)

    def _index(self) -> None:
        """Find every possible start of a record, and its end."""
        n_places = max(0, self._filled - FRAME_BYTES + 1)
        places = np.frombuffer(self.data, np.uint8, n_places)
        maybe = _where(places == MAGIC[0])
        heads = gather_at(self.data, maybe, _MAGIC_AND_LENGTH)
        is_magic = heads["magic"] == int.from_bytes(MAGIC, "little")
        self._magics = maybe[is_magic]
        self._ends = self._magics + FRAME_BYTES + heads["payload_bytes"][is_magic]
        # a record with another right after it is a link of a chain
        self._chain_ends = np.flatnonzero(np.append(self._magics[1:], -1) != self._ends)

    def next_bounds(self, limit: int) -> tuple[Integers, int]:
        """Return the bounds of up to `limit` records from `position` on, unchecked.

        Record i lies between the bounds i and i + 1. The second value is the number of bytes
        needed to continue after them, 0 if no record can start there.
        """
        first = int(np.searchsorted(self._magics, self.position))
        if first == len(self._magics) or self._magics[first] != self.position:
            return self._magics[:0], 0
        if not self._is_possible(first):
            return self._magics[:0], 0
        last = int(self._chain_ends[np.searchsorted(self._chain_ends, first)])
        last = min(last, first + limit - 1)
        if self._ends[last] <= self._filled:
            return np.append(self._magics[first : last + 1], self._ends[last]), FRAME_BYTES
        wanted_bytes = int(self._ends[last] - self._magics[last])
        return self._magics[first : last + 1], wanted_bytes if self._is_possible(last) else 0

    def _is_possible(self, index: int) -> bool:
        """Return whether a record that may begin at a magic is worth a check."""
        start, end = int(self._magics[index]), int(self._ends[index])
        credit_bytes = VAIN_BYTES + VAIN_CHECKS * (self._data_start + start - self._start)
        n_bytes = end - start
        return (
            n_bytes <= FRAME_BYTES + MAX_PAYLOAD_BYTES
            and self._data_start + end <= self._stop
            and self._vain_bytes + n_bytes <= credit_bytes
        )

    def note_vain_check(self, n_bytes: int) -> None:
        """Take it that so many bytes were checked in vain."""
        self._vain_bytes += n_bytes

    def take(self, bounds: Integers) -> Run:
        """Return the records between `bounds` (the first is at `position`) and skip them."""
        start = self.position
        self.position = int(bounds[-1])
        return Run(
            window=self.data,
            offsets=bounds[:-1],
            heads=gather_at(self.data, bounds[:-1], HEAD_DTYPE),
            start=self._data_start + start,
            end=self._data_start + self.position,
        )

    def fill(self, n_bytes: int) -> bool:
        """Read until `n_bytes` are unread; False if the file ends before."""
        if self._filled - self.position >= n_bytes:
            return True
        unread = self.data[self.position : self._filled]
        if n_bytes > len(self.data):
            self.data = bytearray(n_bytes)
        self.data[: len(unread)] = unread
        self._data_start += self.position
        self.position, self._filled = 0, len(unread)
        with memoryview(self.data)[: self._stop - self._data_start] as view:
            while self._filled < len(view) and (n := self._file.readinto(view[self._filled :])):
                self._filled += n
        self._index()
        return self._filled >= n_bytes

    def skip_to_next_magic(self) -> bool:
        """Skip to the next possible start of a record; False if the file ends before."""
        following = int(np.searchsorted(self._magics, self.position, side="right"))
        while following == len(self._magics):
            # the last bytes, too few for a record, may be the start of one
            beginning = self._filled - FRAME_BYTES + 1
            self.position = max(beginning, min(self.position + 1, self._filled))
            if not self.fill(FRAME_BYTES):
                return False
            following = 0
        self.position = int(self._magics[following])
        return True


def _where(is_set: Flags) -> Integers:
    """Return `np.flatnonzero(is_set)` in half its time if few are set: by groups of eight."""
    packed = np.packbits(is_set)
    groups = np.flatnonzero(packed != 0)
    bits = np.flatnonzero(np.unpackbits(packed[groups]))
    places: Integers = 8 * groups[bits >> 3] + (bits & 7)
    return places


def _count_whole(data: bytearray, bounds: Integers) -> int:
    """Return the number of first records with the right checksum."""
    n_records = max(0, len(bounds) - 1)
    view = memoryview(data)
    if n_records and zlib.crc32(view[bounds[0] : bounds[-1]]) != 0:
        for index in range(n_records):
            if zlib.crc32(view[bounds[index] : bounds[index + 1]]) != 0:
                return index
    return n_records


def highest_before(last: int, numbers: Integers) -> Integers:
    """Return the highest number before each of the chunks of a run; `last` came before the run."""
    highest: Integers = np.maximum.accumulate(np.concatenate(([last], numbers)))[:-1]
    return highest


def missing_chunks(before: Integers, numbers: Integers) -> list[tuple[int, str]]:
    """Return which chunks are missing, each with the index of the chunk behind them."""
    missing = []
    for index in np.flatnonzero(numbers > before + 1).tolist():
        first, final = int(before[index]) + 1, int(numbers[index]) - 1
        which = f"chunk {first} is" if first == final else f"chunks {first} to {final} are"
        missing.append((index, f"{which} missing"))
    return missing


class JournalFollower:
    """Follows a journal: each `poll` continues where the last one stopped.

    The engine uses it to catch up. A chunk is preceded by the description of its block unless that
    was given already.
    """

    def __init__(self, path: Path, from_chunk: int = 0) -> None:
        self._path = path
        self._from_chunk = from_chunk
        self._position = 0
        self._last_chunk = -1
        self._stream: StreamDescription | None = None
        self._stream_block = -1
        """The block that was described last: a journal has one block after the other."""
        self._described_block: int | None = None
        self.problems: list[Problem] = []
        """Damage that was skipped."""

    def skip_to(self, chunk: int) -> None:
        """Skip chunks before number `chunk`."""
        self._from_chunk = max(self._from_chunk, chunk)

    def poll(self) -> Iterator[Chunk | StreamDescription]:
        """Yield the intact records after the last one that was yielded."""
        try:
            file = self._path.open("rb", buffering=0)
        except FileNotFoundError:
            return
        with file:
            if file.seek(0, 2) < self._position:
                raise RecordingError(
                    "has become shorter: it was replaced while being read",
                    path=self._path,
                )
            for run in scan(file, self._position):
                self._note_losses(run)
                try:
                    yield from self._read(run)
                except RecordingError as error:
                    raise RecordingError(str(error), path=self._path) from error

    def _note_losses(self, run: Run) -> None:
        """Add a problem if something is missing before a run or in it."""
        losses = []
        if run.start > self._position:
            n_bytes = run.start - self._position
            losses.append(
                f"{n_bytes} bytes from byte {self._position} on are damaged and were skipped"
            )
        numbers = run.heads["number"][run.heads["kind"] == Kind.CHUNK].astype(np.int64)
        before = highest_before(self._last_chunk, numbers)
        losses += [which for _, which in missing_chunks(before, numbers)]
        if losses:
            self.problems.append(Problem(None, "; ".join(losses)))
        self._last_chunk = max(self._last_chunk, int(numbers.max(initial=-1)))

    def _read(self, run: Run) -> Iterator[Chunk | StreamDescription]:
        kinds, numbers = run.heads["kind"], run.heads["number"]
        # most chunks came over the wire: looking at each would delay the engine
        is_new = (kinds == Kind.CHUNK) & (numbers >= self._from_chunk)
        for index in np.flatnonzero(is_new | (kinds == Kind.BLOCK)).tolist():
            self._position = run.record_end(index)
            block, number = int(run.heads["block"][index]), int(numbers[index])
            if kinds[index] == Kind.BLOCK:
                stream = decode_block(run.payload(index)).stream
                if block != self._stream_block:
                    self._stream, self._stream_block = stream, block
            else:
                chunk = decode_chunk(block, number, run.payload(index))
                yield from self._described(chunk)
        self._position = run.end

    def _described(self, chunk: Chunk) -> Iterator[Chunk | StreamDescription]:
        stream = self._stream if chunk.block == self._stream_block else self._borrowed(chunk)
        if stream is None:
            return
        if chunk.block != self._described_block:
            self._described_block = chunk.block
            yield stream
        yield chunk

    def _borrowed(self, chunk: Chunk) -> StreamDescription | None:
        """Return the description of an earlier block for one whose own is damaged."""
        lost = f"chunk {chunk.number}: the description of block {chunk.block} is lost"
        if self._stream is None:
            self.problems.append(Problem(None, lost))
            return None
        text = f"{lost}, that of block {self._stream_block} is used instead"
        self.problems.append(Problem(None, text))
        self._stream_block = chunk.block
        return self._stream
