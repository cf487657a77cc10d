"""Pruning of the user's cache folder.

An upgrade leaves the previous version's files behind. Several versions may be installed side by
side, so a name does not show whether something is still needed: users mark what they use, and only
entries unused for long are removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

DAY_S = 24 * 3600.0
LONGEST_S = 30 * DAY_S
"""Entries unused for this long are removed."""
N_KEPT = 5
"""Number of other entries that are kept, the most recently used ones."""
FRESH_S = 3 * DAY_S
"""Entries used more recently are always kept: their process may be running."""
GOING = ".going-"
"""Prefix of folders that are being removed."""


def mark_used(path: Path) -> None:
    """Mark a file or folder as used now, by its modification time.

    Missing permission is ignored.
    """
    with contextlib.suppress(OSError):
        os.utime(path)


def prune(folder: Path, *, now_s: float | None = None) -> None:
    """Remove entries of `folder` that have not been used for long; errors are ignored.

    An entry is renamed before it is deleted, so it is never incomplete under its own name. Windows
    refuses to rename a folder with open files.
    """
    now_s = time.time() if now_s is None else now_s
    last_used_s = _last_used_s(folder)
    by_use = sorted(last_used_s, key=lambda path: last_used_s[path], reverse=True)
    for place, path in enumerate(by_use):
        unused_s = now_s - last_used_s[path]
        if unused_s >= LONGEST_S or (place >= N_KEPT and unused_s >= FRESH_S):
            _remove(path)


def _last_used_s(folder: Path) -> dict[Path, float]:
    found = {}
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # another process has just removed it
                found[path] = path.stat().st_mtime
    return found


def _remove(path: Path) -> None:
    going = path.with_name(f"{GOING}{os.getpid()}-{path.name.removeprefix(GOING)}")
    with contextlib.suppress(OSError):
        path.rename(going)
        if going.is_dir():
            shutil.rmtree(going, ignore_errors=True)
        else:
            going.unlink()
