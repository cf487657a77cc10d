"""No output file is ever half written: write aside, flush, then rename."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RETRIES, RETRY_S = 50, 0.02
"""How long Windows gets to close a file that somebody (a virus scanner, say) was just reading."""
WAITS = os.name == "nt"
"""Elsewhere a file can be replaced while it is read, and who may not write may not later either."""


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
        put_in_place(aside, target)
    finally:
        aside.unlink(missing_ok=True)


def put_in_place(aside: Path, target: Path) -> None:
    """Put `aside` in the place of `target`, which on Windows waits until readers let go of both."""
    for _ in range(RETRIES if WAITS else 0):
        try:
            aside.replace(target)
        except PermissionError:
            time.sleep(RETRY_S)
        else:
            return
    aside.replace(target)


def write_bytes(target: Path, content: bytes) -> None:
    """Replace `target` by `content`, whole or not at all."""
    with written_aside(target) as aside:
        aside.write_bytes(content)
