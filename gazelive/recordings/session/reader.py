"""Read a session folder: the journal's intact records become one `Recording`.

Samples are copied by index arithmetic over whole runs of chunks, not chunk by chunk: a live session
writes a record every few milliseconds, and an hour of it is a million records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gazelive.errors import RecordingError
from gazelive.gaze import (
    LATEST_US,
    SAMPLE_DTYPE,
    Flags,
    Integers,
    Message,
    Samples,
    ScreenGeometry,
    TrackerEvent,
    in_order,
    left_out_sentence,
)
from gazelive.recordings.messages import interpret
from gazelive.recordings.problems import MAX_LISTED
from gazelive.recordings.recording import Block, Problem, Recording, Signal, Trial
from gazelive.recordings.session.journal import (
    CHUNK_PREFIX_BYTES,
    CHUNK_PREFIX_DTYPE,
    HEAD_BYTES,
    BlockHead,
    Columns,
    Kind,
    decode_additions,
    decode_block,
    decode_notes,
)
from gazelive.recordings.session.journal_reader import (
    Run,
    gather_at,
    highest_before,
    missing_chunks,
    scan,
)
from gazelive.recordings.session.manifest import JOURNAL_NAME, SessionManifest, read_manifest
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns, trials_of
from gazelive.system import reading_error
from gazelive.wording import counted

_SAMPLE_BYTES = SAMPLE_DTYPE.itemsize
_WHOLE_SAMPLE = np.dtype(("V", _SAMPLE_BYTES))
"""Copies whole samples; numpy would copy field by field, twenty times slower."""
_LONG_CHUNK = 50
"""Chunks of more samples than this are copied faster one by one than by index arithmetic."""


def read_journal(path: Path, *, progress: Callable[[float], None] | None = None) -> JournalContents:
    """Read every intact record; a missing journal is an empty one with a problem."""
    contents = JournalContents()
    try:
        file = path.open("rb", buffering=0)
    except FileNotFoundError:
        contents.problem(f"{path.name} is missing: the session has no samples")
        return contents
    except OSError as error:
        raise reading_error(error, path) from error
    with file:
        n_bytes = file.seek(0, 2)
        contents.reserve(n_bytes)
        try:
            for run in scan(file, stop=n_bytes):  # the arrays have room for these bytes only
                contents.add(run)
                if progress is not None:
                    progress(run.end / n_bytes)
        except RecordingError as error:
            raise RecordingError(str(error), path=path) from error
        contents.finish(n_bytes)
    return contents


class JournalContents:
    """Collects a journal's runs in order."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.tracker_events: list[TrackerEvent] = []
        self.signals: list[Signal] = []
        self.trials: list[Trial] = []
        self.header: list[str] = []
        self.problems: list[Problem] = []
        self.last_chunk = -1
        """Number of the last chunk."""
        self.end = 0
        """Position after the last intact record."""
        self._samples: Samples = np.empty(0, SAMPLE_DTYPE)
        self.n_samples = 0
        """Number of samples so far."""
        self._heads: dict[int, BlockHead] = {}
        self._first_rows: dict[int, int] = {}  # of each block, in the order of the journal
        self._extras: dict[int, list[tuple[int, Columns]]] = {}
        self._damage: list[str] = []
        """Damage in front of the next chunk."""
        self._losses: list[tuple[str, int | None]] = []
        """Each with the row of the first sample behind it, None if no chunk is missing."""

    def reserve(self, journal_bytes: int) -> None:
        """Allocate for all samples that `journal_bytes` can hold; unused pages cost no memory."""
        self._samples = np.empty(journal_bytes // _SAMPLE_BYTES, SAMPLE_DTYPE)

    def add(self, run: Run) -> None:
        """Add the contents of a run."""
        if run.start > self.end:
            self._damage.append(f"{run.start - self.end} bytes from byte {self.end} on are damaged")
        self.end = run.end
        kinds = run.heads["kind"]
        is_chunk = kinds == Kind.CHUNK
        has_more = ~is_chunk
        chunk_rows = np.zeros(len(kinds), np.int64)
        if is_chunk.any():
            chunks = np.flatnonzero(is_chunk)
            numbers = run.heads["number"][chunks].astype(np.int64)
            before = highest_before(self.last_chunk, numbers)
            missing = missing_chunks(before, numbers)
            new = chunks[self._new_of(before, numbers)]
            chunk_rows[new], has_more[new] = self._add_samples(run, new)
            self._note_losses([(which, int(chunk_rows[chunks[at]])) for at, which in missing])
        for index in np.flatnonzero(has_more):
            self._add_other(run, int(index), int(chunk_rows[index]))

    def finish(self, journal_bytes: int) -> None:
        """Report all damage, and free unused memory."""
        self._samples.resize(self.n_samples, refcheck=False)
        self._note_losses(())
        for text, row in self._losses[:MAX_LISTED]:
            self.problem(text if row is None else f"{text} ({self._time_span(row)})")
        if len(self._losses) > MAX_LISTED:
            self.problem(f"{len(self._losses) - MAX_LISTED} more losses are not listed")
        if journal_bytes > self.end:
            after = f"after chunk {self.last_chunk}" if self.last_chunk >= 0 else "before any chunk"
            self.problem(
                f"the last {journal_bytes - self.end} bytes ({after}) are an incomplete record and "
                "were skipped"
            )

    def _time_span(self, row: int) -> str:
        """Return, in words, the times that samples lost before a row can have had."""
        times_us = self._samples["tracker_time_us"]
        bounds = [("after", times_us[:row][-1:]), ("before", times_us[row : row + 1])]
        known = [f"{side} {time[0] / 1e6:.3f} s" for side, time in bounds if len(time)]
        return f"{' and '.join(known) or 'at an unknown time'} on the tracker's clock"

    def problem(self, text: str) -> None:
        """Add a problem."""
        self.problems.append(Problem(None, text))

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in their order; call it once."""
        ends = [*self._first_rows.values(), self.n_samples][1:]
        rows_of = {
            number: slice(first, end)
            for (number, first), end in zip(self._first_rows.items(), ends, strict=False)
        }
        for number in sorted(self._heads.keys() | rows_of.keys()):
            rows = rows_of.get(number, slice(0, 0))
            samples = self._samples[rows]
            head = self._heads.get(number) or self._borrowed(number, len(samples))
            if head is None:
                continue
            samples, extras, n_left_out = in_order(samples, self._columns(number, rows))
            if n_left_out:
                self.problem(left_out_sentence(n_left_out, f"block {number + 1}"))
            times = samples["tracker_time_us"]
            yield Block(
                stream=head.stream,
                samples=samples,
                start_us=_given_or(head.start_us, times[:1]),
                end_us=_given_or(head.end_us, times[-1:]),
                extras=extras,
            )

    def _new_of(self, before: Integers, numbers: Integers) -> Flags:
        """Return which chunks are new; one that is not is a problem."""
        is_new: Flags = numbers > before
        if not is_new.all():
            for number in numbers[~is_new].tolist():
                self.problem(f"chunk {number} is stored twice; the second was skipped")
        self.last_chunk = int(max(before[-1], numbers[-1]))
        return is_new

    def _borrowed(self, block: int, n_samples: int) -> BlockHead | None:
        """Return the stream of the block before (or behind) one whose description is damaged."""
        samples, lost = f"{n_samples} samples of block {block}", "since its description is damaged"
        if not self._heads:
            self.problem(f"{samples} were skipped, {lost}")
            return None
        other = max((b for b in self._heads if b < block), default=min(self._heads))
        self.problem(f"{samples} are read with the description of block {other}, {lost}")
        return BlockHead(stream=self._heads[other].stream)

    def _note_losses(self, missing: Sequence[tuple[str, int | None]]) -> None:
        """Note chunks that are missing, with the damage in front of the first of them."""
        if self._damage:
            which, row = missing[0] if missing else ("no chunk is missing", None)
            missing = [("; ".join([*self._damage, which]), row), *missing[1:]]
            self._damage.clear()
        self._losses += missing

    def _add_samples(self, run: Run, chunks: npt.NDArray[np.intp]) -> tuple[Integers, Flags]:
        """Copy the samples of some records; return the first row of each, and if it has more."""
        payload_bytes = run.heads["payload_bytes"][chunks]
        if (payload_bytes < CHUNK_PREFIX_BYTES).any():
            raise RecordingError("a record is intact but too short for a chunk")
        payloads = run.offsets[chunks] + HEAD_BYTES
        prefixes = gather_at(run.window, payloads, CHUNK_PREFIX_DTYPE)
        counts = prefixes["n_samples"].astype(np.int64)
        used_bytes = CHUNK_PREFIX_BYTES + _SAMPLE_BYTES * counts
        if (used_bytes > payload_bytes).any():
            raise RecordingError("a record is intact but claims more samples than it contains")
        row = self.n_samples
        rows_in_run = np.cumsum(counts) - counts
        n_samples = int(counts.sum())
        room = self._samples[row : row + n_samples]
        _copy_samples(run.window, payloads + CHUNK_PREFIX_BYTES, counts, room)
        self._note_block_starts(run.heads["block"][chunks].astype(np.int64), row + rows_in_run)
        self.n_samples += n_samples
        has_more = (used_bytes < payload_bytes) | (prefixes["additions_bytes"] > 0)
        return row + rows_in_run, has_more

    def _note_block_starts(self, blocks: Integers, rows: Integers) -> None:
        steps = np.diff(blocks, prepend=next(reversed(self._first_rows), -1))
        if (steps < 0).any():
            raise RecordingError("its blocks are not in order: it was not written by gazelive")
        for index in np.flatnonzero(steps):
            self._first_rows[int(blocks[index])] = int(rows[index])

    def possible_messages(self) -> tuple[Message, ...]:
        """Return the messages at times that a tracker can have; the others are a problem."""
        possible = tuple(m for m in self.messages if abs(m.tracker_time_us) <= LATEST_US)
        if len(possible) < len(self.messages):
            n = len(self.messages) - len(possible)
            self.problem(f"{counted(n, 'message')} with a time that no tracker has: left out")
        return possible

    def _add_other(self, run: Run, index: int, row: int) -> None:
        """Add what is not samples; `row` is the first row of a chunk's samples."""
        payload = run.payload(index)
        block = int(run.heads["block"][index])
        match int(run.heads["kind"][index]):
            case Kind.CHUNK:
                messages, columns = decode_additions(payload)
                self.messages += messages
                if columns:
                    self._extras.setdefault(block, []).append((row, columns))
            case Kind.BLOCK:
                self._heads.setdefault(block, decode_block(payload))
            case Kind.NOTES:
                notes = decode_notes(payload)
                self.messages += notes.messages
                self.tracker_events += notes.tracker_events
                self.signals += notes.signals
                self.trials += notes.trials
                self.header += notes.header
                self.problems += [Problem(None, text) for text in notes.problems]
            case unknown:
                self.problem(f"a record of unknown kind {unknown} was skipped")

    def _columns(self, block: int, rows: slice) -> Columns:
        """Combine a block's extra columns; NaN where a chunk had none."""
        parts = self._extras.pop(block, [])
        whole: Columns = {}
        for row, columns in parts:
            for name, values in columns.items():
                if name not in whole:
                    whole[name] = np.full(rows.stop - rows.start, np.nan, np.float32)
                first = row - rows.start
                whole[name][first : first + len(values)] = values
        return whole


def _copy_samples(window: bytearray, starts: Integers, counts: Integers, room: Samples) -> None:
    """Fill `room` with the samples of all chunks: `counts[c]` from byte `starts[c]` on."""
    first_rows = np.cumsum(counts) - counts
    if len(room) > _LONG_CHUNK * len(counts):
        source, target = memoryview(window), room.view(np.uint8).data
        spans = zip(starts.tolist(), first_rows.tolist(), counts.tolist(), strict=True)
        for start, row, n in spans:
            n_bytes, to = n * _SAMPLE_BYTES, row * _SAMPLE_BYTES
            target[to : to + n_bytes] = source[start : start + n_bytes]
    else:
        # sample j of them all, in chunk c, begins at starts[c] + bytes · (j − first_rows[c])
        origins = np.repeat(starts - _SAMPLE_BYTES * first_rows, counts)
        offsets = origins + _SAMPLE_BYTES * np.arange(len(room))
        room.view(_WHOLE_SAMPLE)[:] = gather_at(window, offsets, _WHOLE_SAMPLE)


def _given_or(given_us: int | None, times_us: npt.NDArray[Any]) -> int:
    """Return the given time, else that of the sample, else 0."""
    if given_us is not None:
        return given_us
    return int(times_us[0]) if len(times_us) else 0


T = TypeVar("T")


def read_session(
    folder: Path,
    *,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    progress: Callable[[float], None] | None = None,
) -> Recording:
    """Return everything intact in a session folder; damage is listed in `problems`.

    The user's own patterns take precedence over the trials stored in the folder.
    """
    manifest = read_manifest(folder)
    contents = read_journal(folder / JOURNAL_NAME, progress=progress)
    if manifest.finished_at is None:
        contents.problem(
            "the session has no end: it is still being recorded, or its process was killed"
        )
    messages = contents.possible_messages()
    facts = interpret(messages)
    blocks = tuple(contents.blocks())
    screen = manifest.screen or next((b.stream.screen for b in blocks if b.stream.screen), None)
    return Recording(
        path=folder,
        format="session",
        blocks=blocks,
        messages=messages,
        tracker_events=tuple(contents.tracker_events),
        signals=tuple(contents.signals),
        trials=trials_of(messages, blocks, tuple(contents.trials), trial_patterns),
        calibrations=_united(manifest.calibrations, facts.calibrations),
        drift_corrections=_united(manifest.drift_corrections, facts.drift_corrections),
        header=tuple(contents.header),
        screen=screen,
        screen_px=_screen_px(manifest, screen) or facts.screen_px,
        viewer=manifest.viewer,
        session=manifest.session,
        problems=tuple(contents.problems),
    )


def _united(stored: tuple[T, ...], found: tuple[T, ...]) -> tuple[T, ...]:
    """Return the manifest's items that no message contains, then those of the messages."""
    return (*(item for item in stored if item not in found), *found)


def _screen_px(manifest: SessionManifest, screen: ScreenGeometry | None) -> tuple[int, int] | None:
    if manifest.screen_px is not None:
        return manifest.screen_px
    return None if screen is None else screen.size_px
