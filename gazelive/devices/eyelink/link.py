"""Connection to an EyeLink: pylink's errors become ours, and settings are read back."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gazelive.clock import Clock
from gazelive.errors import DeviceDisconnectedError, DeviceError
from gazelive.recordings import text_in_file

REPLY_S, REPLY_STEP_S = 0.5, 0.005
"""Timeout of reading a setting (as in the vendor's examples)."""
LONGEST_MESSAGE = 130
"""Maximum length of a message in the EDF."""
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


class Link:
    """pylink's module and its tracker; one thread makes every call."""

    def __init__(self, pylink: Any, tracker: Any, clock: Clock) -> None:
        self.pylink = pylink
        self.tracker = tracker
        self.clock = clock

    @property
    def is_connected(self) -> bool:
        """False once the link is gone; pylink's dummy mode is no connection."""
        return bool(self.tracker.isConnected() > 0)

    @contextlib.contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Turn what pylink raises during `what` into one sentence."""
        try:
            yield
        except RuntimeError as error:
            if self.is_connected:
                raise DeviceError(
                    f"the EyeLink failed while {what} ({error}): look at the Host PC's screen"
                ) from error
            raise self.lost(what) from error

    def lost(self, what: str) -> DeviceDisconnectedError:
        """Return the error for a lost connection."""
        return DeviceDisconnectedError(
            f"the connection to the EyeLink was lost while {what}: check the cable and the Host PC"
        )

    def command(self, text: str) -> str | None:
        """Send a command; return the tracker's refusal, or None."""
        try:
            code = self.tracker.sendCommand(text)
        except RuntimeError as error:
            if not self.is_connected:
                raise
            return f"the EyeLink refused the command {text!r} ({error})"
        if code == 0:
            return None
        answer = (self.tracker.getLastMessage() or "").strip() or f"code {code}"
        return f"the EyeLink refused the command {text!r} ({answer})"

    def read_numbers(self, setting: str) -> list[float] | None:
        """Return the tracker's numbers of a setting, None if it does not answer."""
        if self.tracker.readRequest(setting) != 0:
            return None
        deadline_s = self.clock.now_s() + REPLY_S
        while not (reply := self.tracker.readReply()):
            now_s = self.clock.now_s()
            if now_s >= deadline_s:
                return None
            self.clock.sleep_until_s(now_s + REPLY_STEP_S)
        return [float(number) for number in _NUMBER.findall(reply)]


def message_in_edf(text: str) -> str:
    """Return `text` for the EDF: one line of ASCII, truncated, not mistaken for an offset."""
    line = text_in_file(" ".join(text.splitlines()))
    return line.encode("ascii", "replace").decode()[:LONGEST_MESSAGE]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress the console output of pylink and its native library, including bells.

    Errors are also raised.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        kept = [(number, os.dup(number)) for number in (1, 2)]
    except (OSError, AttributeError):  # a program without a console
        yield
        return
    try:
        with Path(os.devnull).open("wb") as nowhere, contextlib.redirect_stdout(io.StringIO()):
            for number, _ in kept:
                os.dup2(nowhere.fileno(), number)
            yield
    finally:
        for number, copy in kept:
            os.dup2(copy, number)
            os.close(copy)
