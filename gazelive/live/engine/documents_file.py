"""The engine's documents file: one JSON document per line, append-only, continued after a crash.

A restarted engine reads the session from its beginning and makes every document again. Documents
that are already in the file are recognised line by line and neither written nor published again.
If they differ (another model, another version), the old file is renamed with a number, and the new
one starts with their common beginning.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from gazelive.errors import TransportError
from gazelive.gaze import Document, GazeTrace, QualitySummary, decode_line, encode_line
from gazelive.recordings import DOCUMENTS_NAME
from gazelive.system import WriterLock, private_mode, storage_error

LOCK_NAME = "engine.lock"
_BINARY = getattr(os, "O_BINARY", 0)
_BLOCK = 1 << 20


class DocumentsFile:
    """The one writer of a session's documents; a `DocumentSink`.

    Nothing is synced: documents lost in a power cut are made again from the samples.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path = folder / DOCUMENTS_NAME
        self._lock = WriterLock(folder, LOCK_NAME, "analysing this session")
        self._handle = -1
        try:
            self._end = whole_bytes(self.path)
            self._open(self._end)
        except OSError as error:
            self.close()
            raise storage_error(error, self.path) from error
        self._old = self.path.open("rb")
        self._matched = 0
        """Bytes of the old file that were made again."""
        self._pending: list[bytes] = []
        self._is_closed = False
        self.set_aside: Path | None = None
        """New name of an old file with other documents."""

    def _open(self, n_bytes: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY
        self._handle = os.open(self.path, flags, private_mode())
        os.ftruncate(self._handle, n_bytes)

    @property
    def is_behind(self) -> bool:
        """True while the file holds more than was made again."""
        return self._matched < self._end

    def is_known(self, document: Document) -> bool:
        """Return whether the next document is in the file already; call it for each in order."""
        if not is_kept(document) or not self.is_behind:
            return False
        line = self._old.readline()
        if _is_same(line, document):
            self._matched += len(line)
            return True
        self._begin_anew()
        return False

    def write(self, document: Document) -> None:
        """Append a document that is not known; traces are left out."""
        if self._is_closed:
            raise ValueError("the file is closed")
        if is_kept(document):
            self._pending.append(encode_line(document))

    def flush(self) -> None:
        """Hand the pending documents to the operating system."""
        if not self._pending:
            return
        data, self._pending = b"".join(self._pending), []
        try:
            written = os.write(self._handle, data)
            while written < len(data):  # a disk that is filling up takes a part, then refuses
                written += os.write(self._handle, data[written:])
        except OSError as error:
            raise storage_error(error, self.path) from error

    def close(self) -> None:
        """Write pending documents and close the file; a second call does nothing."""
        self._is_closed = True
        if self._handle >= 0:
            try:
                self.flush()
            finally:
                os.close(self._handle)
                self._old.close()
                self._handle = -1
        self._lock.release()

    def _begin_anew(self) -> None:
        """Rename the old file; the new one starts with the part that was made again."""
        number = 1
        while (aside := self._folder / f"{self.path.stem}.{number}{self.path.suffix}").exists():
            number += 1
        try:
            os.close(self._handle)
            self._handle = -1
            self._old.seek(0)
            made_again = self._old.read(self._matched)
            self._old.close()  # Windows does not rename open files
            self.path.replace(aside)
            self._open(0)
            self._pending.insert(0, made_again)
            self._old = self.path.open("rb")
        except OSError as error:
            raise storage_error(error, self.path) from error
        self._end = self._matched = 0
        self.set_aside = aside


def is_kept(document: Document) -> bool:
    """Return whether a document belongs into the file; traces repeat the samples."""
    return not isinstance(document, GazeTrace)


def whole_bytes(path: Path) -> int:
    """Return how much of a documents file is whole lines; one that is missing has none.

    Only the last line can be torn.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return 0
    with file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            at = file.read(end - start).rfind(b"\n")
            if at >= 0:
                return start + at + 1
            end = start
    return 0


def read_documents(path: Path) -> list[Document]:
    """Return every whole document of a file."""
    with path.open("rb") as file:
        return [decode_line(line) for line in file if line.endswith(b"\n")]


def _is_same(line: bytes, document: Document) -> bool:
    """Compare a written line with a document, except for latencies."""
    if not isinstance(document, QualitySummary):
        return line == encode_line(document)
    try:
        written = decode_line(line)
    except TransportError:
        return False
    if not isinstance(written, QualitySummary):
        return False
    return msgspec.structs.replace(written, latency_ms=document.latency_ms) == document
