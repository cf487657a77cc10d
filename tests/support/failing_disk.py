"""A disk that stalls, refuses to write or fails to sync one file of a session."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Effect = Callable[[int], None]
"""Called with the number of the call, from 1, before it is made: may wait, or raise `OSError`."""


class FailingDisk:
    """Stands between a process and the file `path`; other files are as they are."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.before_write: Effect = lambda _number: None
        self.before_sync: Effect = lambda _number: None
        self._path = path
        self._n_writes = self._n_syncs = 0
        self._write, self._sync = os.write, os.fsync
        monkeypatch.setattr(os, "write", self._watched_write)
        monkeypatch.setattr(os, "fsync", self._watched_sync)

    def _watched_write(self, handle: int, content: bytes) -> int:
        if self._is_file(handle):
            self._n_writes += 1
            self.before_write(self._n_writes)
        return self._write(handle, content)

    def _watched_sync(self, handle: int) -> None:
        if self._is_file(handle):
            self._n_syncs += 1
            self.before_sync(self._n_syncs)
        self._sync(handle)

    def _is_file(self, handle: int) -> bool:
        return self._path.exists() and os.path.samestat(os.fstat(handle), self._path.stat())


def fails_at(number: int, code: int) -> Effect:
    """Return an effect that raises an error of the system from a call on."""

    def fail(call: int) -> None:
        if call >= number:
            raise OSError(code, os.strerror(code))

    return fail
