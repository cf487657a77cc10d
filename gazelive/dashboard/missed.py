"""Whether something of a run was missed, and when it is time to ask for it.

An engine that was restarted reads from disk what it had seen already, and does not publish that
again; only when it has caught up does it have everything that a dashboard may lack.
"""

from __future__ import annotations

from collections.abc import Iterable

from gazelive.gaze.documents import Document, RunStarted

CATCHING_UP = "catching up"
_HAS_ALL = ("live", "finished")


class Missed:
    """Follows one connection after the other."""

    def __init__(self) -> None:
        self.engine_state: str | None = None
        """What the engine said last of itself."""
        self._has_all = False

    def lose_engine(self) -> None:
        """Take it that nobody is connected: whatever is sent now is missed."""
        self.engine_state = None
        self._has_all = False

    def hear(self, documents: Iterable[Document]) -> None:
        """Take note of what came: from the beginning of a run on, nothing is missed."""
        if any(isinstance(document, RunStarted) for document in documents):
            self._has_all = True

    def tell(self, engine_state: str) -> None:
        """Take what the engine says of itself."""
        self.engine_state = engine_state

    def fill(self) -> None:
        """Take it that what was missed is being brought."""
        self._has_all = True

    @property
    def asks_for_snapshot(self) -> bool:
        """True when something was missed and the engine has it."""
        return not self._has_all and self.engine_state in _HAS_ALL
