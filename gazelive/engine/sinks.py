"""Where documents go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from gazelive.gaze.documents import Document, Notice


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


class SpokenNotices:
    """Says warnings and errors to whoever started the engine."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._closed = False

    def write(self, document: Document) -> None:
        """Say a notice that matters."""
        if self._closed:
            raise ValueError("the speaker is closed")
        if isinstance(document, Notice) and document.level != "info":
            self._say(f"{document.level}: {document.text}")

    def close(self) -> None:
        """Say no more."""
        self._closed = True


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
