"""Write a session folder while it is being recorded.

`JournalWriter.append` hands its bytes to the operating system in one call, so what it acknowledged
survives kill -9. Surviving a power cut takes an fsync, which can take seconds on a busy machine; a
thread of its own does that once a second, and the sampling thread never waits.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from gazelive.errors import GazeliveError, RecordingError, StorageError
from gazelive.gaze import Chunk, StreamDescription
from gazelive.recordings.session.journal import (
    BlockHead,
    Columns,
    Kind,
    Notes,
    chunk_record,
    frame,
    to_json,
)
from gazelive.recordings.session.journal_reader import JournalEnd, find_end
from gazelive.recordings.session.manifest import (
    JOURNAL_NAME,
    MANIFEST_NAME,
    SessionManifest,
    read_manifest,
    write_manifest,
)
from gazelive.system import (
    LOCK_NAME,
    WriterLock,
    make_private_folder,
    private_mode,
    storage_error,
)

SYNC_INTERVAL_S = 1.0
RESERVE_NAME, RESERVE_BYTES = ".reserve", 1 << 16
"""Space that is given back at the end, so that a full disk can still store why it ended."""
LEAST_FREE_BYTES = 100_000_000
"""Half an hour at 1000 Hz takes 65 MB."""
_BINARY = getattr(os, "O_BINARY", 0)


class JournalWriter:
    """An open journal; `path` is created if missing.

    `keep_bytes` is the end of the intact records in an interrupted journal: the rest is truncated.
    Without `sync_interval_s` the file is synced to disk only by `close`.
    """

    def __init__(
        self, path: Path, *, keep_bytes: int = 0, sync_interval_s: float | None = SYNC_INTERVAL_S
    ) -> None:
        self._path = path
        self._n_bytes = keep_bytes
        self._failure: RecordingError | None = None
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY
            self._handle = os.open(path, flags, private_mode())
            try:
                os.ftruncate(self._handle, keep_bytes)
                self._sync = _BackgroundSync(self._handle, path, sync_interval_s)
            except OSError:
                os.close(self._handle)
                raise
        except OSError as error:
            raise storage_error(error, path) from error

    def append(self, records: bytes) -> None:
        """Append records; on return the operating system has them."""
        if self._handle < 0:
            raise ValueError("the journal is closed")
        if self._failure is not None:
            raise self._failure
        try:
            self._sync.raise_failure()
            written = os.write(self._handle, records)
            while written < len(records):  # a full disk accepts a part, then fails
                written += os.write(self._handle, records[written:])
        except (OSError, StorageError) as error:
            if isinstance(error, StorageError):
                self._failure = error
            else:
                self._failure = storage_error(error, self._path)
            # readers would have to skip a half-written record
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self._n_bytes)
            raise self._failure from error
        self._n_bytes += len(records)
        self._sync.needed = True

    def sync_soon(self) -> None:
        """Start a sync to disk now, without waiting for it."""
        self._sync.hurry()

    def close(self) -> None:
        """Sync to disk and close; may be called twice."""
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
    """A thread that calls fsync when there is new data, at most once per interval.

    It also notices that the journal is no longer where it was: an open file outlives its folder.
    """

    def __init__(self, handle: int, path: Path, interval_s: float | None) -> None:
        self.needed = False
        self._path = path
        self._interval_s = interval_s
        self._failure: OSError | StorageError | None = None
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        if interval_s is not None:
            # a separate handle: the writer's may be closed and its number reused for another file
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
                if not self._stopping:
                    self._check_place()
        except (OSError, StorageError) as error:
            self._failure = error  # the next append raises it in the writer's thread
        finally:
            os.close(self._handle)

    def _check_place(self) -> None:
        try:
            is_there = os.path.samestat(self._path.stat(), os.fstat(self._handle))
        except FileNotFoundError:
            is_there = False
        if not is_there:
            raise StorageError(
                "was moved or deleted while it was recorded: put it back and record the rest in a "
                "new session",
                path=self._path.parent,
            )


DESCRIPTION_INTERVAL_BYTES = 64 << 10
"""Interval at which a block's description is repeated, so damage cannot lose a long block."""


