"""Pacing: a device's own time against the host's clock.

Positions are computed from an anchor, never by adding intervals, so errors do not accumulate.
"""

from __future__ import annotations

import math

from gazelive.clock import Clock


class Pace:
    """A piecewise linear time: `position_us` grows by `rate` · 1e6 per host second.

    It stands still until `run`.
    """

    def __init__(self, clock: Clock, position_us: float = 0.0) -> None:
        self._clock = clock
        self._anchor_s = clock.now_s()
        self._anchor_us = position_us
        self._us_per_s = 0.0

    def position_us(self, at_s: float | None = None) -> float:
        """Return the position now, or at host time `at_s` (no earlier than the last change)."""
        elapsed_s = (self._clock.now_s() if at_s is None else at_s) - self._anchor_s
        return self._anchor_us + max(elapsed_s, 0.0) * self._us_per_s

    def reached_s(self, position_us: float) -> float:
        """Return the host time at which the position will be reached (infinity if never)."""
        if position_us <= self._anchor_us:
            return self._anchor_s
        if self._us_per_s == 0:
            return math.inf
        return self._anchor_s + (position_us - self._anchor_us) / self._us_per_s

    def run(self, rate: float, position_us: float | None = None) -> None:
        """Continue at `rate` (0: stand still) from the current position, or from `position_us`."""
        now_s = self._clock.now_s()
        self._anchor_us = self.position_us(now_s) if position_us is None else position_us
        self._anchor_s = now_s
        self._us_per_s = rate * 1e6
