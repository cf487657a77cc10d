"""No output file is ever half written: write aside, flush, then rename."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RETRIES, RETRY_S = 20, 0.01
"""How long Windows gets to close a file that somebody was just reading."""


@contextmanager
def written_aside(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target`; on success it replaces `target`, else it is gone.

    The temporary name keeps the target's suffix, since writers choose formats by it.
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
        # mkstemp makes private files; an ordinary output has the user's ordinary mode
        mask = os.umask(0)
        os.umask(mask)
        aside.chmod(0o666 & ~mask)
        _replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)


def _replace(aside: Path, target: Path) -> None:
    """Put `aside` in the place of `target`, which on Windows waits until its readers let go."""
    for _ in range(RETRIES):
        try:
            aside.replace(target)
        except PermissionError:
            if os.name != "nt":
                raise
            time.sleep(RETRY_S)
        else:
            return
    aside.replace(target)


def write_bytes(target: Path, content: bytes) -> None:
    """Replace `target` by `content`, whole or not at all."""
    with written_aside(target) as aside:
        aside.write_bytes(content)
