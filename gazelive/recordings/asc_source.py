"""The bytes of an ASC file, in slabs of whole lines, from a plain or a gzipped file."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from gazelive.errors import RecordingError

SLAB_BYTES = 2 << 20
"""Small enough to stay in the processor's cache from reading to parsing."""
_GZIP_MAGIC = b"\x1f\x8b"
_BEST_PACKING = 1032
"""Deflate cannot pack more bytes than this into one."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Slab:
    """Whole lines: ``text[start:stop]`` ends with a newline. `text` is reused for the next slab."""

    text: bytearray
    start: int
    stop: int
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
            self._size = path.stat().st_size
            is_packed = self._file.read(2) == _GZIP_MAGIC
            self._file.seek(0)
        except OSError as error:
            raise _unreadable(path, error) from error
        # piece by piece: asked for more at once, gzip throws away what precedes a damage
        self._read_some: Callable[[memoryview], int] = (
            gzip.GzipFile(fileobj=self._file).readinto1 if is_packed else self._file.readinto
        )
        largest = self._size * (_BEST_PACKING if is_packed else 1) + 1
        self._buffer = bytearray(min(SLAB_BYTES, max(largest, 16)))

    def __enter__(self) -> AscSource:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def fraction(self) -> float:
        """How much of the file has been read."""
        return self._file.tell() / self._size if self._size else 1.0

    def slabs(self) -> Iterator[Slab]:
        """Yield the whole file; each slab must be used before the next is asked for."""
        buffer = self._buffer
        filled = self._read_into(0)
        start = len(_BYTE_ORDER_MARK) if buffer.startswith(_BYTE_ORDER_MARK) else 0
        while filled > start:
            stop = buffer.rfind(b"\n", start, filled) + 1
            if stop:
                yield Slab(buffer, start, stop)
                start = stop
            elif filled == len(buffer):
                yield Slab(buffer, 0, 0, is_overlong_line=True)
                start, filled = self._skip_line()
            # the part of a line that is left over goes to the front
            left = filled - start
            buffer[:left] = buffer[start:filled]
            start = 0
            filled = self._read_into(left)
            if filled == left and left:
                buffer[left : left + 1] = b"\n"
                yield Slab(buffer, 0, left + 1, is_last_line=True)
                return

    def _skip_line(self) -> tuple[int, int]:
        """Read on to the end of a line; return where it is in the buffer, and what is filled."""
        while filled := self._read_into(0):
            stop = self._buffer.find(b"\n", 0, filled) + 1
            if stop:
                return stop, filled
        return 0, 0

    def _read_into(self, at: int) -> int:
        """Fill the buffer from `at` on; return how far it is filled."""
        view = memoryview(self._buffer)
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
