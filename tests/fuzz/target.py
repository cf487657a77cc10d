"""A fuzz target: one reader of files or messages, and what must hold for any input."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gazelive.errors import GazeliveError


@dataclass(frozen=True, kw_only=True)
class Target:
    """A reader of files or messages."""

    read: Callable[[bytes, Path], None]
    """Read an input, with a folder for its files. A `GazeliveError` is a proper refusal; any other
    exception is a finding."""
    seeds: Callable[[Path], list[bytes]]
    """Make valid inputs; the folder is for their files."""
    close: Callable[[], None] = lambda: None
    """Close what inputs have opened."""
    interpret: Callable[[], None] = lambda: None
    """Prepare kernels to be interpreted."""
    tokens: tuple[bytes, ...] = ()
    """Words of the format."""
    longest: int = 2048
    """Bytes of the longest input."""

    def try_input(self, data: bytes, folder: Path) -> None:
        """Read an input; raise anything that is a finding, warnings included."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                self.read(data, folder)
            except GazeliveError as error:
                refusal = error
            else:
                return
        assert str(refusal), "a refusal without a sentence"
        if isinstance(refusal.__cause__, MemoryError):
            raise AssertionError("it takes too much memory") from refusal
