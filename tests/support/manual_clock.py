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


class SleepingClock:
    """A computer's clock that stands still while the computer sleeps, and `world` goes on."""

    def __init__(self, world: ManualClock) -> None:
        self._world = world
        self._slept_s = 0.0

    def now_s(self) -> float:
        """Return the time without that of sleep."""
        return self._world.now_s() - self._slept_s

    def sleep_until_s(self, deadline_s: float) -> None:
        """Jump to the deadline."""
        self._world.sleep_until_s(deadline_s + self._slept_s)

    def fall_asleep(self, seconds: float) -> None:
        """Let the world go on alone."""
        self._slept_s += seconds
        self._world.advance_s(seconds)
