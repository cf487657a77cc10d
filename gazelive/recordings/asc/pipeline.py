"""Pipeline of slabs of an ASC file: threads read, parse ahead and store them in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gazelive.gaze import Floats, Integers
from gazelive.recordings.asc import parser_state as asc
from gazelive.recordings.asc.columns import WORDS_PER_SAMPLE, SampleColumns
from gazelive.recordings.asc.slab_kernels import parse_lines
from gazelive.recordings.asc.source import AscSource, Slab
from gazelive.recordings.asc.store import AscStore, Place
from gazelive.recordings.problems import MAX_LISTED

# a slab with more of something than this takes more than one call of the kernel
_BYTES_PER_ROW = 24
_BYTES_PER_OTHER_LINE = 512
_BYTES_PER_SNAPSHOT = 4096
_NO_LAYOUT = np.zeros(asc.DESTINATIONS, np.int64)


@dataclass(frozen=True)
class Reading:
    """Format of the next line: the columns, and the state that earlier lines leave behind."""

    columns: SampleColumns | None
    """Columns of the current block, or of the last one, assumed for the next."""
    carried: tuple[int, ...]
    """The `parser_state.CARRIED` part of the kernel's state."""

    @property
    def n_row_words(self) -> int:
        """Length of a row."""
        return self.columns.n_row_words if self.columns else WORDS_PER_SAMPLE


class Segment(NamedTuple):
    """Results of the kernel up to a line that changes the reading, or up to where it stopped."""

    rows: npt.NDArray[np.uint32]
    """Samples and their extras, shape (n, 9 + k)."""
    lines: Integers
    """The index of the lines that Python must read."""
    event_heads: Integers
    event_numbers: Floats
    faults: Integers
    n_faults: int
    """Including those for which there was no room."""
    state: Integers
    """At its end."""
    assumed: Integers | None
    """The state with which the kernel continued, if it did."""


