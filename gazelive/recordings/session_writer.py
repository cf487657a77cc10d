"""Writing a session folder while it happens."""

from __future__ import annotations

import contextlib
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from gazelive.errors import GazeliveError, RecordingError
from gazelive.gaze.stream import Chunk, StreamDescription
from gazelive.recordings.journal import (
    BlockHead,
    Columns,
    Kind,
    Notes,
    chunk_record,
    frame,
    to_json,
)
from gazelive.recordings.journal_scan import JournalEnd, find_end
from gazelive.recordings.journal_writer import SYNC_INTERVAL_S, JournalWriter
from gazelive.recordings.session_manifest import (
    JOURNAL_NAME,
    MANIFEST_NAME,
    SessionManifest,
    read_manifest,
    write_manifest,
)
from gazelive.recordings.storage_errors import storage_error
from gazelive.recordings.writer_lock import LOCK_NAME, WriterLock

DESCRIPTION_INTERVAL_BYTES = 64 << 10
"""A block's description is repeated this often, so that no damage makes a long block unreadable."""


class SessionWriter:
    """The one writer of a session folder.

    A chunk is acknowledged when `append` returns: it is then with the operating system and
    survives kill -9 of this process. It survives a power cut once it was forced to the disk,
    which happens in the background when a block starts and within `sync_interval_s` of any
    append, and before `close` returns.
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
        """Open the journal behind `end`; use `create` or `resume` instead."""
        self.folder = folder
        self.manifest = manifest
        self.next_chunk = end.next_chunk
        """The number that the next chunk must have."""
        self.block: int | None = None
        """The current block, None before the first."""
        self._next_block = end.next_block
        self._head = b""
        self._bytes_since_head = 0
        self._lock = lock
        self._closed = False
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
        """Begin a session in a folder that is new or empty; what is there is never touched."""
        try:
            refuse_full(folder)
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
        lock = WriterLock(folder)
        try:
            refuse_full(folder)  # another may have come and gone before we had the lock
            write_manifest(folder, manifest)
            try:
                start = JournalEnd(whole_bytes=0, torn_bytes=0, next_chunk=0, next_block=0)
                return cls(folder, manifest, lock, end=start, sync_interval_s=sync_interval_s)
            except BaseException:
                (folder / MANIFEST_NAME).unlink()
                raise
        except BaseException:
            lock.release()
            raise

    @classmethod
    def resume(cls, folder: Path, *, sync_interval_s: float | None = SYNC_INTERVAL_S) -> Self:
        """Go on with a session whose process died, in a new block, behind its last whole record.

        What is torn is cut off, and the journal says so.
        """
        read_manifest(folder)  # what is no session is refused before a lock is put into it
        lock = WriterLock(folder)
        try:
            manifest = read_manifest(folder)
            for left_aside in folder.glob(f".{MANIFEST_NAME}.*.part*"):
                left_aside.unlink()
            end = find_end(folder / JOURNAL_NAME)
            writer = cls(folder, manifest, lock, end=end, sync_interval_s=sync_interval_s)
        except BaseException:
            lock.release()
            raise
        try:
            if end.torn_bytes:
                cut = f"the process died: {end.torn_bytes} bytes of no whole record were cut off"
                writer.append_notes(Notes(problems=(f"{cut} before chunk {end.next_chunk}",)))
            if manifest.finished_at is not None:
                writer.update(finished_at=None, stop_reason=None)
        except BaseException:
            writer._let_go()
            raise
        return writer

    def start_block(
        self,
        stream: StreamDescription,
        *,
        start_us: int | None = None,
        end_us: int | None = None,
    ) -> int:
        """Begin a recording block and return its number.

        Its bounds need to be given only where they are not its first and last sample.
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
            raise ValueError(f"chunk {chunk.number} where chunk {self.next_chunk} must come")
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
        """Write what belongs to the session but to no chunk."""
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
        """Force everything to the disk, say why the session ended, and let go; twice is fine."""
        if self._closed:
            return
        try:
            self._journal.close()
            self.update(finished_at=now_iso(), stop_reason=reason)
        finally:
            self._let_go()

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

    def _let_go(self) -> None:
        self._closed = True
        with contextlib.suppress(RecordingError):
            self._journal.close()
        self._lock.release()


def refuse_full(folder: Path) -> None:
    """Raise unless `folder` is free for a session: missing or empty."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise RecordingError("is a file, not a folder: choose another name", path=folder)
    names = sorted(path.name for path in folder.iterdir() if path.name != LOCK_NAME)
    if names:
        raise RecordingError(
            f"the folder is not empty (it holds {names[0]}): choose a new one for each session",
            path=folder,
        )


def now_iso() -> str:
    """Return the time of day as session.json writes it."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "stopped by the user"
    return str(error) if isinstance(error, GazeliveError) else f"{type(error).__name__}: {error}"
