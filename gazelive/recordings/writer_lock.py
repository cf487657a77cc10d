"""One writer per session: a lock that vanishes with the process that holds it.

The operating system holds the lock (a byte of a file beside the journal), so that kill -9 or a
power cut leaves nothing behind that could keep the session from being resumed; what is left is
a file that nobody holds.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gazelive.errors import RecordingError
from gazelive.recordings.storage_errors import storage_error

LOCK_NAME = "writer.lock"
_LOCKED_BYTE = 1024
"""Behind the process number, which others may then read: Windows' locks bind readers too."""


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        # flock and not lockf: it also keeps a second writer of the same process out
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class WriterLock:
    """The right to write in a session folder, held until `release` or the process ends.

    The recorder's lock by default; another `name` is for another file of the folder.
    """

    def __init__(
        self, folder: Path, name: str = LOCK_NAME, doing: str = "writing this session"
    ) -> None:
        self._path = folder / name
        self._doing = doing
        try:
            self._handle = self._acquire()
        except OSError as error:
            raise storage_error(error, self._path) from error

    def _acquire(self) -> int:
        while True:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if not _try_lock(handle):
                    holder = _process_number(handle)
                    raise RecordingError(
                        f"another process{holder} is {self._doing}: stop it first",
                        path=self._path.parent,
                    )
                # the holder before us may have removed the file after we opened it
                if self._path.exists() and os.path.samestat(os.fstat(handle), self._path.stat()):
                    os.ftruncate(handle, 0)
                    os.lseek(handle, 0, os.SEEK_SET)
                    os.write(handle, str(os.getpid()).encode())
                    return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)

    def release(self) -> None:
        """Let others write; may be called twice."""
        if self._handle < 0:
            return
        handle, self._handle = self._handle, -1
        if sys.platform != "win32":
            self._path.unlink(missing_ok=True)
            os.close(handle)
        else:
            # an open file cannot be removed there; whoever opened it since then may keep it
            os.close(handle)
            try:
                self._path.unlink(missing_ok=True)
            except PermissionError:
                return


def _process_number(handle: int) -> str:
    os.lseek(handle, 0, os.SEEK_SET)
    number = os.read(handle, 20).decode("ascii", "replace").strip()
    return f" (number {number})" if number else ""
