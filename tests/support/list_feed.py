"""A dashboard's feed from a list of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gazelive.dashboard.feed import Command, Reply
from gazelive.errors import PeerLostError
from gazelive.gaze.documents import Document


class ListFeed:
    """Hands out documents in the portions they are put in."""

    def __init__(
        self,
        documents: Iterable[Document] = (),
        *,
        answer: Callable[[Command], Reply] | None = None,
        source: str = "a list",
    ) -> None:
        self.connected = True
        self.source = source
        self.requests: list[Command] = []
        self._waiting = list(documents)
        self._answer = answer

    def put(self, *documents: Document) -> None:
        """Let the next poll return these too."""
        self._waiting += documents

    def poll(self) -> list[Document]:
        """Return everything that was put in since the last call."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def request(self, command: Command) -> Reply:
        """Keep the request and answer it with the function that was given."""
        self.requests.append(command)
        if not self.connected:
            raise PeerLostError("the engine does not answer")
        return {"ok": True} if self._answer is None else self._answer(command)

    def close(self) -> None:
        """Give out nothing more."""
        self._waiting = []
        self.connected = False
