"""Analysis of one session: chunks in order, documents to disk and then to the sinks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from gazelive.clock import Clock
from gazelive.gaze import (
    Chunk,
    Document,
    Notice,
    QualitySummary,
    ScreenGeometry,
    StreamDescription,
    empty_samples,
)
from gazelive.live.engine.disk_watch import DiskWatch
from gazelive.live.engine.documents_file import DocumentsFile
from gazelive.live.engine.model import EngineModel
from gazelive.live.engine.sinks import DocumentSink, RecallsDocuments, Snapshot
from gazelive.live.pipeline.pipeline import GeometryOf, Pipeline, RunFacts
from gazelive.live.settings import LiveSettings
from gazelive.live.wire.chunks import BlockEnded, Wired, WiredChunk
from gazelive.recordings import (
    JOURNAL_NAME,
    Block,
    FoundGeometry,
    GeometryFlags,
    JournalFollower,
    Recording,
    SessionManifest,
    find_geometry,
    read_manifest,
    screen_in_corpus,
)

MOST_PROBLEMS = 20
"""Problems of the journal that are listed at once."""


class SessionSource:
    """Chunks of a session in order, each once, from the wire or from disk.

    Chunks that the wire lost are read from the journal, which has all of them.
    """

    def __init__(self, folder: Path) -> None:
        self._journal = JournalFollower(folder / JOURNAL_NAME)
        self._stream: StreamDescription | None = None
        self._n_problems = 0
        self.next_chunk = 0

    def from_disk(self) -> Iterator[WiredChunk]:
        """Yield the chunks on disk that were not yielded yet.

        Call it now and then also while the wire delivers everything: it has to skip all chunks
        since the last call.
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
        """Yield a chunk from the wire if it is the next one, and before it those it overtook.

        Every chunk is on disk before it is sent, so one that is not the next even then is old, or
        has a number that was never recorded.
        """
        if wired.chunk.number > self.next_chunk:
            yield from self.from_disk()
        if wired.chunk.number == self.next_chunk:
            self.next_chunk = wired.chunk.number + 1
            yield wired

    def new_problems(self) -> list[str]:
        """Return the problems of the journal that were not returned yet."""
        problems = self._journal.problems[self._n_problems :]
        self._n_problems = len(self._journal.problems)
        texts = [problem.text for problem in problems[:MOST_PROBLEMS]]
        if len(problems) > MOST_PROBLEMS:
            texts.append(f"{len(problems) - MOST_PROBLEMS} more losses are not listed")
        return texts


def session_geometry(
    manifest: SessionManifest,
    folder: Path,
    flags: GeometryFlags | None = None,
    corpus_screen: ScreenGeometry | None = None,
) -> GeometryOf:
    """Return what finds the geometry of each block.

    It uses the session's description and the blocks so far, as `find_geometry` uses a recording.
    """
    seen: list[Block] = []

    def geometry_of(stream: StreamDescription) -> FoundGeometry:
        block = Block(stream, empty_samples(0), 0, 0)
        if stream.px_per_deg is not None or all(known.stream != stream for known in seen):
            seen.append(block)  # others tell nothing new, and a session has thousands
        screens = (known.stream.screen for known in seen)
        screen = manifest.screen or next((s for s in screens if s is not None), None)
        screen_px = manifest.screen_px
        if screen_px is None and screen is not None:
            screen_px = screen.width_px, screen.height_px
        recording = Recording(
            path=folder,
            format="session",
            blocks=tuple(seen),
            screen=screen,
            screen_px=screen_px,
        )
        return find_geometry(block, recording, flags, corpus_screen)

    return geometry_of


REMEMBERED = 1000
LONGEST_S = 60.0
"""Longer ones are from catching up, or from another computer's clock."""


