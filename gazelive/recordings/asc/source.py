"""Source of an ASC file's bytes, plain or gzipped, in slabs of whole lines."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from gazelive.system import BoundedGzip, is_gzip, reading_error

SLAB_BYTES = 1 << 20
"""Small enough to stay in the processor's cache from reading to parsing."""
_BEST_PACKING = 1032
"""Deflate cannot compress more bytes than this into one."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Slab:
    """Whole lines: ``text[start:stop]`` of the buffer that was filled ends with a newline."""

    start: int
    stop: int
    fraction: float
    """Fraction of the file read, up to the slab's end."""
    is_last_line: bool = False
    """The file's last line, which had no newline; one was added."""
    is_overlong_line: bool = False
    """No text: one line longer than a slab was skipped."""


class AscSource:
    """Reads a file slab by slab; damage to the gzip data ends it and is described in `damage`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.damage: str | None = None
        try:
            self._file = path.open("rb")
            self.n_bytes = path.stat().st_size
            is_packed = is_gzip(path)
        except OSError as error:
            raise reading_error(error, path) from error
        # piece by piece: in larger reads gzip discards the data before a damaged part
        self._read_some: Callable[[memoryview], int] = (
            BoundedGzip(path, self._file).readinto1 if is_packed else self._file.readinto
        )
        largest = self.n_bytes * (_BEST_PACKING if is_packed else 1) + 1
        self.buffer_bytes = min(SLAB_BYTES, max(largest, 16))
        """Size of a buffer for `fill`."""
        self._is_begun = False
        self._left_over = b""
        """The incomplete line at the end of the previous slab."""

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
        """Read to the end of a line; return the bytes read after it."""
        while filled := self._read_into(buffer, 0):
            stop = buffer.find(b"\n", 0, filled) + 1
            if stop:
                return bytes(memoryview(buffer)[stop:filled])
        return b""

    def _read_into(self, buffer: bytearray, at: int) -> int:
        """Fill the buffer from `at` on; return the end of the filled part."""
        view = memoryview(buffer)
        while at < len(view):
            try:
                n = self._read_some(view[at:])
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self.damage = f"the gzip file is damaged or truncated ({error}): the rest is lost"
                self._read_some = _read_nothing
                break
            except OSError as error:
                raise reading_error(error, self._path) from error
            if not n:
                break
            at += n
        return at


def _read_nothing(_into: memoryview) -> int:
    """Replace reading after damage."""
    return 0
