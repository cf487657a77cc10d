"""Following a journal while another process writes it: how the engine catches up by number."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gazelive.errors import RecordingError
from gazelive.gaze.stream import Chunk, StreamDescription
from gazelive.recordings.journal import Kind, decode_block, decode_chunk
from gazelive.recordings.journal_scan import Run, scan
from gazelive.recordings.recording import Problem


class JournalFollower:
    """Remembers how far a journal was read; each `poll` goes on from there.

    A chunk is preceded by the description of its block unless that was given already.
    """

    def __init__(self, path: Path, from_chunk: int = 0) -> None:
        self._path = path
        self._from_chunk = from_chunk
        self._position = 0
        self._streams: dict[int, StreamDescription] = {}
        self._described_block: int | None = None
        self.problems: list[Problem] = []
        """What was damaged and left out."""

    def skip_to(self, chunk: int) -> None:
        """Leave out chunks before number `chunk`: they are known from elsewhere."""
        self._from_chunk = max(self._from_chunk, chunk)

    def poll(self) -> Iterator[Chunk | StreamDescription]:
        """Yield what whole records there are now beyond the last one that was yielded."""
        try:
            file = self._path.open("rb", buffering=0)
        except FileNotFoundError:
            return
        with file:
            if file.seek(0, 2) < self._position:
                raise RecordingError(
                    "is shorter than it was: it was replaced while it was followed",
                    path=self._path,
                )
            for run in scan(file, self._position):
                if run.start > self._position:
                    lost = f"{run.start - self._position} bytes from byte {self._position} on"
                    self.problems.append(Problem(None, f"{lost} are damaged and were left out"))
                try:
                    yield from self._read(run)
                except RecordingError as error:
                    raise RecordingError(str(error), path=self._path) from error

    def _read(self, run: Run) -> Iterator[Chunk | StreamDescription]:
        kinds, numbers = run.heads["kind"], run.heads["number"]
        # most were on the wire: looking at each would keep the engine from what comes there
        is_new = (kinds == Kind.CHUNK) & (numbers >= self._from_chunk)
        for index in np.flatnonzero(is_new | (kinds == Kind.BLOCK)).tolist():
            self._position = run.record_end(index)
            block, number = int(run.heads["block"][index]), int(numbers[index])
            if kinds[index] == Kind.BLOCK:
                self._streams.setdefault(block, decode_block(run.payload(index)).stream)
            else:
                chunk = decode_chunk(block, number, run.payload(index))
                yield from self._described(chunk)
        self._position = run.end

    def _described(self, chunk: Chunk) -> Iterator[Chunk | StreamDescription]:
        stream = self._streams.get(chunk.block)
        if stream is None:
            text = f"chunk {chunk.number}: the description of block {chunk.block} is lost"
            self.problems.append(Problem(None, text))
            return
        if chunk.block != self._described_block:
            self._described_block = chunk.block
            yield stream
        yield chunk
