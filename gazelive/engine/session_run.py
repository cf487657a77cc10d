"""One session being analysed: chunks in their order, documents to disk and then to the sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from gazelive.clock import Clock
from gazelive.engine.documents_file import DocumentsFile
from gazelive.engine.engine_model import EngineModel
from gazelive.engine.latency import Latencies
from gazelive.engine.pipeline import Pipeline, RunFacts
from gazelive.engine.session_geometry import session_geometry
from gazelive.engine.session_source import SessionSource
from gazelive.engine.sinks import DocumentSink, RecallsDocuments
from gazelive.engine.snapshot import Snapshot
from gazelive.engine.wire import BlockEnded, WiredChunk
from gazelive.gaze.documents import Document, Notice, QualitySummary
from gazelive.gaze.screen import ScreenGeometry
from gazelive.gaze.stream import Chunk, StreamDescription
from gazelive.recordings.geometry import GeometryFlags
from gazelive.recordings.session_folder import SessionManifest, read_manifest
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns

ChunkSink = Callable[[Chunk, StreamDescription], None]


@dataclass(frozen=True)
class RunSettings:
    """How a session is to be analysed, besides the model."""

    flags: GeometryFlags | None = None
    corpus_screen: ScreenGeometry | None = None
    eye: Literal["L", "R", "both"] | None = None
    patterns: TrialPatterns = DEFAULT_PATTERNS


class SessionRun:
    """Analyses a session from its first chunk on, whenever that was recorded.

    The same samples and the same model give the same documents, so a run that died is begun anew
    and goes on where it was: what it had written is neither written nor published again.
    """

    def __init__(
        self,
        folder: Path,
        model: EngineModel,
        settings: RunSettings,
        *,
        sinks: Sequence[DocumentSink] = (),
        chunk_sinks: Sequence[ChunkSink] = (),
        clock: Clock,
    ) -> None:
        self.folder = folder
        self.manifest: SessionManifest = read_manifest(folder)
        self._sinks = sinks
        self._recalling = [sink for sink in sinks if isinstance(sink, RecallsDocuments)]
        self._chunk_sinks = chunk_sinks
        self._clock = clock
        self._source = SessionSource(folder)
        self._latencies = Latencies()
        self.snapshot = Snapshot()
        self.pipeline = Pipeline(
            session_geometry(self.manifest, folder, settings.flags, settings.corpus_screen),
            facts=_facts(self.manifest, folder),
            model=model.running,
            method=model.method,
            parameters=model.parameters,
            eye=settings.eye,
            patterns=settings.patterns,
            traces=False,
        )
        self.is_caught_up = False
        """False while what was recorded before the engine was there is being read."""
        self.is_finished = False
        self.stream: StreamDescription | None = None
        """Of the last chunk; None before the first."""
        self._file = DocumentsFile(folder)

    @property
    def next_chunk(self) -> int:
        """The number of the chunk that is waited for."""
        return self._source.next_chunk

    @property
    def latency_p99_ms(self) -> float | None:
        """From the arrival of a chunk to the publication of what was found in it."""
        return self._latencies.p99_ms

    def read_disk(self, meanwhile: Callable[[], bool] = lambda: True) -> int:
        """Analyse what is on disk and was not yet; return how many chunks that were.

        `meanwhile` is called after each; False ends it.
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
            self.tell(Notice(level="warning", text=f"{self.folder}: {text}"))
        return n_chunks

    def take(self, wired: WiredChunk) -> None:
        """Analyse a chunk from the wire, and before it what it has overtaken."""
        for one in self._source.from_wire(wired):
            self._push(one)

    def end_block(self, sign: BlockEnded) -> None:
        """Take it that no more samples of the block will come."""
        if sign.next_chunk > self.next_chunk:
            self.read_disk()
        if sign.next_chunk == self.next_chunk:  # else it is old
            self._publish(self.pipeline.end_block())

    def finish(self, reason: str, *, reads_on: bool = True) -> None:
        """Analyse what is left on disk (or leave it) and end the run."""
        if not self.is_finished:
            if reads_on:
                self.read_disk()
            self.is_finished = True
            self._publish(self.pipeline.finish(reason))

    def tell(self, notice: Notice) -> None:
        """Publish something that is not of the samples; it does not go to disk."""
        self.snapshot.add(notice)
        for sink in self._sinks:
            sink.write(notice)

    def close(self) -> None:
        """Let go of the documents file; twice too."""
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
