"""Who is told when kernels are compiled; apart from `compilation`, so that no numba is needed."""

from __future__ import annotations

from collections.abc import Callable

_told: list[Callable[[], None]] = []


def when_compiling(tell: Callable[[], None]) -> None:
    """Have `tell` called once before a kernel is compiled; it replaces who was to be told."""
    _told[:] = [tell]


def tell() -> None:
    """Tell whoever wants to know; `compilation` calls this."""
    while _told:
        _told.pop()()
