"""A clock for tests that moves only when it is advanced."""

from __future__ import annotations


class ManualClock:
    """A clock that moves only when it is advanced, or when a thread sleeps on it."""

    def __init__(self, start_s: float = 0.0) -> None:
        self._now_s = start_s

    def now_s(self) -> float:
        """Return the time it was last set to."""
        return self._now_s

    def advance_s(self, seconds: float) -> None:
        """Move forward by `seconds`."""
        if seconds < 0:
            raise ValueError("a clock does not run backwards")
        self._now_s += seconds

    def sleep_until_s(self, deadline_s: float) -> None:
        """Jump to the deadline."""
        self._now_s = max(self._now_s, deadline_s)
