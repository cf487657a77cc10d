"""The bytes of an ASC file, in slabs of whole lines, from a plain or a gzipped file."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from gazelive.errors import RecordingError

SLAB_BYTES = 1 << 20
"""Small enough to stay in the processor's cache from reading to parsing."""
_GZIP_MAGIC = b"\x1f\x8b"
_BEST_PACKING = 1032
"""Deflate cannot pack more bytes than this into one."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Slab:
    """Whole lines: ``text[start:stop]`` of the buffer that was filled ends with a newline."""

    start: int
    stop: int
    fraction: float
    """How much of the file has been read, up to the slab's end."""
    is_last_line: bool = False
    """The file's last line, to which the newline was added because it had none."""
    is_overlong_line: bool = False
    """Instead of text: one line that was longer than a slab and was skipped."""


class AscSource:
    """Reads a file slab by slab; damage to its packing ends it and is told in `damage`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.damage: str | None = None
        try:
            self._file = path.open("rb")
            self.n_bytes = path.stat().st_size
            is_packed = self._file.read(2) == _GZIP_MAGIC
            self._file.seek(0)
        except OSError as error:
            raise _unreadable(path, error) from error
        # piece by piece: asked for more at once, gzip throws away what precedes a damage
        self._read_some: Callable[[memoryview], int] = (
            gzip.GzipFile(fileobj=self._file).readinto1 if is_packed else self._file.readinto
        )
        largest = self.n_bytes * (_BEST_PACKING if is_packed else 1) + 1
        self.buffer_bytes = min(SLAB_BYTES, max(largest, 16))
        """How long a buffer must be to be filled."""
        self._is_begun = False
        self._left_over = b""
        """The part of a line that the slab before ended with."""

    def __enter__(self) -> AscSource:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def fill(self, buffer: bytearray) -> Slab | None:
        """Read the next slab into `buffer`; None at the end of the file."""
        n_left_over = len(self._left_over)
        buffer[:n_left_over] = self._left_over
        filled = self._read_into(buffer, n_left_over)
        start = 0
        if not self._is_begun and buffer.startswith(_BYTE_ORDER_MARK):
            start = len(_BYTE_ORDER_MARK)
        self._is_begun = True
        stop = buffer.rfind(b"\n", start, filled) + 1
        if stop:
            self._left_over = bytes(memoryview(buffer)[stop:filled])
            return Slab(start, stop, self._fraction())
        if filled == len(buffer):
            self._left_over = self._after_line(buffer)
            return Slab(0, 0, self._fraction(), is_overlong_line=True)
        self._left_over = b""
        if filled <= start:
            return None
        buffer[filled : filled + 1] = b"\n"
        return Slab(start, filled + 1, self._fraction(), is_last_line=True)

    def _fraction(self) -> float:
        return self._file.tell() / self.n_bytes if self.n_bytes else 1.0

    def _after_line(self, buffer: bytearray) -> bytes:
        """Read on to the end of a line; return what was read beyond it."""
        while filled := self._read_into(buffer, 0):
            stop = buffer.find(b"\n", 0, filled) + 1
            if stop:
                return bytes(memoryview(buffer)[stop:filled])
        return b""

    def _read_into(self, buffer: bytearray, at: int) -> int:
        """Fill the buffer from `at` on; return how far it is filled."""
        view = memoryview(buffer)
        while at < len(view):
            try:
                n = self._read_some(view[at:])
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self.damage = f"the gzip file is damaged or cut off ({error}): the rest is lost"
                self._read_some = _read_nothing
                break
            except OSError as error:
                raise _unreadable(self._path, error) from error
            if not n:
                break
            at += n
        return at


def _read_nothing(_into: memoryview) -> int:
    """Stand in for what is left of a damaged file."""
    return 0


def _unreadable(path: Path, error: OSError) -> RecordingError:
    return RecordingError(f"cannot be read: {error.strerror or error}", path=path)
