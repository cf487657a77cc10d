"""A screen of our own is there while it is used, and gone afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys

import pytest

from gazelive.system.screen import has_screen, virtual_display

PATIENCE_S = 60.0
needs_xvfb = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")


def client_of(display: str | None) -> socket.socket:
    """Return a connection to the server of a display: its number may be given to another one.

    By the abstract socket, as every X client on Linux: the file of the same name is unreliable,
    because a server that ends frees its number first and removes the file afterwards, which then
    may be its successor's.
    """
    assert display is not None
    client = socket.socket(socket.AF_UNIX)
    try:
        client.settimeout(PATIENCE_S)
        client.connect(f"\0/tmp/.X11-unix/X{display.removeprefix(':')}")
    except BaseException:
        client.close()
        raise
    return client


def has_gone(client: socket.socket) -> bool:
    """Wait until the server closes the connection."""
    with client:
        try:
            return client.recv(1) == b""
        except ConnectionResetError:  # it has gone in haste
            return True


@needs_xvfb
def test_a_screen_lives_as_long_as_its_block() -> None:
    before = os.environ.get("DISPLAY")
    with virtual_display((800, 600)) as one, virtual_display() as other:
        assert one != other
        clients = [client_of(one), client_of(other)]
        assert os.environ.get("DISPLAY") == before
    assert all(map(has_gone, clients))


@needs_xvfb
def test_a_screen_ends_when_its_block_fails() -> None:
    with pytest.raises(KeyboardInterrupt), virtual_display() as display:
        client = client_of(display)
        raise KeyboardInterrupt
    assert has_gone(client)


@needs_xvfb
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_a_screen_ends_with_its_killed_process() -> None:
    program = (
        "from gazelive.system.screen import virtual_display\n"
        "import sys\n"
        "with virtual_display() as display:\n"
        "    print(display, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        client = client_of(process.stdout.readline().strip())
        process.kill()
        assert has_gone(client)


def test_without_xvfb_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with virtual_display() as display:
        assert display is None


def test_other_systems_always_have_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    assert has_screen()
    monkeypatch.setattr(sys, "platform", "linux")
    assert not has_screen()
    monkeypatch.setenv("DISPLAY", ":7")
    assert has_screen()
