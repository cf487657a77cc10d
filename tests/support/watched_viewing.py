"""The experiment `scene_viewing`, which notes in `blocking.txt` each call that may wait for a peer.

The window's thread and the tracker's thread must never wait for an engine or a dashboard. Run with
`windowless` in its name (a link or a copy), it opens no window.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq

from gazelive.experiment import main, open_windowless
from gazelive.experiment.scene_viewing import scene_viewing
from gazelive.experiment.session import Session

THREADS = ("MainThread", "tracker")
runs = threading.Event()
"""Set while the session lasts; at its end the sockets are closed, which may take a moment."""


def watched_viewing(session: Session) -> None:
    """Watch the sockets, now that the engine need no longer be waited for."""
    report = Path("blocking.txt").absolute()
    for name, place in (("send", 1), ("send_multipart", 1), ("recv", 0), ("recv_multipart", 0)):
        _watch(name, report, lambda values, place=place: not _flags(values, place) & zmq.NOBLOCK)
    _watch("poll", report, lambda values: values[:1] != (0,))
    runs.set()
    try:
        scene_viewing(session)
    finally:
        runs.clear()


def _flags(values: tuple[Any, ...], place: int) -> int:
    return int(values[place]) if len(values) > place else 0


def _watch(name: str, report: Path, may_wait: Callable[[tuple[Any, ...]], bool]) -> None:
    original = getattr(zmq.Socket, name)

    def call(self: zmq.Socket[Any], *values: Any, **named: Any) -> Any:
        positional = (*values, named["flags"]) if "flags" in named else values
        is_watched = runs.is_set() and threading.current_thread().name in THREADS
        if is_watched and may_wait(positional):
            with report.open("a") as file:
                file.write(f"{name} in {threading.current_thread().name}\n")
        return original(self, *values, **named)

    setattr(zmq.Socket, name, call)


if __name__ == "__main__":
    main(watched_viewing, open_windowless if "windowless" in sys.argv[0] else None)
