"""Chunks of a session in their order, from the wire or from disk, each once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gazelive.engine.wire import WiredChunk
from gazelive.gaze.stream import Chunk, StreamDescription
from gazelive.recordings.session_folder import JOURNAL_NAME, JournalFollower


class SessionSource:
    """Knows which chunk comes next.

    The journal has everything that was ever sent, so what the wire lacks is read there.
    """

    def __init__(self, folder: Path) -> None:
        self._journal = JournalFollower(folder / JOURNAL_NAME)
        self._stream: StreamDescription | None = None
        self._n_problems = 0
        self.next_chunk = 0

    def from_disk(self) -> Iterator[WiredChunk]:
        """Yield what is on disk and was not given yet.

        It is as well to look now and then when the wire has everything: the later, the more there
        is to look through.
        """
        self._journal.skip_to(self.next_chunk)
        for item in self._journal.poll():
            if isinstance(item, Chunk):
                if item.number >= self.next_chunk:
                    assert self._stream is not None
                    self.next_chunk = item.number + 1
                    yield WiredChunk(item, self._stream)
            else:
                self._stream = item

    def from_wire(self, wired: WiredChunk) -> Iterator[WiredChunk]:
        """Yield a chunk from the wire, unless it was given, and before it what it has overtaken."""
        if wired.chunk.number > self.next_chunk:
            yield from self.from_disk()
        if wired.chunk.number >= self.next_chunk:
            self.next_chunk = wired.chunk.number + 1
            yield wired

    def new_problems(self) -> list[str]:
        """Return what is damaged on disk and was not told yet."""
        problems = self._journal.problems[self._n_problems :]
        self._n_problems = len(self._journal.problems)
        return [problem.text for problem in problems]
