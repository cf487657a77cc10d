"""Notice before kernels are compiled; a separate module, so it does not need numba."""

from __future__ import annotations

from collections.abc import Callable

_callbacks: list[Callable[[], None]] = []


def on_compile(callback: Callable[[], None]) -> None:
    """Call `callback` once before a kernel is compiled; replaces an earlier one."""
    _callbacks[:] = [callback]


def notify() -> None:
    """Call the callback, if there is one; `jit` calls this."""
    while _callbacks:
        _callbacks.pop()()