class SessionWriter:
    """The only writer of a session folder.

    A chunk is acknowledged when `append` returns: the operating system has it, and it survives
    kill -9 of this process. It survives a power cut once it is synced to disk, which happens in
    the background when a block starts and within `sync_interval_s` of any append, and before
    `close` returns.
    """

    def __init__(
        self,
        folder: Path,
        manifest: SessionManifest,
        lock: WriterLock,
        *,
        end: JournalEnd,
        sync_interval_s: float | None,
    ) -> None:
        """Open the journal after `end`; use `create` or `resume` instead."""
        self.folder = folder
        self.manifest = manifest
        self.next_chunk = end.next_chunk
        """Number of the next chunk."""
        self.block: int | None = None
        """The current block, None before the first."""
        self._next_block = end.next_block
        self._head = b""
        self._bytes_since_head = 0
        self._lock = lock
        self._closed = False
        self._reserve = folder / RESERVE_NAME
        self._journal = JournalWriter(
            folder / JOURNAL_NAME, keep_bytes=end.whole_bytes, sync_interval_s=sync_interval_s
        )

    @classmethod
    def create(
        cls,
        folder: Path,
        manifest: SessionManifest,
        *,
        sync_interval_s: float | None = SYNC_INTERVAL_S,
    ) -> Self:
        """Start a session in a new or empty folder; existing files are never touched."""
        try:
            check_empty(folder)
            make_private_folder(folder)
        except OSError as error:
            raise storage_error(error, folder) from error
        check_space(folder)
        lock = WriterLock(folder)
        try:
            check_empty(folder)  # another writer may have finished before we got the lock
            write_manifest(folder, manifest)
            _write_reserve(folder)
            try:
                start = JournalEnd(whole_bytes=0, torn_bytes=0, next_chunk=0, next_block=0)
                return cls(folder, manifest, lock, end=start, sync_interval_s=sync_interval_s)
            except BaseException:
                for name in (MANIFEST_NAME, RESERVE_NAME):
                    (folder / name).unlink(missing_ok=True)
                raise
        except BaseException:
            lock.release()
            raise

    @classmethod
    def resume(cls, folder: Path, *, sync_interval_s: float | None = SYNC_INTERVAL_S) -> Self:
        """Continue an interrupted session in a new block, after its last intact record.

        An incomplete record is truncated, and the journal notes it.
        """
        read_manifest(folder)  # raises before a lock is put into a folder that is not a session
        lock = WriterLock(folder)
        try:
            manifest = read_manifest(folder)
            for left_aside in folder.glob(f".{MANIFEST_NAME}.*.part*"):
                left_aside.unlink()
            end = find_end(folder / JOURNAL_NAME)
            _write_reserve(folder)
            writer = cls(folder, manifest, lock, end=end, sync_interval_s=sync_interval_s)
        except BaseException:
            lock.release()
            raise
        try:
            if end.torn_bytes:
                cut = (
                    f"the process died: {end.torn_bytes} bytes of an incomplete record were removed"
                )
                writer.append_notes(Notes(problems=(f"{cut} before chunk {end.next_chunk}",)))
            if manifest.finished_at is not None:
                writer.update(finished_at=None, stop_reason=None)
        except BaseException:
            writer._release()
            raise
        return writer

    def start_block(
        self,
        stream: StreamDescription,
        *,
        start_us: int | None = None,
        end_us: int | None = None,
    ) -> int:
        """Start a recording block and return its number.

        Its bounds are needed only if they differ from its first and last sample.
        """
        head = to_json(BlockHead(stream=stream, start_us=start_us, end_us=end_us))
        self._journal.append(frame(Kind.BLOCK, self._next_block, self.next_chunk, head))
        self._journal.sync_soon()
        self._head = head
        self._bytes_since_head = 0
        self.block = self._next_block
        self._next_block += 1
        return self.block

    def append(self, chunk: Chunk, *, extras: Columns | None = None) -> None:
        """Write a chunk; on return it is acknowledged.

        `extras` are further columns of the same length.
        """
        if chunk.number != self.next_chunk:
            raise ValueError(f"got chunk {chunk.number} instead of chunk {self.next_chunk}")
        if self.block is None or chunk.block != self.block:
            raise ValueError(f"a chunk of block {chunk.block} while block {self.block} is open")
        records = chunk_record(chunk, extras)
        self._bytes_since_head += len(records)
        if self._bytes_since_head > DESCRIPTION_INTERVAL_BYTES:
            records += frame(Kind.BLOCK, chunk.block, chunk.number + 1, self._head)
            self._bytes_since_head = 0
        self._journal.append(records)
        self.next_chunk += 1

    def append_notes(self, notes: Notes) -> None:
        """Write notes, which belong to no chunk."""
        block = max(self._next_block - 1, 0)
        self._journal.append(frame(Kind.NOTES, block, self.next_chunk, to_json(notes)))

    def update(self, **fields: Any) -> None:
        """Change fields of the manifest and rewrite `session.json`, whole or not at all."""
        if self._closed:
            raise ValueError("the session is closed")
        manifest = msgspec.structs.replace(self.manifest, **fields)
        write_manifest(self.folder, manifest)
        self.manifest = manifest

    def close(self, reason: str = "finished") -> None:
        """Sync to disk, store why the session ended, and release the lock; may be called twice."""
        if self._closed:
            return
        try:
            self._journal.close()
        except RecordingError as error:
            reason = str(error)
            raise
        finally:
            try:
                self._reserve.unlink(missing_ok=True)  # a full disk has room for the end now
                self.update(finished_at=now_iso(), stop_reason=reason)
            finally:
                self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self.close(_reason(error))
        except RecordingError as second:
            error.add_note(f"and the session could not be closed: {second}")

    def _release(self) -> None:
        self._closed = True
        with contextlib.suppress(RecordingError):
            self._journal.close()
        self._lock.release()


def check_space(folder: Path) -> None:
    """Raise if the disk is too full to begin a session."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < LEAST_FREE_BYTES:
        raise StorageError(
            f"the disk has only {free_bytes / 1e6:.0f} MB left, less than "
            f"{LEAST_FREE_BYTES / 1e6:.0f} MB: free some space or choose another folder",
            path=folder,
        )


def _write_reserve(folder: Path) -> None:
    path = folder / RESERVE_NAME
    try:
        path.write_bytes(bytes(RESERVE_BYTES))
    except OSError as error:
        raise storage_error(error, path) from error


def check_empty(folder: Path) -> None:
    """Raise unless `folder` is missing or empty."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise RecordingError("is a file, not a folder: choose another name", path=folder)
    names = sorted(path.name for path in folder.iterdir() if path.name != LOCK_NAME)
    if names:
        raise RecordingError(
            f"the folder is not empty (it contains {names[0]}): choose a new one for each session",
            path=folder,
        )


def now_iso() -> str:
    """Return the current time in the format of session.json."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "stopped by the user"
    return str(error) if isinstance(error, GazeliveError) else f"{type(error).__name__}: {error}"
