"""Snapshot tracker: decides when to ask the engine for documents that were missed.

A restarted engine reads the recording from disk and does not publish its documents again; it has
a complete snapshot only once it has caught up.
"""

from __future__ import annotations

from collections.abc import Iterable

from gazelive.gaze import Document, RunStarted

CATCHING_UP = "catching up"
_HAS_ALL = ("live", "finished")


class SnapshotTracker:
    """Tracks whether the documents of a run are complete, over any number of connections."""

    def __init__(self) -> None:
        self.engine_state: str | None = None
        """State last reported by the engine."""
        self._has_all = False

    def reset(self) -> None:
        """Start over after a lost connection: documents sent meanwhile are missed."""
        self.engine_state = None
        self._has_all = False

    def observe(self, documents: Iterable[Document]) -> None:
        """Check new documents: after the start of a run, nothing is missed."""
        if any(isinstance(document, RunStarted) for document in documents):
            self._has_all = True

    def set_engine_state(self, engine_state: str) -> None:
        """Set the state reported by the engine."""
        self.engine_state = engine_state

    def mark_requested(self) -> None:
        """Remember that a snapshot was requested."""
        self._has_all = True

    @property
    def needs_snapshot(self) -> bool:
        """True if documents were missed and the engine has them."""
        return not self._has_all and self.engine_state in _HAS_ALL
