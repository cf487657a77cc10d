"""No output file is ever half written: write aside, flush, then rename."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def write_bytes(target: Path, content: bytes) -> None:
    """Replace `target` by `content`, whole or not at all."""
    with written_aside(target) as aside:
        aside.write_bytes(content)
