"""Where documents go."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from gazelive.gaze.documents import Document


@runtime_checkable
class DocumentSink(Protocol):
    """Takes documents one after the other; never keeps its writer waiting for a reader."""

    def write(self, document: Document) -> None:
        """Take a document; raises `ValueError` after `close`."""
        ...

    def close(self) -> None:
        """Let go of everything; twice too."""
        ...


@runtime_checkable
class RecallsDocuments(Protocol):
    """A sink that needs to know what was said before the engine was started again."""

    def recall(self, document: Document) -> None:
        """Take note of a document that is not to be written again."""
        ...


class DocumentList:
    """Keeps documents in memory."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self._closed = False

    def write(self, document: Document) -> None:
        """Keep a document."""
        if self._closed:
            raise ValueError("the list is closed")
        self.documents.append(document)

    def close(self) -> None:
        """Take no more."""
        self._closed = True
