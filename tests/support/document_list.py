"""A document sink that keeps documents in memory."""

from __future__ import annotations

from gazelive.gaze.documents import Document


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
