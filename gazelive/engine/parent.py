"""Hearing that the process which started this one is gone, on any system: its pipe ends."""

from __future__ import annotations

import os
import threading

_STANDARD_INPUT = 0


def when_parent_ends() -> threading.Event:
    """Return what is set once standard input, a pipe from the parent, has ended."""
    ended = threading.Event()

    def listen() -> None:
        # not sys.stdin: a thread that waits in it would break the interpreter's end
        while os.read(_STANDARD_INPUT, 64):
            pass
        ended.set()

    threading.Thread(target=listen, name="parent", daemon=True).start()
    return ended
