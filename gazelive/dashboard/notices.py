"""The log of notices: short, in order, and never endless."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

NoticeLevel = Literal["info", "warning", "error"]
MOST_NOTICES = 400


@dataclass(frozen=True)
class LoggedNotice:
    """A line of the log."""

    elapsed_s: float | None
    """Since the run began; None before any."""
    level: NoticeLevel
    text: str
    times: int = 1
    """How often in a row."""


class NoticeLog:
    """The last notices; one that repeats itself is one line with a number."""

    def __init__(self) -> None:
        self.lines: deque[LoggedNotice] = deque(maxlen=MOST_NOTICES)
        self.revision = 0

    def add(self, level: NoticeLevel, text: str, elapsed_s: float | None = None) -> None:
        """Write a line."""
        last = self.lines[-1] if self.lines else None
        if last is not None and (last.level, last.text) == (level, text):
            self.lines[-1] = replace(last, times=last.times + 1, elapsed_s=elapsed_s)
        else:
            self.lines.append(LoggedNotice(elapsed_s, level, text))
        self.revision += 1
