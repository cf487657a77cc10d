"""How long it takes from the arrival of a chunk to the publication of what was found in it."""

from __future__ import annotations

from collections import deque

import numpy as np

REMEMBERED = 1000
LONGEST_S = 60.0
"""What took longer was caught up with, or another computer's clock."""


class Latencies:
    """The last thousand of them."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, seconds: float) -> None:
        """Take the latency of a chunk."""
        if 0 <= seconds < LONGEST_S:
            self._seconds.append(seconds)

    @property
    def p99_ms(self) -> float | None:
        """The 99th percentile; None before any is known."""
        if not self._seconds:
            return None
        return float(np.percentile(np.array(self._seconds), 99)) * 1000
