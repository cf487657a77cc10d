"""Files: atomic replacement, a writer's lock, and errors of the operating system explained."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gazelive.errors import RecordingError, StorageError

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
_NO_PERMISSION = {errno.EACCES, errno.EPERM, errno.EROFS}


def storage_error(error: OSError, path: Path) -> StorageError:
    """Return a `StorageError` that explains why `path` cannot be written and what to do."""
    reason = error.strerror or str(error)
    if error.errno in _NO_SPACE:
        text = f"the disk is full ({reason}): free some space or choose another folder"
    elif error.errno in _NO_PERMISSION:
        text = f"no permission to write ({reason}): choose another folder or change its permissions"
    else:
        text = f"cannot be written ({reason})"
    return StorageError(text, path=path)


def reading_error(error: OSError, path: Path) -> RecordingError:
    """Return the `RecordingError` that says why `path` cannot be read."""
    return RecordingError(f"cannot be read ({error.strerror or error})", path=path)


SHARED_VARIABLE = "GAZELIVE_SHARED"
"""Environment variable; `1` gives new sessions and models the modes of any other file."""


def private_mode() -> int:
    """Return the mode of a new file about a person: for its owner only, unless labs share.

    Windows has no modes: there the file inherits the access list of its folder.
    """
    return 0o666 if os.environ.get(SHARED_VARIABLE) == "1" else 0o600


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter (see `private_mode`), unless there is one."""
    mode = 0o777 if private_mode() == 0o666 else 0o700
    folder.mkdir(mode, parents=True, exist_ok=True)


RETRIES, RETRY_S = 50, 0.02
"""Retries on Windows while another program, such as a virus scanner, reads the file."""
WAITS = os.name == "nt"
"""Elsewhere a file can be replaced while it is read, so a refusal is final."""


@contextmanager
def replacing(target: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `target`; on success it replaces `target`, else it is deleted.

    It keeps the target's suffix, since writers choose formats by it. A `private` file is for its
    owner only (`private_mode`).
    """
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=".part" + target.suffix, dir=target.parent
    )
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        with aside.open("rb+") as file:
            os.fsync(file.fileno())
        # mkstemp creates private files; other outputs have the user's default mode
        mask = os.umask(0)
        os.umask(mask)
        aside.chmod((private_mode() if private else 0o666) & ~mask)
        replace_file(aside, target)
    finally:
        aside.unlink(missing_ok=True)


def replace_file(aside: Path, target: Path) -> None:
    """Rename `aside` to `target`; on Windows wait for readers of either."""
    for _ in range(RETRIES if WAITS else 0):
        try:
            aside.replace(target)
        except PermissionError:
            time.sleep(RETRY_S)
        else:
            return
    aside.replace(target)


def write_bytes(target: Path, content: bytes, *, private: bool = False) -> None:
    """Write `content` to `target` atomically."""
    with replacing(target, private=private) as aside:
        aside.write_bytes(content)


def write_private(target: Path, content: bytes) -> None:
    """Write `content` to `target` atomically; only the file's owner can read it (mode 0600).

    Windows has no modes: there the file inherits the access list of its folder.
    """
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)  # 0600
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        replace_file(aside, target)
    finally:
        aside.unlink(missing_ok=True)


_RESERVED = {"con", "prn", "aux", "nul", *(f"{n}{i}" for n in ("com", "lpt") for i in "0123456789")}
"""Names that Windows takes for devices, with any suffix."""


def name_problem(name: str) -> str | None:
    """Return why a name cannot be that of a file or folder on every system; None if it can."""
    if not name or name.strip(". ") != name or not name.isprintable():
        return "it begins or ends with a dot or a blank, or has none but these"
    if any(character in '<>:"/\\|?*' for character in name):
        return 'it has one of < > : " / \\ | ? *'
    if name.split(".", maxsplit=1)[0].lower() in _RESERVED:
        return "Windows keeps this name for a device"
    return None


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Yield a temporary folder that is deleted afterwards, and now those of dead processes."""
    parent = Path(tempfile.gettempdir())
    for left in parent.glob(f"{prefix}*"):
        with suppress(OSError, RecordingError):
            if time.time() - left.stat().st_mtime > SCRATCH_AGE_S:
                WriterLock(left, doing="using this folder").release()  # raises if it is in use
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        lock = WriterLock(Path(name))
        try:
            yield Path(name)
        finally:
            lock.release()


SCRATCH_AGE_S = 60.0
"""A younger folder may belong to a process that has not locked it yet."""
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
    """Lock for the one writer of a session folder, held until `release` or the process ends.

    The operating system holds the lock (a byte of a file beside the journal), so kill -9 or a power
    cut leaves only an unlocked file. By default the recorder's lock; another `name` is for another
    file of the folder.
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
                # the previous holder may have removed the file after we opened it
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
        """Release the lock; may be called twice."""
        if self._handle < 0:
            return
        handle, self._handle = self._handle, -1
        if sys.platform != "win32":
            self._path.unlink(missing_ok=True)
            os.close(handle)
        else:
            # an open file cannot be removed on Windows; another process may have opened it
            os.close(handle)
            try:
                self._path.unlink(missing_ok=True)
            except PermissionError:
                return


def _process_number(handle: int) -> str:
    os.lseek(handle, 0, os.SEEK_SET)
    number = os.read(handle, 20).decode("ascii", "replace").strip()
    return f" (number {number})" if number else ""
