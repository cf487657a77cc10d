"""Read EyeLink's ASC files: any form that EDF2ASC writes, whole or damaged.

The numba kernel in `asc_kernels` reads the samples and finds the other lines; what those mean
is decided here, in the order of the file. What is damaged becomes a problem with its line
number, and what is whole is kept. The file passes through in slabs, so only its arrays and its
messages and events stay in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from gazelive.errors import RecordingError
from gazelive.recordings import asc_kernels as asc
from gazelive.recordings.asc_blocks import BlockLines, BlockMaker
from gazelive.recordings.asc_columns import WORDS_PER_SAMPLE, SampleColumns
from gazelive.recordings.asc_contents import AscContents
from gazelive.recordings.asc_source import AscSource, Slab
from gazelive.recordings.eyelink_messages import interpret
from gazelive.recordings.problem_log import MAX_LISTED, ProblemLog
from gazelive.recordings.recording import Recording
from gazelive.recordings.sample_store import SampleStore
from gazelive.recordings.trials import (
    DEFAULT_PATTERNS,
    TrialPatterns,
    find_trials,
    in_order_of_time,
)

DEVICE = "EyeLink"
"""What the device is called where the file's header has no SOURCE line."""
_N_ROWS = 1 << 13
_INDEX_LINES = 1 << 10
_SHORTEST_SAMPLE_LINE = 8
_LAST_RATE_IN_WHOLE_MS = 1000
_FAULTS = {
    asc.OUTSIDE_BLOCK: "a sample outside any block: left out",
    asc.WRONG_COLUMNS: "a sample line with missing, surplus or unreadable columns: left out",
    asc.TIME_ORDER: "the time of this sample is not later than the one before",
    asc.UNKNOWN_LINE: "no line that an ASC file has: left out",
    asc.MISPLACED_LINE: "a line that belongs between START and END: left out",
}


def read_asc(
    path: Path,
    *,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    progress: Callable[[float], None] | None = None,
) -> Recording:
    """Read the ASC file at `path`, gzipped or not.

    Raises RecordingError where there is nothing that could be a recording: no such file, an
    empty one, or one that is no ASC at all.
    """
    with AscSource(path) as source:
        parser = _AscParser()
        for slab in source.slabs():
            parser.take(slab, source.fraction)
            if parser.found_nothing and not parser.found_header:
                break  # no ASC file starts with megabytes of something else
            if progress is not None:
                progress(source.fraction)
        if parser.found_nothing:
            raise _not_asc(path, source)
    return parser.finish(path, trial_patterns, source.damage)


def _not_asc(path: Path, source: AscSource) -> RecordingError:
    if source.damage:
        return RecordingError(f"nothing can be read: {source.damage}", path=path)
    if path.stat().st_size == 0:
        return RecordingError("the file is empty: convert or copy it again", path=path)
    return RecordingError(
        "this is no ASC file with messages and events: convert the EDF with edf2asc and its "
        "default options, or give the EDF itself",
        path=path,
    )


