"""Free space on the disk of a session, in minutes at the rate at which it is recorded."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from gazelive.clock import Clock
from gazelive.gaze import Notice

EVERY_S = 10.0
WARN_BELOW_MIN = (30.0, 10.0, 3.0)
"""A warning is published as the time left falls below each of these."""


def free_bytes(folder: Path) -> int:
    """Return the free space of the disk that a folder is on."""
    return shutil.disk_usage(folder).free


class DiskWatch:
    """Warns before the disk is full."""

    def __init__(
        self, journal: Path, clock: Clock, free_bytes: Callable[[Path], int] = free_bytes
    ) -> None:
        self._journal, self._clock, self._free_bytes = journal, clock, free_bytes
        self._before: tuple[float, int] | None = None
        self._next_s = 0.0
        self._warned_min = 2 * WARN_BELOW_MIN[0]

    def check(self) -> Notice | None:
        """Return a warning when one is due; call it as often as you like."""
        now_s = self._clock.now_s()
        if now_s < self._next_s:
            return None
        self._next_s = now_s + EVERY_S
        try:
            size, free = self._journal.stat().st_size, self._free_bytes(self._journal.parent)
        except OSError:
            return None
        before, self._before = self._before, (now_s, size)
        if before is None or size <= before[1]:
            return None
        minutes = free / (size - before[1]) * (now_s - before[0]) / 60
        passed = [limit for limit in WARN_BELOW_MIN if minutes < limit]
        if not passed or passed[-1] >= self._warned_min:
            return None
        self._warned_min = passed[-1]
        text = (
            f"the disk will be full in {minutes:.0f} minutes at this rate "
            f"({free / 1e6:.0f} MB are left): free some space on it"
        )
        return Notice(level="warning", text=text)
