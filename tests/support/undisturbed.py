"""Documents of an engine that nothing disturbs, for comparison with those of a killed one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from gazelive.gaze.documents import Document, GazeTrace, QualitySummary, RunStarted
from gazelive.live.engine.model import EngineModel
from gazelive.live.engine.session_run import SessionRun
from gazelive.live.settings import LiveSettings

from .document_list import DocumentList
from .manual_clock import ManualClock


def undisturbed_documents(folder: Path, copy: Path, model: EngineModel) -> list[Document]:
    """Return what an undisturbed engine says of a session, as far as it is on disk."""
    copy.mkdir()
    for path in folder.iterdir():
        if not path.name.startswith("events") and path.suffix != ".lock":
            (copy / path.name).write_bytes(path.read_bytes())
    sink = DocumentList()
    run = SessionRun(LiveSettings(folder=copy), model, sinks=[sink], clock=ManualClock())
    run.read_disk()
    run.finish("over")
    run.close()
    return comparable(sink.documents)


def comparable(documents: Iterable[Document]) -> list[Document]:
    """Leave out what differs from run to run: folders, latencies, traces."""
    different: dict[type, dict[str, None]] = {
        RunStarted: {"folder": None},
        QualitySummary: {"latency_ms": None},
    }
    return [
        msgspec.structs.replace(document, **different.get(type(document), {}))
        for document in documents
        if not isinstance(document, GazeTrace)
    ]
