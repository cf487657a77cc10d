"""The check that runs after every test."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
import zmq

from .. import leftovers
from ..leftovers import Leftovers


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "GRACE_S", 0.0)


def test_a_thread_is_named() -> None:
    found, over = Leftovers(), threading.Event()
    thread = threading.Thread(target=over.wait, name="stays", daemon=True)
    thread.start()
    assert ["stays" in name for name in found.named()] == [True]
    over.set()
    thread.join()
    assert found.named() == []


def test_a_socket_is_named() -> None:
    found = Leftovers()
    with zmq.Context() as context, context.socket(zmq.PUB):
        assert ["zmq.Socket" in name for name in found.named()] == [True]
    assert found.named() == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="not looked for elsewhere")
def test_a_process_is_named() -> None:
    found = Leftovers()
    waits = [sys.executable, "-c", "print(flush=True); input()"]
    pipe = subprocess.PIPE
    with subprocess.Popen(waits, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        child.stdout.readline()  # its command line is empty for a moment while it starts
        (name,) = found.named()
        assert "input()" in name
    assert found.named() == []
