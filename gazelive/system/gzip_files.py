"""Gzip files that unpack to a plausible size only."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO

from gazelive.errors import RecordingError

GZIP_MAGIC = b"\x1f\x8b"
"""First bytes of a gzip file."""
MOST_RATIO = 200
"""Recordings are packed to a fifth or a tenth; zeros to a thousandth."""
ALWAYS_BYTES = 100_000_000
"""So much may be unpacked from any file …"""
MOST_BYTES = 100_000_000_000
"""… and this much from none."""


def is_gzip(path: Path) -> bool:
    """Return whether a file is packed."""
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


class BoundedGzip(gzip.GzipFile):
    """A gzip file to read; raises `RecordingError` once it has unpacked to too much."""

    def __init__(self, path: Path, file: IO[bytes] | None = None) -> None:
        """Read `file`, which is `path` if none is given."""
        self._path, self._own = path, path.open("rb") if file is None else None
        self._packed = file or self._own
        super().__init__(fileobj=self._packed)

    def close(self) -> None:
        """Close it."""
        super().close()
        if self._own is not None:
            self._own.close()

    def read(self, size: int | None = -1) -> bytes:
        """Read all, or up to `size` bytes."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        return self._checked(super().read(size))

    def read1(self, size: int = -1) -> bytes:
        """Read up to `size` bytes with one read of the file."""
        return self._checked(super().read1(size))

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line."""
        return self._checked(super().readline(size))

    def _checked(self, data: bytes) -> bytes:
        unpacked = self.tell()
        if unpacked > ALWAYS_BYTES:
            assert self._packed is not None
            if unpacked > min(MOST_BYTES, MOST_RATIO * self._packed.tell()):
                raise RecordingError(
                    f"unpacks to more than {MOST_RATIO} times its size or "
                    f"{MOST_BYTES / 1e9:.0f} GB: it is no recording, or unpack it yourself",
                    path=self._path,
                )
        return data
