"""Appending to a journal: with the operating system on return, on the disk within a second.

`append` hands its bytes over in one call, so what it acknowledged survives kill -9. To survive
a power cut they must also be on the disk, and waiting for that takes milliseconds to seconds on
a busy machine; so a thread of its own does it, and the one that samples never waits.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from gazelive.errors import RecordingError
from gazelive.recordings.storage_errors import storage_error

SYNC_INTERVAL_S = 1.0
_BINARY = getattr(os, "O_BINARY", 0)


class JournalWriter:
    """An open journal; `path` is made where it is missing.

    `keep_bytes` is where whole records end in a journal that was left torn: the rest is cut.
    Without `sync_interval_s` the bytes are forced to the disk only by `close`.
    """

    def __init__(
        self, path: Path, *, keep_bytes: int = 0, sync_interval_s: float | None = SYNC_INTERVAL_S
    ) -> None:
        self._path = path
        self._n_bytes = keep_bytes
        self._failure: RecordingError | None = None
        try:
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o666)
            try:
                os.ftruncate(self._handle, keep_bytes)
                self._sync = _BackgroundSync(self._handle, sync_interval_s)
            except OSError:
                os.close(self._handle)
                raise
        except OSError as error:
            raise storage_error(error, path) from error

    def append(self, records: bytes) -> None:
        """Append whole records; on return they are with the operating system."""
        if self._handle < 0:
            raise ValueError("the journal is closed")
        if self._failure is not None:
            raise self._failure
        try:
            self._sync.raise_failure()
            written = os.write(self._handle, records)
            while written < len(records):  # a disk that is filling up takes a part, then refuses
                written += os.write(self._handle, records[written:])
        except OSError as error:
            self._failure = storage_error(error, self._path)
            # a half-written record would be cut by any reader; without it none has to
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self._n_bytes)
            raise self._failure from error
        self._n_bytes += len(records)
        self._sync.needed = True

    def sync_soon(self) -> None:
        """Have what was appended forced to the disk now, without waiting for it."""
        self._sync.hurry()

    def close(self) -> None:
        """Force everything to the disk and close; may be called twice."""
        if self._handle < 0:
            return
        handle, self._handle = self._handle, -1
        try:
            self._sync.stop()
            os.fsync(handle)
        except OSError as error:
            raise storage_error(error, self._path) from error
        finally:
            os.close(handle)


class _BackgroundSync:
    """A thread that calls fsync when there is something new, at most once per interval."""

    def __init__(self, handle: int, interval_s: float | None) -> None:
        self.needed = False
        self._interval_s = interval_s
        self._failure: OSError | None = None
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        if interval_s is not None:
            # a handle of its own: the writer's may be closed and its number given to another file
            self._handle = os.dup(handle)
            self._thread = threading.Thread(target=self._run, name="journal-sync", daemon=True)
            self._thread.start()

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def hurry(self) -> None:
        self._wake.set()

    def stop(self) -> None:
        if self._thread is not None:
            self._stopping = True
            self._wake.set()
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        try:
            while not self._stopping:
                self._wake.wait(self._interval_s)
                self._wake.clear()
                if self.needed and not self._stopping:
                    self.needed = False
                    os.fsync(self._handle)
        except OSError as error:
            self._failure = error  # the next append raises it in the thread that must know
        finally:
            os.close(self._handle)
