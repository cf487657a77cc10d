"""Words for numbers and paths."""

from __future__ import annotations

from pathlib import Path


def counted(n: int, noun: str) -> str:
    """Return `1 trial`, `2 trials`, `1,000 trials`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def quoted(path: Path | str) -> str:
    """Return a path as one types it into a command, on any system."""
    text = str(path)
    return f'"{text}"' if " " in text else text
