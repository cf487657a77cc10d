"""How a session is told from outside to end: Ctrl-C, `kill`, a terminal that closes.

The process that starts a session hears it and passes it on; the one that runs it ends in order.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Not every system has all of them."""
_heeded: list[signal.Signals] = []
OWN_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""Popen's `creationflags` for a process that is to hear of the end by `pass_on` alone (Windows)."""


def heed_once() -> None:
    """Let the first signal be a KeyboardInterrupt, and those after it nothing.

    What this process was told to ignore when it was started is still ignored.
    """

    def heed(_number: int, _frame: FrameType | None) -> None:
        heed_no_more()
        raise KeyboardInterrupt

    for number in _known():
        if signal.getsignal(number) != signal.SIG_IGN:
            _heeded.append(number)
            signal.signal(number, heed)


def heed_no_more() -> None:
    """Let nothing disturb a session that is being saved (if `heed_once` was called before)."""
    while _heeded:
        signal.signal(_heeded.pop(), signal.SIG_IGN)


class EndWishes:
    """Counts signals while the block runs, instead of being ended by them.

    Outside of the main thread, which alone hears signals, there is nothing to count.
    """

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> EndWishes:
        if threading.current_thread() is threading.main_thread():
            for number in _known():
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1

    @contextmanager
    def kept_from_children(self) -> Iterator[None]:
        """Let processes that are started in the block not hear Ctrl-C: `pass_on` tells them.

        They would hear it while they still load, and say so with a traceback. On Windows nothing
        of this is inherited; there `OWN_GROUP` keeps it from them.
        """
        if signal.SIGINT not in self._before or sys.platform == "win32":
            yield
            return
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, self._hear)


def pass_on(process: subprocess.Popen[bytes]) -> None:
    """Tell a process that heeds signals (and was started with `OWN_GROUP`) to end in order."""
    # Windows' SIGTERM would kill it; a break is the one thing that can be sent to a group there
    number = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM)
    with suppress(OSError):  # it has gone meanwhile, or has no console
        process.send_signal(number)


def _known() -> list[signal.Signals]:
    return [signal.Signals[name] for name in _NAMES if hasattr(signal, name)]
