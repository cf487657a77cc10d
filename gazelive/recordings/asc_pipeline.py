"""Slabs of an ASC file on their way through threads: read, parsed ahead, taken in turn, stored."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType

from gazelive.recordings.asc_parsing import Reading, SlabParser
from gazelive.recordings.asc_source import AscSource, Slab
from gazelive.recordings.asc_store import AscStore

MAX_THREADS = 4
"""More would only wait for the one that makes objects of events and messages."""
BYTES_PER_THREAD = 128 << 20
"""One thread reads so much before others have taken up work on a busy machine."""
_TAIL_BYTES = 1024

Guess = Callable[[bytes], Reading | None]
"""Guesses by the last lines before a slab how it is to be read; None: it must wait for its turn."""


def usable_threads(n_bytes: int) -> int:
    """Return how many threads are worth while for a file of so many bytes."""
    if hasattr(os, "sched_getaffinity"):  # fewer than the machine has, as a cluster gives them
        n_processors = len(os.sched_getaffinity(0))
    else:
        n_processors = os.cpu_count() or 1
    return min(n_processors, MAX_THREADS, 1 + n_bytes // BYTES_PER_THREAD)


@dataclass
class _Ahead:
    """A slab that waits for its turn, and the thread's promise to parse it."""

    slab: Slab
    parser: SlabParser
    reading: Reading | None = None
    parsing: Future[None] | None = None

    def parse_here(self) -> bool:
        """Parse it in this thread, unless another has begun with it."""
        if self.parsing is None or self.reading is None or not self.parsing.cancel():
            return False
        self.parser.parse(self.slab.start, self.slab.stop, self.reading)
        self.parsing = None
        return True


class SlabPipeline:
    """Gives the slabs of `source` in their order; threads parse them before and store them after.

    The caller's thread is one of the `n_threads`: while it would wait for another it does what
    that has not begun yet. No thread outlives the `with` block.
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

        The samples that the parser is told to keep are stored when the next slab is asked for.
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
        """Store what the parser was told to keep, because it is going to parse again."""
        self._make_room(fraction_read)
        parser.store(self._store)

    @property
    def _n_ahead(self) -> int:
        """How many slabs may wait for their turn: one for each other thread, and as many more."""
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
        if storing.cancel():  # no thread has begun with it
            parser.store(self._store)
        else:
            storing.result()
        self._free.append(parser)

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:  # a small file needs none
            self._pool = ThreadPoolExecutor(self._n_threads - 1, thread_name_prefix="asc")
        return self._pool
