"""Log of notices, limited in length."""

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
    """Since the start of the run; None before it."""
    level: NoticeLevel
    text: str
    times: int = 1
    """Number of repetitions in a row."""


class NoticeLog:
    """The last notices; a repeated notice is one line with a count."""

    def __init__(self) -> None:
        self.lines: deque[LoggedNotice] = deque(maxlen=MOST_NOTICES)
        self.revision = 0

    def add(self, level: NoticeLevel, text: str, elapsed_s: float | None = None) -> None:
        """Add a notice."""
        last = self.lines[-1] if self.lines else None
        if last is not None and (last.level, last.text) == (level, text):
            self.lines[-1] = replace(last, times=last.times + 1, elapsed_s=elapsed_s)
        else:
            self.lines.append(LoggedNotice(elapsed_s, level, text))
        self.revision += 1
