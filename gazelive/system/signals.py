"""Signals that end a session: Ctrl-C, `kill`, a closed terminal.

The process that starts a session passes them on; the process that runs it ends in order.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Not every system has all of them."""
_interrupting: list[signal.Signals] = []


def interrupt_once() -> None:
    """Turn the first signal into a KeyboardInterrupt and ignore the following ones.

    Signals that the parent set to be ignored stay ignored.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        ignore_signals()
        raise KeyboardInterrupt

    for number in _known():
        if signal.getsignal(number) != signal.SIG_IGN:
            _interrupting.append(number)
            signal.signal(number, interrupt)


def ignore_signals() -> None:
    """Ignore signals while a session is saved (if `interrupt_once` was called before)."""
    while _interrupting:
        signal.signal(_interrupting.pop(), signal.SIG_IGN)


class EndSignals:
    """Counts signals while the block runs, instead of ending the process.

    `on_signal` is called with the count, and may raise. Only the main thread receives signals; in
    another thread the count stays 0.
    """

    def __init__(self, on_signal: Callable[[int], None] = lambda _count: None) -> None:
        self.count = 0
        self._on_signal = on_signal
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> EndSignals:
        if threading.current_thread() is threading.main_thread():
            for number in _known():
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._count_signal)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _count_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
        self._on_signal(self.count)


def pass_on(process: subprocess.Popen[bytes]) -> None:
    """End a child that was started with `OWN_GROUP` in order, if it heeds signals."""
    # Windows' SIGTERM would kill it; a break is the one thing that can be sent to a group there
    number = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM)
    with suppress(OSError):  # it has gone meanwhile, or has no console
        process.send_signal(number)


@contextmanager
def killed_in_order() -> Iterator[None]:
    """Turn `kill` and a closed terminal into a KeyboardInterrupt during the block, as Ctrl-C is.

    Signals that the program handles or ignores stay as they are.
    """
    if threading.current_thread() is not threading.main_thread():  # only it receives signals
        yield
        return
    numbers = [number for number in _known() if signal.getsignal(number) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _known() -> list[signal.Signals]:
    return [signal.Signals[name] for name in _NAMES if hasattr(signal, name)]
