"""A screen of our own is there while it is used, and gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gazelive.experiment.virtual_display import has_screen, virtual_display

SOCKETS = Path("/tmp/.X11-unix")
needs_xvfb = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")


def socket_of(display: str) -> Path:
    return SOCKETS / f"X{display.removeprefix(':')}"


@needs_xvfb
def test_a_screen_lives_as_long_as_its_block() -> None:
    before = os.environ.get("DISPLAY")
    with virtual_display((800, 600)) as one, virtual_display() as other:
        assert one is not None
        assert other is not None
        assert one != other
        assert socket_of(one).exists()
        assert socket_of(other).exists()
        assert os.environ.get("DISPLAY") == before
    assert not socket_of(one).exists()
    assert not socket_of(other).exists()


@needs_xvfb
def test_a_screen_ends_when_its_block_fails() -> None:
    with pytest.raises(KeyboardInterrupt), virtual_display() as display:
        raise KeyboardInterrupt
    assert display is not None
    assert not socket_of(display).exists()


@needs_xvfb
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_a_screen_does_not_outlive_who_was_killed() -> None:
    program = (
        "from gazelive.experiment.virtual_display import virtual_display\n"
        "import sys\n"
        "with virtual_display() as display:\n"
        "    print(display, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        display = process.stdout.readline().strip()
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect(str(socket_of(display)))
            process.kill()
            with contextlib.suppress(ConnectionResetError):  # the server has gone in haste
                assert client.recv(1) == b""  # or in order


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