class Latencies:
    """Latencies of the last thousand chunks."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, seconds: float) -> None:
        """Take the latency of a chunk."""
        if 0 <= seconds < LONGEST_S:
            self._seconds.append(seconds)

    @property
    def p99_ms(self) -> float | None:
        """The 99th percentile; None before any is known."""
        if not self._seconds:
            return None
        return float(np.percentile(np.array(self._seconds), 99)) * 1000


ChunkSink = Callable[[Chunk, StreamDescription], None]


class SessionRun:
    """Analyses a session from its first chunk on, whenever that was recorded.

    The same samples and the same model give the same documents, so a run that died is begun anew
    and continues: documents already written are neither written nor published again.
    """

    def __init__(
        self,
        settings: LiveSettings,
        model: EngineModel,
        *,
        sinks: Sequence[DocumentSink] = (),
        chunk_sinks: Sequence[ChunkSink] = (),
        clock: Clock,
    ) -> None:
        self.folder = folder = settings.folder
        self.manifest: SessionManifest = read_manifest(folder)
        self._sinks = sinks
        self._recalling = [sink for sink in sinks if isinstance(sink, RecallsDocuments)]
        self._chunk_sinks = chunk_sinks
        self._clock = clock
        self._source = SessionSource(folder)
        self._latencies = Latencies()
        self.snapshot = Snapshot()
        self.pipeline = Pipeline(
            session_geometry(self.manifest, folder, settings.geometry, screen_in_corpus(folder)),
            facts=_facts(self.manifest, folder),
            model=model.running,
            method=model.method,
            parameters=model.parameters,
            eye=settings.eye,
            patterns=settings.patterns,
            traces=False,
        )
        self.is_caught_up = False
        """False while the engine reads what was recorded before it started."""
        self.is_finished = False
        self._published_once: set[str] = set()
        self.stream: StreamDescription | None = None
        """Stream of the last chunk; None before the first."""
        self._disk = DiskWatch(folder / JOURNAL_NAME, clock)
        self._file = DocumentsFile(folder)

    @property
    def next_chunk(self) -> int:
        """The number of the chunk that is waited for."""
        return self._source.next_chunk

    @property
    def latency_p99_ms(self) -> float | None:
        """Latency from the arrival of a chunk to its documents, 99th percentile."""
        return self._latencies.p99_ms

    def read_disk(self, meanwhile: Callable[[], bool] = lambda: True) -> int:
        """Analyse the new chunks on disk; return their number.

        `meanwhile` is called after each; False stops.
        """
        n_chunks = 0
        for wired in self._source.from_disk():
            self._push(wired)
            n_chunks += 1
            if not meanwhile():
                return n_chunks
        if not self.is_caught_up:
            self.is_caught_up = self.pipeline.traces = True
        for text in self._source.new_problems():
            self.publish(Notice(level="warning", text=f"{self.folder}: {text}"))
        return n_chunks

    def is_of_session(self, wired: Wired) -> bool:
        """Return whether a message from the wire belongs to this session; warn of the first."""
        if wired.session == self.manifest.id:
            return True
        text = "Chunks of another session arrive here; they are ignored."
        self.publish_once("foreign", Notice(level="warning", text=text))
        return False

    def publish_once(self, kind: str, notice: Notice) -> None:
        """Publish the first notice of a kind: a thousand of them would hide all others."""
        if kind not in self._published_once:
            self._published_once.add(kind)
            self.publish(notice)

    def n_left(self) -> int:
        """Return the number of recorded chunks that were not analysed; call it at the end."""
        return sum(1 for _ in self._source.from_disk())

    def take(self, wired: WiredChunk) -> None:
        """Analyse a chunk from the wire, and before it the chunks it overtook."""
        for one in self._source.from_wire(wired):
            self._push(one)

    def end_block(self, sign: BlockEnded) -> None:
        """Take it that no more samples of the block will come."""
        if sign.next_chunk > self.next_chunk:
            self.read_disk()
        if sign.next_chunk == self.next_chunk:  # else it is old
            self._publish(self.pipeline.end_block())

    def finish(self, reason: str, *, reads_on: bool = True) -> None:
        """Analyse the rest on disk (unless `reads_on` is false) and end the run."""
        if not self.is_finished:
            if reads_on:
                self.read_disk()
            self.is_finished = True
            self._publish(self.pipeline.finish(reason))

    def publish(self, notice: Notice) -> None:
        """Publish a notice that does not come from the samples and is not written to disk."""
        self.snapshot.add(notice)
        for sink in self._sinks:
            sink.write(notice)

    def watch_disk(self) -> None:
        """Warn if the disk is filling up."""
        notice = self._disk.check()
        if notice is not None:
            self.publish(notice)

    def close(self) -> None:
        """Close the documents file; a second call does nothing."""
        self._file.close()

    def _push(self, wired: WiredChunk) -> None:
        self.stream = wired.stream
        documents = self.pipeline.push(wired.chunk, wired.stream)
        if self.is_caught_up:
            for sink in self._chunk_sinks:
                sink(wired.chunk, wired.stream)
        self._publish(documents)
        if self.is_caught_up:
            self._latencies.add(self._clock.now_s() - wired.chunk.arrival_s)

    def _publish(self, documents: Iterable[Document]) -> None:
        """Put documents on disk and then let others see them."""
        new = []
        for document in map(self._with_latency, documents):
            self.snapshot.add(document)
            if not self._file.is_known(document):
                self._file.write(document)
                new.append(document)
            else:
                for recalling in self._recalling:
                    recalling.recall(document)
        if new:
            self._file.flush()
            for document in new:
                for sink in self._sinks:
                    sink.write(document)

    def _with_latency(self, document: Document) -> Document:
        if isinstance(document, QualitySummary):
            return msgspec.structs.replace(document, latency_ms=self.latency_p99_ms)
        return document


def _facts(manifest: SessionManifest, folder: Path) -> RunFacts:
    n_trials = manifest.config.get("n_trials")
    return RunFacts(
        session=manifest.session,
        viewer=manifest.viewer,
        folder=str(folder.absolute()),
        n_trials=n_trials if isinstance(n_trials, int) else None,
    )