class SlabParser:
    """Parses one slab of text at a time; every thread needs its own parser."""

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
        """Reading at the start of the last parsing."""
        self.reason = asc.DONE
        """Reason for the last stop."""
        self._kept: list[tuple[npt.NDArray[np.uint32], Place]] = []
        """Rows to be stored, and their places."""
        self._parsed_rows = self._rows
        """The rows of the last parsing: the parser's own, or room in the store."""

    def parse(self, start: int, stop: int, reading: Reading, store: AscStore | None = None) -> None:
        """Parse ``buffer[start:stop]``, whole lines, as far as one call of the kernel goes.

        The rows go directly to `store` if it has room; pass it only if these rows are the next in
        the file.
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
        """Assign a place to rows of the last parsing."""
        place = store.place(*rows.shape)
        if self._parsed_rows is self._rows:
            self._kept.append((rows, place))

    @property
    def has_kept(self) -> bool:
        """True if there are rows to be stored."""
        return bool(self._kept)

    def store(self, store: AscStore) -> None:
        """Store the kept rows, for which there must be room."""
        for rows, place in self._kept:
            store.write(rows, place)
        self._kept.clear()
        self._parsed_rows = self._rows  # the store may grow now

    def segments(self) -> Iterator[Segment]:
        """Yield the results of the last parsing."""
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
        """Enlarge the parser's own arrays for `n_bytes` of text.

        Called in the thread that reads the file, so the memory is reused for the next file: memory
        that another thread allocated may be returned to the system when it ends.
        """
        self._fit_others(n_bytes)
        n_rows = n_bytes // _BYTES_PER_ROW + 1
        if self._rows.shape[0] < n_rows or self._rows.shape[1] != reading.n_row_words:
            self._rows = np.empty((n_rows, reading.n_row_words), np.uint32)

    def _rows_for(
        self, n_bytes: int, reading: Reading, store: AscStore | None
    ) -> npt.NDArray[np.uint32]:
        """Return the array to which the kernel writes its rows."""
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


MAX_THREADS = 4
"""More threads would only wait for the one that creates the events and messages."""
BYTES_PER_THREAD = 128 << 20
"""One thread reads this much before others have started on a busy machine."""
_TAIL_BYTES = 1024

Guess = Callable[[bytes], Reading | None]
"""Guesses from the last lines before a slab how to read it; None: wait for its turn."""


def usable_threads(n_bytes: int) -> int:
    """Return the number of threads worth using for a file of `n_bytes`."""
    if hasattr(os, "sched_getaffinity"):  # a cluster may grant fewer than the machine has
        n_processors = len(os.sched_getaffinity(0))
    else:
        n_processors = os.cpu_count() or 1
    return min(n_processors, MAX_THREADS, 1 + n_bytes // BYTES_PER_THREAD)


@dataclass
class _Ahead:
    """A slab that waits for its turn, and the future of its parsing."""

    slab: Slab
    parser: SlabParser
    reading: Reading | None = None
    parsing: Future[None] | None = None

    def parse_here(self) -> bool:
        """Parse it in this thread, unless another has started."""
        if self.parsing is None or self.reading is None or not self.parsing.cancel():
            return False
        self.parser.parse(self.slab.start, self.slab.stop, self.reading)
        self.parsing = None
        return True


class SlabPipeline:
    """Yields the slabs of `source` in order; threads parse them ahead and store them afterwards.

    The caller's thread is one of the `n_threads`: instead of waiting for another it does work that
    has not started yet. No thread outlives the `with` block.
    """

    def __init__(self, source: AscSource, store: AscStore, n_threads: int) -> None:
        self._source = source
        self._store = store
        self._n_threads = n_threads
        self._pool: ThreadPoolExecutor | None = None
        self._n_parsers = 0
        self._free: list[SlabParser] = []
        self._ahead: deque[_Ahead] = deque()
        self._storing: deque[tuple[Future[None], SlabParser]] = deque()

    def __enter__(self) -> SlabPipeline:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def slabs(self, guess: Guess) -> Iterator[tuple[Slab, SlabParser]]:
        """Yield every slab in a parser, which has parsed it ahead if its `reading` is not None.

        The samples kept by the parser are stored when the next slab is requested.
        """
        tail = b""
        while True:
            parser = self._free_parser()
            slab = self._source.fill(parser.buffer)
            if slab is None:
                break
            parser.reading = None
            ahead = _Ahead(slab, parser)
            if self._n_threads > 1 and not (slab.is_overlong_line or slab.is_last_line):
                ahead.reading = guess(tail)
            if ahead.reading is not None:
                parser.fit(slab.stop - slab.start, ahead.reading)
                ahead.parsing = self._threads().submit(
                    parser.parse, slab.start, slab.stop, ahead.reading
                )
            tail = bytes(memoryview(parser.buffer)[max(slab.stop - _TAIL_BYTES, 0) : slab.stop])
            self._ahead.append(ahead)
            while len(self._ahead) > (self._n_ahead if ahead.parsing else 0):
                yield from self._take_turn()
        while self._ahead:
            yield from self._take_turn()
        self._wait_for_stores()

    def store_now(self, parser: SlabParser, fraction_read: float) -> None:
        """Store the rows kept by the parser, because it is about to parse again."""
        self._make_room(fraction_read)
        parser.store(self._store)

    @property
    def _n_ahead(self) -> int:
        """Number of slabs that may wait for their turn: two for each other thread."""
        return 2 * (self._n_threads - 1)

    def _take_turn(self) -> Iterator[tuple[Slab, SlabParser]]:
        ahead = self._ahead.popleft()
        ahead.parse_here()
        if ahead.parsing is not None:
            while not ahead.parsing.done() and any(later.parse_here() for later in self._ahead):
                pass
            ahead.parsing.result()
        yield ahead.slab, ahead.parser
        parser = ahead.parser
        self._make_room(ahead.slab.fraction)
        if self._ahead and parser.has_kept:
            storing = self._threads().submit(parser.store, self._store)
            self._storing.append((storing, parser))
        else:
            parser.store(self._store)
            self._free.append(parser)

    def _free_parser(self) -> SlabParser:
        is_most = self._n_parsers > self._n_ahead + 1
        while self._storing and (self._storing[0][0].done() or (is_most and not self._free)):
            self._wait_for_store()
        if not self._free:
            self._n_parsers += 1
            self._free.append(SlabParser(self._source.buffer_bytes))
        return self._free.pop()

    def _make_room(self, fraction_read: float) -> None:
        if not self._store.has_room:
            self._wait_for_stores()
            self._store.make_room(fraction_read)

    def _wait_for_stores(self) -> None:
        while self._storing:
            self._wait_for_store()

    def _wait_for_store(self) -> None:
        storing, parser = self._storing.popleft()
        if storing.cancel():  # no thread has started it
            parser.store(self._store)
        else:
            storing.result()
        self._free.append(parser)

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:  # a small file needs none
            self._pool = ThreadPoolExecutor(self._n_threads - 1, thread_name_prefix="asc")
        return self._pool
