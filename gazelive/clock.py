"""Clocks: a protocol, and the real one. Tests inject `tests/support/manual_clock.py`."""

from __future__ import annotations

import time
from typing import Protocol, runtime_checkable


@runtime_checkable
class Clock(Protocol):
    """Monotonic seconds since an arbitrary origin."""

    def now_s(self) -> float:
        """Return the current time in seconds."""
        ...

    def sleep_until_s(self, deadline_s: float) -> None:
        """Return at `deadline_s`, or at once where it has passed."""
        ...


class MonotonicClock:
    """The machine's high-resolution monotonic clock.

    `time.sleep` may overshoot by a scheduler tick, so the last `spin_s` before a deadline are
    spent yielding instead of sleeping.
    """

    def __init__(self, spin_s: float = 0.0005) -> None:
        self._spin_s = spin_s

    def now_s(self) -> float:
        """Return `time.perf_counter()`."""
        return time.perf_counter()

    def sleep_until_s(self, deadline_s: float) -> None:
        """Sleep to just before the deadline, then yield until it."""
        remaining_s = deadline_s - time.perf_counter()
        if remaining_s > self._spin_s:
            time.sleep(remaining_s - self._spin_s)
        while time.perf_counter() < deadline_s:
            time.sleep(0)
