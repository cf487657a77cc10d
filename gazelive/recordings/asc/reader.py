"""Read EyeLink's ASC files: any form that EDF2ASC writes, intact or damaged.

The numba kernel in `slab_kernels` reads samples and events and finds the other lines, which
`contents` interprets in file order. Damage becomes a problem with its line number; everything
intact is kept. The file passes through in slabs, several of which are parsed at the same time; only
its arrays, messages and events stay in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from gazelive.errors import RecordingError
from gazelive.gaze import TrackerEvent, in_time_order
from gazelive.recordings.asc.batches import AscBatches, Batch, Fault
from gazelive.recordings.asc.blocks import BlockMaker
from gazelive.recordings.asc.contents import AscContents, tracker_events
from gazelive.recordings.asc.pipeline import SlabPipeline, usable_threads
from gazelive.recordings.asc.source import AscSource
from gazelive.recordings.asc.store import AscStore
from gazelive.recordings.messages import interpret
from gazelive.recordings.problems import ProblemLog
from gazelive.recordings.recording import Recording
from gazelive.recordings.trials import (
    DEFAULT_PATTERNS,
    TrialPatterns,
    find_trials,
)

DEVICE = "EyeLink"
"""Name of the device if the file's header has no SOURCE line."""
_STRANGE_BYTES = 1 << 20
"""A file whose first bytes, this many, hold no ASC line is no ASC file."""


def read_asc(
    path: Path,
    *,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    progress: Callable[[float], None] | None = None,
    n_threads: int | None = None,
) -> Recording:
    """Read the ASC file at `path`, gzipped or not, with up to `n_threads` threads.

    By default a large file gets as many threads as there are processors, at most four, and a small
    one is read in the caller's thread; the result does not depend on it. Raises RecordingError if
    the file is missing, empty or not ASC at all.
    """
    with AscSource(path) as source:
        if n_threads is None:
            n_threads = usable_threads(source.n_bytes)
        store = AscStore()
        with SlabPipeline(source, store, max(n_threads, 1)) as pipeline:
            batches = AscBatches(pipeline, store)
            reader = _AscReader(batches, store)
            for fraction in reader.read():
                if progress is not None:
                    progress(fraction)
                if reader.is_strange and batches.n_bytes > _STRANGE_BYTES:
                    break
        if reader.found_nothing:
            raise _not_asc(path, source)
    return reader.finish(path, trial_patterns, source.damage)


def _not_asc(path: Path, source: AscSource) -> RecordingError:
    if source.damage:
        return RecordingError(f"nothing can be read: {source.damage}", path=path)
    if path.stat().st_size == 0:
        return RecordingError("the file is empty: convert or copy it again", path=path)
    return RecordingError(
        "this is not an ASC file with messages and events: convert the EDF with edf2asc and its "
        "default options, or pass the EDF itself",
        path=path,
    )


class _AscReader:
    """Builds a recording from the batches of a file, in order."""

    def __init__(self, batches: AscBatches, store: AscStore) -> None:
        self._batches = batches
        self._store = store
        self._problems = ProblemLog()
        self._contents = AscContents(self._store, self._problems)
        self._events: list[TrackerEvent] = []

    @property
    def found_nothing(self) -> bool:
        """True if no line specific to ASC files was seen."""
        return self._contents.is_empty and not self._events

    @property
    def is_strange(self) -> bool:
        """True if there was not even a header."""
        return self.found_nothing and not self._contents.header

    def read(self) -> Iterator[float]:
        """Take all batches and yield the fraction of the file read so far."""
        for batch in self._batches:
            self._take(batch)
            if batch.changes_reading:
                self._note(self._batches.prepare(self._contents.block))
            yield batch.fraction_read

    def finish(self, path: Path, trial_patterns: TrialPatterns, damage: str | None) -> Recording:
        """Return everything that was found."""
        if damage:
            self._problems.add(None, damage)
        contents = self._contents
        contents.finish()
        self._note(self._batches.unended_events())
        messages = tuple(in_time_order(contents.messages))
        contents.messages.clear()  # a second copy matters in a file of many messages
        facts = interpret(messages)
        samples, extras = self._store.finish()
        maker = BlockMaker(
            samples,
            extras,
            device=_device(contents.header),
            screen_px=facts.screen_px,
            problems=self._problems,
        )
        blocks = maker.make(contents.blocks)
        return Recording(
            path=path,
            format="asc",
            blocks=blocks,
            messages=messages,
            tracker_events=tuple(self._events),
            signals=tuple(contents.signals),
            trials=find_trials(messages, blocks, trial_patterns),
            calibrations=facts.calibrations,
            drift_corrections=facts.drift_corrections,
            header=tuple(contents.header),
            screen_px=facts.screen_px,
            problems=self._problems.problems(),
        )

    def _take(self, batch: Batch) -> None:
        """Take samples and events first: the last line may end their block."""
        block = self._contents.block
        if block is not None:
            block.is_out_of_order |= batch.is_out_of_order
            block.has_target |= batch.has_target
        if len(batch.event_heads):
            prescaler = block.prescaler if block else 1.0
            self._events += tracker_events(batch.event_heads, batch.event_numbers, prescaler)
        # problems in file order: the listed ones must not depend on the batches
        faults = deque(batch.faults)
        for line, kind, content in batch.lines:
            while faults and faults[0].found_on < line:
                self._note([faults.popleft()])
            self._contents.take(line, kind, content, is_last=batch.is_last_line)
        self._note(faults)
        self._problems.count(batch.n_unlisted_faults)

    def _note(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self._problems.add(fault.line, fault.text)


def _device(header: Sequence[str]) -> str:
    """Return the header's name of the source."""
    names = (line.removeprefix("SOURCE:").strip() for line in header if line.startswith("SOURCE:"))
    return next(names, "") or DEVICE
