"""Signals: the first ends a session in order, and nothing disturbs it while it is saved."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gazelive.experiment.ending import EndWishes, heed_no_more, heed_once, pass_on

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell's signals")
HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in HEARD}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    heed_no_more()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("first", HEARD)
def test_the_first_signal_is_ctrl_c_and_the_rest_is_silence(first: signal.Signals) -> None:
    heed_once()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(first)
    for number in HEARD:
        signal.raise_signal(number)


def test_a_session_that_is_saved_hears_nothing() -> None:
    heed_no_more()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)  # nobody heeded anything before
    heed_once()
    heed_no_more()
    for number in HEARD:
        signal.raise_signal(number)


def test_what_was_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # nohup
    heed_once()
    with EndWishes() as wishes:
        signal.raise_signal(signal.SIGHUP)
        assert wishes.count == 0


def test_wishes_are_counted_and_end_nothing() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with EndWishes() as wishes:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        assert wishes.count == 2
    assert signal.getsignal(signal.SIGTERM) == before
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler


def test_children_hear_of_the_end_from_us_alone() -> None:
    script = (
        "import signal, sys; print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN, flush=True);"
        "sys.stdin.read()"
    )
    with EndWishes() as wishes:
        with wishes.kept_from_children():
            child = subprocess.Popen(
                [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        with child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"True\n"
            pass_on(child)
            assert child.wait(60) == -signal.SIGTERM
        signal.raise_signal(signal.SIGINT)
        assert wishes.count == 1, "we still hear it"


def test_on_windows_the_end_is_passed_on_as_a_break(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "CTRL_BREAK_EVENT", 1, raising=False)
    sent: list[int] = []

    class Child:
        def send_signal(self, number: int) -> None:
            sent.append(number)
            raise PermissionError("it has gone")

    pass_on(Child())  # type: ignore[arg-type]
    assert sent == [1]
