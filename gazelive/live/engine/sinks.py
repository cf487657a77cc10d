"""Sinks of documents, and the snapshot for dashboards that connect late."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import chain
from typing import Protocol, runtime_checkable

from gazelive.gaze import (
    Document,
    IntervalSettled,
    ModelLoaded,
    Notice,
    Posterior,
    Quality,
    QualitySummary,
    RunStarted,
    RunStopped,
    TrialStarted,
    TrialStopped,
    Validated,
)
from gazelive.system import get_logger

log = get_logger(__name__)

_KEPT: dict[type, int] = {
    RunStarted: 1,
    ModelLoaded: 1,
    TrialStarted: 500,
    TrialStopped: 500,
    IntervalSettled: 50,
    QualitySummary: 10,
    Validated: 4,
    Notice: 50,
    Quality: 50,
    RunStopped: 1,
}
"""Number of the newest documents of each type that a snapshot contains."""
_SETTLED, _RUNNING = 500, 1


class Snapshot:
    """Keeps the documents that a dashboard needs to catch up, in bounded memory."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._number = 0
        self._kinds: dict[object, deque[tuple[int, Document]]] = {
            kind: deque(maxlen=n) for kind, n in _KEPT.items()
        }
        self._kinds[True] = deque(maxlen=_SETTLED)
        self._kinds[False] = deque(maxlen=_RUNNING)

    def add(self, document: Document) -> None:
        """Take a document that is published."""
        if isinstance(document, RunStarted):
            self._clear()
        self._number += 1
        key = document.settled if isinstance(document, Posterior) else type(document)
        kept = self._kinds.get(key)
        if kept is not None:
            kept.append((self._number, document))

    @property
    def documents(self) -> list[Document]:
        """The kept documents, in order of publication."""
        numbered = sorted(chain.from_iterable(self._kinds.values()), key=lambda pair: pair[0])
        return [document for _, document in numbered]


@runtime_checkable
class DocumentSink(Protocol):
    """Takes documents one after the other; never keeps its writer waiting for a reader."""

    def write(self, document: Document) -> None:
        """Take a document; raises `ValueError` after `close`."""
        ...

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        ...


@runtime_checkable
class RecallsDocuments(Protocol):
    """A sink that needs the documents from before a restart of the engine."""

    def recall(self, document: Document) -> None:
        """Take a document that was written before the restart."""
        ...


class NoticePrinter:
    """Passes warnings and errors on to the process's own output."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._closed = False

    def write(self, document: Document) -> None:
        """Print a warning or an error."""
        if self._closed:
            raise ValueError("the printer is closed")
        if isinstance(document, Notice) and document.level != "info":
            log.warning("%s: %s", document.level, document.text)
            self._say(f"{document.level}: {document.text}")

    def close(self) -> None:
        """Print no more."""
        self._closed = True