class _AscParser:
    """Drives the kernel over the slabs: samples go to a store, other lines to the contents."""

    def __init__(self) -> None:
        self._problems = ProblemLog()
        self._store = SampleStore()
        self._contents = AscContents(self._store, self._problems)
        self._block: BlockLines | None = None
        self._columns: SampleColumns | None = None
        self._layout = np.zeros(asc.DESTINATIONS, np.int64)
        self._rows = np.empty((0, WORDS_PER_SAMPLE), np.uint32)
        self._index = np.empty((_INDEX_LINES, asc.INDEX_WIDTH), np.int64)
        self._faults = np.empty((MAX_LISTED, 2), np.int64)
        self._state = np.zeros(asc.STATE_SIZE, np.int64)
        self._state[asc.LINE] = 1

    @property
    def found_nothing(self) -> bool:
        """Whether no line was seen that only ASC files have."""
        return self._contents.is_empty

    @property
    def found_header(self) -> bool:
        """Whether there were lines of a header."""
        return bool(self._contents.header)

    def take(self, slab: Slab, fraction_read: float) -> None:
        """Take the next lines; `fraction_read` of the file has been read with them."""
        if slab.is_overlong_line:
            self._skip_line("an endless line: left out")
            return
        if slab.is_last_line and self._is_doubtful(bytes(slab.text[: slab.stop])):
            self._skip_line("the file stops inside this line: left out")
            return
        text = np.frombuffer(slab.text, np.uint8)
        stop = np.uint64(slab.stop)
        self._state[asc.POSITION] = slab.start
        reason = asc.STRUCTURE
        while reason != asc.DONE:
            if reason == asc.STRUCTURE:
                self._prepare_block(slab.stop)
            reason = asc.parse_lines(
                text,
                stop,
                self._layout,
                self._rows.view(np.float32),
                self._rows,
                self._index,
                self._faults,
                self._state,
            )
            # samples first: they stand before the line that changes how the next are read
            self._store.append(self._rows[: self._state[asc.N_ROWS]], fraction_read)
            self._state[asc.N_ROWS] = 0
            if self._block is not None:
                self._block.is_out_of_order = bool(self._state[asc.OUT_OF_ORDER])
                self._block.has_target = bool(self._state[asc.PARTS_SEEN] & asc.HAS_TARGET)
            self._take_indexed_lines(slab)
            self._take_faults()

    def finish(self, path: Path, trial_patterns: TrialPatterns, damage: str | None) -> Recording:
        """Return everything that was found."""
        if damage:
            self._problems.add(None, damage)
        contents = self._contents
        contents.finish()
        messages = tuple(in_order_of_time(contents.messages))
        contents.messages.clear()  # a list beside the tuple would count in a file of messages
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
            tracker_events=tuple(contents.events),
            signals=tuple(contents.signals),
            trials=find_trials(messages, blocks, trial_patterns),
            calibrations=facts.calibrations,
            drift_corrections=facts.drift_corrections,
            header=tuple(contents.header),
            screen_px=facts.screen_px,
            problems=self._problems.problems(),
        )

    def _prepare_block(self, n_bytes: int) -> None:
        """Tell the kernel how to read the samples of the block that is open now."""
        block = self._contents.block
        state = self._state
        if block is not self._block:
            self._block = block
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
            # a small file makes do with few rows
            n_rows = min(_N_ROWS, n_bytes // _SHORTEST_SAMPLE_LINE + 1)
            self._rows = np.empty((n_rows, columns.n_row_words), np.uint32)

    def _take_indexed_lines(self, slab: Slab) -> None:
        text = memoryview(slab.text)
        for start, stop, line, kind in self._index[: self._state[asc.N_INDEXED]].tolist():
            self._contents.take(line, kind, bytes(text[start:stop]), is_last=slab.is_last_line)
        self._state[asc.N_INDEXED] = 0

    def _take_faults(self) -> None:
        n = int(self._state[asc.N_FAULTS])
        if n == 0:
            return
        for line, fault in self._faults[:n].tolist():
            self._problems.add(line, _FAULTS[fault])
        self._problems.count(max(n - MAX_LISTED, 0))
        self._state[asc.N_FAULTS] = 0

    def _is_doubtful(self, last_line: bytes) -> bool:
        """Say whether a last line without a line end may be a part of what it was.

        Outside a block the file is whole but for its last newline. Inside one it was cut off:
        a sample must have the flags that end it, an END is checked where it is read.
        """
        if self._block is None or last_line.startswith(b"END"):
            return False
        return not (last_line[:1].isdigit() and self._state[asc.PARTS_SEEN])

    def _skip_line(self, why: str) -> None:
        self._problems.add(int(self._state[asc.LINE]), why)
        self._state[asc.LINE] += 1


def _device(header: Sequence[str]) -> str:
    """Return what the header calls the source."""
    names = (line.removeprefix("SOURCE:").strip() for line in header if line.startswith("SOURCE:"))
    return next(names, "") or DEVICE
