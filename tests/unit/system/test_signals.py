"""Signals: the first ends a session in order, later ones do not disturb saving."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gazelive.system.children import OWN_GROUP
from gazelive.system.signals import EndSignals, ignore_signals, interrupt_once, pass_on

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell's signals")
HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in HEARD}
    for number in HEARD:  # also where the tests themselves run under nohup, which ignores SIGHUP
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    ignore_signals()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("first", HEARD)
def test_the_first_signal_is_ctrl_c_and_the_rest_is_silence(first: signal.Signals) -> None:
    interrupt_once()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(first)
    for number in HEARD:
        signal.raise_signal(number)


def test_a_session_that_is_saved_hears_nothing() -> None:
    ignore_signals()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)  # nobody heeded anything before
    interrupt_once()
    ignore_signals()
    for number in HEARD:
        signal.raise_signal(number)


def test_ignored_signals_stay_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # nohup
    interrupt_once()
    with EndSignals() as wishes:
        signal.raise_signal(signal.SIGHUP)
        assert wishes.count == 0


def test_wishes_are_counted_and_end_nothing() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with EndSignals() as wishes:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        assert wishes.count == 2
    assert signal.getsignal(signal.SIGTERM) == before
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler


def test_a_child_in_its_own_group_ends_by_pass_on_alone() -> None:
    waits = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, **OWN_GROUP) as child:
        assert os.getpgid(child.pid) == child.pid, "a terminal's Ctrl-C does not reach it"
        pass_on(child)
        assert child.wait(60) == -signal.SIGTERM


def test_on_windows_the_end_is_passed_on_as_a_break(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "CTRL_BREAK_EVENT", 1, raising=False)
    sent: list[int] = []

    class Child:
        def send_signal(self, number: int) -> None:
            sent.append(number)
            raise PermissionError("it has gone")

    pass_on(Child())  # type: ignore[arg-type]
    assert sent == [1]
