"""Drives the kernel over a file: batches of samples, events and lines, in the file's order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gazelive.recordings import asc_kernels as asc
from gazelive.recordings.asc_blocks import BlockLines
from gazelive.recordings.asc_columns import WORDS_PER_SAMPLE, SampleColumns
from gazelive.recordings.asc_source import AscSource, Slab
from gazelive.recordings.problem_log import MAX_LISTED

_N_ROWS = 1 << 13
_N_LINES = 1 << 9
_SHORTEST_SAMPLE_LINE = 8
_LAST_RATE_IN_WHOLE_MS = 1000
_FAULTS = {
    asc.OUTSIDE_BLOCK: "a sample outside any block: left out",
    asc.WRONG_COLUMNS: "a sample line with missing, surplus or unreadable columns: left out",
    asc.TIME_ORDER: "the time of this sample is not later than the one before",
    asc.UNKNOWN_LINE: "no line that an ASC file has: left out",
    asc.MISPLACED_LINE: "a line that belongs between START and END: left out",
    asc.UNREADABLE_EVENT: "an event that cannot be read: left out",
    asc.UNENDED_EVENT: "the event that starts here has no end: left out",
}


@dataclass
class Batch:
    """What one call of the kernel found; samples and events stand before a line that ends it."""

    rows: npt.NDArray[np.uint32]
    """Samples and their extras, shape (n, 9 + k); the memory is reused by the next batch."""
    event_heads: npt.NDArray[np.int64]
    event_numbers: npt.NDArray[np.float64]
    problems: list[tuple[int, str]]
    n_unlisted_problems: int
    is_out_of_order: bool
    has_target: bool
    fraction_read: float
    lines: list[tuple[int, int, bytes]] = field(default_factory=list)
    """Number, kind and content of the lines that the kernel does not read."""
    changes_reading: bool = False
    """Whether the next batch must not be asked for before `AscBatches.prepare`."""
    is_last_line: bool = False


class AscBatches:
    """Reads a file batch by batch."""

    def __init__(self, source: AscSource) -> None:
        self._source = source
        self._block: BlockLines | None = None
        self._columns: SampleColumns | None = None
        self._layout = np.zeros(asc.DESTINATIONS, np.int64)
        self._rows = np.empty((1, WORDS_PER_SAMPLE), np.uint32)
        self._index = np.empty((_N_LINES, asc.INDEX_WIDTH), np.int64)
        self._event_heads = np.empty((_N_LINES, asc.EVENT_WIDTH), np.int64)
        self._event_numbers = np.empty((_N_LINES, asc.N_EVENT_NUMBERS))
        self._faults = np.empty((MAX_LISTED, 2), np.int64)
        self._state = np.zeros(asc.STATE_SIZE, np.int64)
        self._state[asc.LINE] = 1

    def prepare(self, block: BlockLines | None) -> list[tuple[int, str]]:
        """Learn how the samples of `block`, which is open now, are to be read.

        Returns the problems of the block before: events that it left open.
        """
        state = self._state
        problems = []
        if block is not self._block:
            self._block = block
            problems = self.unended_events()
            state[asc.LAST_TIME_US] = state[asc.LAST_WRITTEN_TIME_US] = -1
            state[asc.PARTS_SEEN] = state[asc.OUT_OF_ORDER] = 0
        columns = block.columns if block else None
        state[asc.IN_BLOCK] = block is not None
        state[asc.HAS_COLUMNS] = columns is not None
        if block is not None:
            rate_hz = block.rate_hz or block.announced_rate_hz
            state[asc.TIMES_REPEAT] = rate_hz is None or rate_hz > _LAST_RATE_IN_WHOLE_MS
        if columns is not None and columns != self._columns:
            self._columns = columns
            self._layout = columns.kernel_layout()
        return problems

    def unended_events(self) -> list[tuple[int, str]]:
        """Return problems for the events that are open, and forget them."""
        lines = [int(line) for line in self._state[asc.OPEN_EVENTS :] if line]
        self._state[asc.OPEN_EVENTS :] = 0
        return [(line, _FAULTS[asc.UNENDED_EVENT]) for line in lines]

    def __iter__(self) -> Iterator[Batch]:
        """Yield the whole file."""
        fraction_before = 0.0
        for slab in self._source.slabs():
            fraction_read = self._source.fraction
            if slab.is_overlong_line:
                yield self._skip_line("an endless line: left out", fraction_read)
            elif slab.is_last_line and self._is_doubtful(bytes(slab.text[: slab.stop])):
                yield self._skip_line("the file stops inside this line: left out", fraction_read)
            else:
                yield from self._batches_of(slab, fraction_before, fraction_read)
            fraction_before = fraction_read

    def _batches_of(
        self, slab: Slab, fraction_before: float, fraction_after: float
    ) -> Iterator[Batch]:
        text = np.frombuffer(slab.text, np.uint8)
        stop = np.uint64(slab.stop)
        self._state[asc.POSITION] = slab.start
        reason = asc.FULL
        while reason != asc.DONE:
            self._fit_rows(slab.stop)
            reason = asc.parse_lines(
                text,
                stop,
                self._layout,
                self._rows.view(np.float32),
                self._rows,
                self._index,
                self._event_heads,
                self._event_numbers,
                self._faults,
                self._state,
            )
            part = float(self._state[asc.POSITION]) / slab.stop
            batch = self._batch(fraction_before + part * (fraction_after - fraction_before))
            view = memoryview(slab.text)
            batch.lines = [
                (line, kind, bytes(view[start:stop_]))
                for start, stop_, line, kind in self._index[: self._state[asc.N_INDEXED]].tolist()
            ]
            batch.changes_reading = reason == asc.STRUCTURE
            batch.is_last_line = slab.is_last_line
            for count in (asc.N_ROWS, asc.N_INDEXED, asc.N_EVENTS, asc.N_FAULTS):
                self._state[count] = 0
            yield batch

    def _batch(self, fraction_read: float) -> Batch:
        """Return what the kernel found of samples, events and damage."""
        state = self._state
        n_faults = int(state[asc.N_FAULTS])
        n_events = state[asc.N_EVENTS]
        return Batch(
            rows=self._rows[: state[asc.N_ROWS]],
            event_heads=self._event_heads[:n_events],
            event_numbers=self._event_numbers[:n_events],
            problems=[(line, _FAULTS[fault]) for line, fault in self._faults[:n_faults].tolist()],
            n_unlisted_problems=max(n_faults - MAX_LISTED, 0),
            is_out_of_order=bool(state[asc.OUT_OF_ORDER]),
            has_target=bool(state[asc.PARTS_SEEN] & asc.HAS_TARGET),
            fraction_read=fraction_read,
        )

    def _skip_line(self, why: str, fraction_read: float) -> Batch:
        """Return a batch that only says why a line was left out."""
        batch = self._batch(fraction_read)
        batch.problems.append((int(self._state[asc.LINE]), why))
        self._state[asc.LINE] += 1
        return batch

    def _fit_rows(self, n_bytes: int) -> None:
        """Make the rows as wide as the block's columns ask; a small file gets few."""
        n_words = self._columns.n_row_words if self._columns else WORDS_PER_SAMPLE
        n_rows = min(_N_ROWS, n_bytes // _SHORTEST_SAMPLE_LINE + 1)
        if self._rows.shape[0] < n_rows or self._rows.shape[1] != n_words:
            self._rows = np.empty((n_rows, n_words), np.uint32)

    def _is_doubtful(self, last_line: bytes) -> bool:
        """Say whether a last line without a line end may be a part of what it was.

        Outside a block the file is whole but for its last newline. Inside one it was cut off:
        a sample must have the flags that end it, an END is checked where it is read.
        """
        if self._block is None or last_line.startswith(b"END"):
            return False
        return not (last_line[:1].isdigit() and self._state[asc.PARTS_SEEN])
