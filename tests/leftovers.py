"""Leftovers of a test: threads, child processes, ZeroMQ sockets.

Python finds some of it later, when memory is collected, and blames the test that runs then.
"""

from __future__ import annotations

import threading
import time
import weakref
from pathlib import Path
from typing import Any

import zmq

GRACE_S = 10.0
"""Time that ending threads and processes get; a test without leftovers does not wait."""
_sockets: weakref.WeakSet[zmq.Socket[Any]] = weakref.WeakSet()
_make_socket: Any = zmq.Socket.__init__


def _make_known_socket(socket: zmq.Socket[Any], *arguments: Any, **options: Any) -> None:
    _make_socket(socket, *arguments, **options)
    _sockets.add(socket)


zmq.Socket.__init__ = _make_known_socket  # type: ignore[method-assign]


class Leftovers:
    """Compares threads, processes and sockets before and after a test."""

    def __init__(self) -> None:
        self._before = _all_there_is()

    def named(self) -> list[str]:
        """Return the leftovers after the grace period."""
        deadline_s = time.monotonic() + GRACE_S
        while (new := _all_there_is() - self._before) and time.monotonic() < deadline_s:
            time.sleep(0.01)
        return sorted(map(_name, new))


def _all_there_is() -> set[Any]:
    threads = {t for t in threading.enumerate() if not isinstance(t, threading._DummyThread)}
    sockets = {socket for socket in _sockets if not socket.closed}
    return threads | sockets | _children()


def _children() -> set[int]:
    """Return the child processes; only Linux tells them quickly enough to ask after every test.

    Multiprocessing's tracker stays as long as this process.
    """
    listed = [_content(path) for path in Path("/proc/self/task").glob("*/children")]
    pids = [int(pid) for pids in listed for pid in pids.split()]
    return {pid for pid in pids if "resource_tracker" not in _command(pid)}


def _command(pid: int) -> str:
    return _content(Path("/proc", str(pid), "cmdline")).replace("\0", " ")


def _content(path: Path) -> str:
    """Return the content of a file of /proc; empty if its process has ended."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _name(what: Any) -> str:
    return f"process {what}: {_command(what)[:200]}" if isinstance(what, int) else repr(what)
