"""Words for numbers, lists, paths and this program."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


def counted(n: int, noun: str) -> str:
    """Return `1 trial`, `2 trials`, `1,000 trials`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def duration(seconds: float) -> str:
    """Return `7.5 s`, `3 min 20 s`, `1 h 0 min 5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest_s = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest_s} s"
    return f"{minutes // 60} h {minutes % 60} min {rest_s} s"


def quoted(path: Path | str) -> str:
    """Return a path as one types it into a command, on any system."""
    text = str(path)
    return f'"{text}"' if " " in text else text


def listed(words: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), *words[-1:]] if words[1:] else words)


def called_as() -> str:
    """Return what to type for this program: its name, else where it is.

    After `make demo` nobody has activated the virtual environment yet.
    """
    called = Path(sys.argv[0])
    if called.stem == "__main__":
        return f"{quoted(sys.executable)} -m gazelive"
    found = shutil.which("gazelive")
    is_known = found is not None and Path(found).resolve() == called.resolve()
    return "gazelive" if is_known or called.stem != "gazelive" else quoted(called)
