"""Words for numbers."""

from __future__ import annotations


def counted(n: int, noun: str) -> str:
    """Return `1 trial`, `2 trials`, `1,000 trials`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
