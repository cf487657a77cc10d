"""What somebody who comes late has missed and needs, in bounded memory."""

from __future__ import annotations

from collections import deque
from itertools import chain

from gazelive.gaze.documents import (
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
"""How many of a kind are kept: the last ones."""
_SETTLED, _RUNNING = 500, 1


class Snapshot:
    """Remembers the documents that still count, in their order."""

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
        """What counts, in the order in which it was published."""
        numbered = sorted(chain.from_iterable(self._kinds.values()), key=lambda pair: pair[0])
        return [document for _, document in numbered]
