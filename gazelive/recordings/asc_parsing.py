"""One slab of an ASC file: its text, and what the kernel finds in it on some assumption."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gazelive.recordings import asc_state as asc
from gazelive.recordings.asc_columns import WORDS_PER_SAMPLE, SampleColumns
from gazelive.recordings.asc_kernels import parse_lines
from gazelive.recordings.asc_state import Doubles, Integers
from gazelive.recordings.asc_store import AscStore, Place
from gazelive.recordings.problem_log import MAX_LISTED

# where a slab has more of something than this, it takes more than one call of the kernel
_BYTES_PER_ROW = 24
_BYTES_PER_OTHER_LINE = 512
_BYTES_PER_SNAPSHOT = 4096
_NO_LAYOUT = np.zeros(asc.DESTINATIONS, np.int64)


@dataclass(frozen=True)
class Reading:
    """How the next line is to be read: the columns, and what the lines before leave behind."""

    columns: SampleColumns | None
    """Of the block, or of the last one, which the next is assumed to have too."""
    carried: tuple[int, ...]
    """The `asc_state.CARRIED` part of the kernel's state."""

    @property
    def n_row_words(self) -> int:
        """Length of a row."""
        return self.columns.n_row_words if self.columns else WORDS_PER_SAMPLE


class Segment(NamedTuple):
    """What the kernel found up to a line that changes the reading, or up to where it stopped."""

    rows: npt.NDArray[np.uint32]
    """Samples and their extras, shape (n, 9 + k)."""
    lines: Integers
    """The index of the lines that Python must read."""
    event_heads: Integers
    event_numbers: Doubles
    faults: Integers
    n_faults: int
    """With those for which there was no room."""
    state: Integers
    """At its end."""
    assumed: Integers | None
    """The state with which the kernel went on, if it did."""


class SlabParser:
    """The memory for one slab at a time; a slab in a thread needs a parser of its own."""

    def __init__(self, n_bytes: int) -> None:
        self.buffer = bytearray(n_bytes)
        self._text = np.frombuffer(self.buffer, np.uint8)
        self._rows = np.empty((0, 0), np.uint32)
        self._index = np.empty((0, asc.INDEX_WIDTH), np.int64)
        self._event_heads = np.empty((0, asc.EVENT_WIDTH), np.int64)
        self._event_numbers = np.empty((0, asc.N_EVENT_NUMBERS))
        self._faults = np.empty((MAX_LISTED, asc.FAULT_WIDTH), np.int64)
        self._snapshots = np.empty((0, 2, asc.STATE_SIZE), np.int64)
        self._state = np.zeros(asc.STATE_SIZE, np.int64)
        self.reading: Reading | None = None
        """With which the last parsing began."""
        self.reason = asc.DONE
        """Why it stopped."""
        self._kept: list[tuple[npt.NDArray[np.uint32], Place]] = []
        """Rows that are to be stored, and where."""
        self._parsed_rows = self._rows
        """The rows of the last parsing: the parser's own, or room in the store."""

    def parse(self, start: int, stop: int, reading: Reading, store: AscStore | None = None) -> None:
        """Parse ``buffer[start:stop]``, whole lines, as far as one call of the kernel goes.

        The rows go to `store` at once where it has room; only he may give one whose rows are the
        next.
        """
        self.reading = reading
        columns = reading.columns
        self._parsed_rows = self._rows_for(stop - start, reading, store)
        state = self._state
        state[:] = 0
        state[asc.POSITION] = start
        state[asc.LINE] = 1
        state[asc.CARRIED] = reading.carried
        state[asc.OPEN_EVENTS : asc.FIRST_BEGUN] = asc.UNTOUCHED
        self.reason = parse_lines(
            self._text,
            np.uint64(stop),
            columns.kernel_layout() if columns else _NO_LAYOUT,
            self._parsed_rows.reshape(-1).view(np.float32),
            self._parsed_rows.reshape(-1),
            self._index,
            self._event_heads,
            self._event_numbers,
            self._faults,
            self._snapshots,
            state,
        )

    def keep(self, rows: npt.NDArray[np.uint32], store: AscStore) -> None:
        """Give rows of the last parsing their place."""
        place = store.place(*rows.shape)
        if self._parsed_rows is self._rows:
            self._kept.append((rows, place))

    @property
    def has_kept(self) -> bool:
        """Whether there are rows to be stored."""
        return bool(self._kept)

    def store(self, store: AscStore) -> None:
        """Store the rows that are to be kept, for which there must be room."""
        for rows, place in self._kept:
            store.write(rows, place)
        self._kept.clear()
        self._parsed_rows = self._rows  # the store may grow now

    def segments(self) -> Iterator[Segment]:
        """Yield what the last parsing found."""
        first = np.zeros(asc.STATE_SIZE, np.int64)
        for before, after in self._snapshots[: self._state[asc.N_SNAPSHOTS]]:
            yield self._segment(first, before, after)
            first = before
        yield self._segment(first, self._state, None)

    def _segment(self, first: Integers, last: Integers, assumed: Integers | None) -> Segment:
        events = slice(first[asc.N_EVENTS], last[asc.N_EVENTS])
        return Segment(
            rows=self._parsed_rows[first[asc.N_ROWS] : last[asc.N_ROWS]],
            lines=self._index[first[asc.N_INDEXED] : last[asc.N_INDEXED]],
            event_heads=self._event_heads[events],
            event_numbers=self._event_numbers[events],
            faults=self._faults[first[asc.N_FAULTS] : last[asc.N_FAULTS]],
            n_faults=int(last[asc.N_FAULTS] - first[asc.N_FAULTS]),
            state=last,
            assumed=assumed,
        )

    def fit(self, n_bytes: int, reading: Reading) -> None:
        """Make the parser's own arrays as large as so much text asks for.

        In the thread that reads the file, so that the memory of one file serves the next: what
        another thread allocates may go back to the system with it.
        """
        self._fit_others(n_bytes)
        n_rows = n_bytes // _BYTES_PER_ROW + 1
        if self._rows.shape[0] < n_rows or self._rows.shape[1] != reading.n_row_words:
            self._rows = np.empty((n_rows, reading.n_row_words), np.uint32)

    def _rows_for(
        self, n_bytes: int, reading: Reading, store: AscStore | None
    ) -> npt.NDArray[np.uint32]:
        """Return where the kernel writes its rows."""
        spare = None
        if store is not None and reading.n_row_words == WORDS_PER_SAMPLE:
            spare = store.spare_rows(n_bytes // _BYTES_PER_ROW + 1)
        if spare is None:
            self.fit(n_bytes, reading)
            return self._rows
        self._fit_others(n_bytes)
        return spare

    def _fit_others(self, n_bytes: int) -> None:
        n_others = n_bytes // _BYTES_PER_OTHER_LINE + 8
        if self._index.shape[0] < n_others:
            self._index = np.empty((n_others, asc.INDEX_WIDTH), np.int64)
            self._event_heads = np.empty((n_others, asc.EVENT_WIDTH), np.int64)
            self._event_numbers = np.empty((n_others, asc.N_EVENT_NUMBERS))
        n_snapshots = n_bytes // _BYTES_PER_SNAPSHOT + 8
        if self._snapshots.shape[0] < n_snapshots:
            self._snapshots = np.empty((n_snapshots, 2, asc.STATE_SIZE), np.int64)
