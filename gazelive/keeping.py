"""What every version keeps for itself in the user's cache folder, and when it is let go.

An upgrade leaves behind what the version before it had kept. Several versions may be installed
side by side and run at the same time, so nobody can know by a name what is still needed: whoever
uses something marks it, and only what has not been used for long goes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

DAY_S = 24 * 3600.0
LONGEST_S = 30 * DAY_S
"""What was not used for so long goes."""
N_KEPT = 5
"""Of the rest so many are kept, those used last."""
FRESH_S = 3 * DAY_S
"""What was used since then stays in any case: its process may be running."""
GOING = ".going-"
"""How the names of folders begin that are being removed."""


def mark_used(path: Path) -> None:
    """Note that a file or folder is used now: its time of change says so.

    Where that is not allowed, somebody else looks after it.
    """
    with contextlib.suppress(OSError):
        os.utime(path)


def let_go_unused(folder: Path, *, now_s: float | None = None) -> None:
    """Remove what has not been used for long from `folder`; what cannot be removed stays.

    Nothing is ever half there under its own name: it is renamed first, which Windows refuses for
    a folder with open files in it.
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
