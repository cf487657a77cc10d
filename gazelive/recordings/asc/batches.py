"""Batches of samples, events and lines that the kernel finds in a file, in file order.

Slabs may be parsed ahead of time, assuming that the current block continues with the same columns.
The state that earlier lines leave behind (time of the last sample, a message that may continue) is
guessed from the last lines before the slab. When a slab's turn comes, the guess is compared with
the actual state, and the slab is parsed again from the first line for which the guess was wrong. So
the result does not depend on slabs or threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from gazelive.gaze import Floats, Integers
from gazelive.recordings.asc import lines as asc_lines, parser_state as asc
from gazelive.recordings.asc.blocks import BlockLines
from gazelive.recordings.asc.columns import SampleColumns
from gazelive.recordings.asc.pipeline import Reading, Segment, SlabParser, SlabPipeline
from gazelive.recordings.asc.source import Slab
from gazelive.recordings.asc.store import AscStore

_LAST_RATE_IN_WHOLE_MS = 1000
_HALF_MS_US = 500
_FAULTS = {
    asc.OUTSIDE_BLOCK: "a sample outside any block: skipped",
    asc.WRONG_COLUMNS: "a sample line with missing, extra or unreadable columns: skipped",
    asc.TIME_ORDER: "the time of this sample is not later than that of the one before",
    asc.UNKNOWN_LINE: "not a line of an ASC file: skipped",
    asc.MISPLACED_LINE: "a line that belongs between START and END: skipped",
    asc.UNREADABLE_EVENT: "an event that cannot be read: skipped",
    asc.UNENDED_EVENT: "the event that starts here has no end: skipped",
}


@dataclass(frozen=True)
class Fault:
    """A damaged line."""

    line: int
    text: str
    found_on: int
    """The line on which it was found."""


@dataclass
class Batch:
    """A part of the file: its samples, already stored, and its events precede its last line."""

    fraction_read: float
    faults: list[Fault]
    """In the order in which they were found."""
    n_unlisted_faults: int = 0
    event_heads: Integers = field(default_factory=lambda: np.empty((0, asc.EVENT_WIDTH), np.int64))
    event_numbers: Floats = field(default_factory=lambda: np.empty((0, asc.N_EVENT_NUMBERS)))
    is_out_of_order: bool = False
    has_target: bool = False
    lines: list[tuple[int, int, bytes]] = field(default_factory=list)
    """Number, kind and content of the lines that the kernel does not read."""
    changes_reading: bool = False
    """True if `AscBatches.prepare` must be called before the next batch."""
    is_last_line: bool = False


class AscBatches:
    """Reads a file batch by batch, and gives its samples to `store`."""

    def __init__(self, pipeline: SlabPipeline, store: AscStore) -> None:
        self._pipeline = pipeline
        self._store = store
        self._block: BlockLines | None = None
        self._columns: SampleColumns | None = None
        # the actual state before the next line, see parser_state.CARRIED
        self._carried = np.zeros(asc.STATE_SIZE, np.int64)
        self._carried[[asc.LAST_TIME_US, asc.LAST_WRITTEN_TIME_US]] = asc.NO_TIME_US
        self._in_block: Integers | None = None
        """The same after the last batch that ended among samples."""
        self._line = 1
        self._open_events = [0] * asc.N_EVENT_SLOTS
        """Line number of the open event of each kind and eye, or 0."""
        self.n_bytes = 0
        """Bytes of the slabs read so far."""

    def prepare(self, block: BlockLines | None) -> list[Fault]:
        """Prepare to read the samples of `block`, which is open now.

        Returns the faults of the previous block: events that it left open.
        """
        carried = self._carried
        faults = []
        if block is not self._block:
            self._block = block
            faults = self.unended_events()
            carried[[asc.LAST_TIME_US, asc.LAST_WRITTEN_TIME_US]] = asc.NO_TIME_US
            carried[asc.PARTS_SEEN] = 0
        columns = block.columns if block else None
        carried[asc.IN_BLOCK] = block is not None
        carried[asc.COLUMNS] = asc.NO_COLUMNS if columns is None else asc.KNOWN_COLUMNS
        if block is not None:
            rate_hz = block.rate_hz or block.announced_rate_hz
            carried[asc.TIMES_REPEAT] = rate_hz is None or rate_hz > _LAST_RATE_IN_WHOLE_MS
        if columns is not None:
            self._columns = columns
        return faults

    def unended_events(self) -> list[Fault]:
        """Return faults for the open events, and forget them."""
        lines = [line for line in self._open_events if line]
        self._open_events = [0] * asc.N_EVENT_SLOTS
        return [Fault(line, _FAULTS[asc.UNENDED_EVENT], self._line) for line in lines]

    def __iter__(self) -> Iterator[Batch]:
        """Yield the whole file."""
        fraction_before = 0.0
        for slab, parser in self._pipeline.slabs(self._guess):
            self.n_bytes += slab.stop - slab.start
            if slab.is_overlong_line:
                yield self._skip_line("an endless line: skipped", slab)
            elif slab.is_last_line and self._may_be_truncated(bytes(parser.buffer[: slab.stop])):
                yield self._skip_line("the file ends inside this line: skipped", slab)
            else:
                yield from self._batches_of(slab, parser, fraction_before)
            fraction_before = slab.fraction

    def _batches_of(
        self, slab: Slab, parser: SlabParser, fraction_before: float
    ) -> Iterator[Batch]:
        reading = self._reading()
        if parser.reading != reading:
            parser.parse(slab.start, slab.stop, reading, self._store)
        position = slab.start
        while True:
            base = self._line - 1
            for segment in parser.segments():
                position = int(segment.state[asc.POSITION])
                part = position / slab.stop
                fraction_read = fraction_before + part * (slab.fraction - fraction_before)
                batch = self._batch(segment, base, fraction_read, parser)
                batch.is_last_line = slab.is_last_line
                yield batch
                if segment.assumed is not None and not self._is_right(segment.assumed, parser):
                    break
            else:
                if parser.reason == asc.DONE:
                    return
            self._pipeline.store_now(parser, fraction_read)
            parser.parse(position, slab.stop, self._reading(), self._store)

    def _batch(
        self, segment: Segment, base: int, fraction_read: float, parser: SlabParser
    ) -> Batch:
        """Return the batch of a segment whose lines are numbered from `base`."""
        state = segment.state
        if len(segment.rows):
            parser.keep(segment.rows, self._store)
        self._carried[asc.LEFT_BEHIND] = state[asc.LEFT_BEHIND]
        if state[asc.COLUMNS] == asc.KNOWN_COLUMNS and state[asc.PARTS_SEEN]:
            self._in_block = self._carried.copy()
        self._line = base + int(state[asc.LINE])
        faults = self._faults_of(segment, base)
        text = memoryview(parser.buffer)
        return Batch(
            fraction_read=fraction_read,
            faults=faults,
            n_unlisted_faults=segment.n_faults - len(segment.faults),
            event_heads=segment.event_heads,
            event_numbers=segment.event_numbers,
            is_out_of_order=bool(state[asc.OUT_OF_ORDER]),
            has_target=bool(state[asc.PARTS_SEEN] & asc.HAS_TARGET),
            lines=[
                (base + line, kind, bytes(text[start:stop]))
                for start, stop, line, kind in segment.lines.tolist()
            ],
            changes_reading=segment.assumed is not None,
        )

    def _faults_of(self, segment: Segment, base: int) -> list[Fault]:
        """Return the faults of a segment, and update the open events."""
        faults = [
            Fault(base + line, _FAULTS[what], base + found)
            for line, what, found in segment.faults.tolist()
        ]
        open_lines = segment.state[asc.OPEN_EVENTS : asc.FIRST_BEGUN].tolist()
        first_begun = segment.state[asc.FIRST_BEGUN : asc.STATE_SIZE].tolist()
        for slot, (line, found) in enumerate(zip(open_lines, first_begun, strict=True)):
            if found and self._open_events[slot]:
                text = _FAULTS[asc.UNENDED_EVENT]
                faults.append(Fault(self._open_events[slot], text, base + found))
            if line != asc.UNTOUCHED:
                self._open_events[slot] = base + line if line else 0
        faults.sort(key=lambda fault: fault.found_on)
        return faults

    def _reading(self) -> Reading:
        """Return the format of the next line."""
        return Reading(self._columns, tuple(self._carried[asc.CARRIED].tolist()))

    def _is_right(self, assumed: Integers, parser: SlabParser) -> bool:
        """Return whether the kernel's assumption after a line matches the line."""
        if assumed[asc.COLUMNS] == asc.UNKNOWN_COLUMNS:
            return True  # it only continues to the next sample
        assert parser.reading is not None
        return parser.reading.columns == self._columns and np.array_equal(
            assumed[asc.CARRIED], self._carried[asc.CARRIED]
        )

    def _guess(self, tail: bytes) -> Reading | None:
        """Guess how to read a slab that follows the text `tail`, before that text has been parsed.

        Assumes that it continues among the samples of the last known block.
        """
        if self._in_block is None:
            return None
        carried = self._in_block.copy()
        lines = tail.split(b"\n")[1:-1]
        written = [line.split(None, 1)[0] for line in lines if line[:1].isdigit()]
        carried[asc.MESSAGE_OPEN] = lines[-1:] != [] and lines[-1].startswith(b"MSG")
        if written:
            time_us = asc_lines.time_us(written[-1]) or 0
            carried[asc.LAST_TIME_US] = carried[asc.LAST_WRITTEN_TIME_US] = time_us
            if carried[asc.TIMES_REPEAT] and written[-2:-1] == written[-1:]:
                carried[asc.LAST_TIME_US] += _HALF_MS_US
        return Reading(self._columns, tuple(carried[asc.CARRIED].tolist()))

    def _skip_line(self, why: str, slab: Slab) -> Batch:
        """Return a batch with nothing but the reason why a line was skipped."""
        fault = Fault(self._line, why, self._line)
        self._line += 1
        return Batch(slab.fraction, [fault])

    def _may_be_truncated(self, last_line: bytes) -> bool:
        """Return whether a last line without a newline may be incomplete.

        Outside a block the file only lacks its last newline. Inside one it was truncated: a sample
        must have its final flags, an END is checked where it is read.
        """
        if self._block is None or last_line.startswith(b"END"):
            return False
        return not (last_line[:1].isdigit() and self._carried[asc.PARTS_SEEN])
