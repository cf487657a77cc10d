"""Which samples of a live stream go on in time; the others are left out and counted.

Offline, all times of a block are known and as few samples as possible are left out
(`recordings.time_order`). Live only the past is known: a sample must be later than the one before.
Two kinds of damage would then lock out everything that follows, and are seen through: a lone time
far in the future, and a clock that was set back for good.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.recordings.time_order_kernels import step_range

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

LONGEST_STEP_S = 10.0
"""Within a block, a step this far forward is believed only when the next sample confirms it."""
PATIENCE_S = 0.5
"""A clock is taken to be set back when so much has come in order behind the newest time."""


@dataclass(frozen=True)
class Accepted:
    """What became of some samples."""

    kept: Flags | None = None
    """Which go on in time; None: all."""
    n_duplicate: int = 0
    n_backward: int = 0
    was_set_back: bool = False


class TimeOrder:
    """Remembers the newest time of a block."""

    def __init__(self, sampling_rate_hz: float) -> None:
        self._longest_us = round(LONGEST_STEP_S * 1e6)
        self._patience = max(2, round(PATIENCE_S * sampling_rate_hz))
        self.newest_us: int | None = None
        self._far_us: int | None = None
        """A time far ahead that waits to be confirmed."""
        self._behind_us = 0
        self._n_behind = 0
        """How many came in order behind the newest, and the last of them."""

    def take(self, times_us: Integers) -> Accepted:
        """Say which of the next samples go on in time."""
        if not len(times_us) or self._all_go_on(times_us):
            return Accepted()
        return self._take_one_by_one(times_us.tolist())

    def _all_go_on(self, times_us: Integers) -> bool:
        first_step = 1 if self.newest_us is None else times_us[0] - self.newest_us
        if not 0 < first_step <= self._longest_us:
            return False
        smallest_us, largest_us = step_range(times_us)
        if smallest_us <= 0 or largest_us > self._longest_us:
            return False
        self.newest_us = int(times_us[-1])
        self._n_behind, self._far_us = 0, None
        return True

    def _take_one_by_one(self, times_us: list[int]) -> Accepted:
        kept = np.zeros(len(times_us), bool)
        n_duplicate = n_backward = 0
        was_set_back = False
        for i, time_us in enumerate(times_us):
            step_us = 1 if self.newest_us is None else time_us - self.newest_us
            if step_us <= 0:
                n_duplicate += step_us == 0
                n_backward += step_us < 0
                if not self._is_set_back(time_us):
                    continue
                was_set_back = True
                kept[:i] = False  # of the time before
            elif step_us > self._longest_us and not self._is_confirmed(time_us):
                n_backward += 1
                continue
            kept[i] = True
            self.newest_us = time_us
            self._n_behind, self._far_us = 0, None
        return Accepted(kept, n_duplicate, n_backward, was_set_back)

    def _is_set_back(self, time_us: int) -> bool:
        goes_on = self._n_behind and time_us > self._behind_us
        self._n_behind = self._n_behind + 1 if goes_on else 1
        self._behind_us = time_us
        return self._n_behind >= self._patience

    def _is_confirmed(self, time_us: int) -> bool:
        far_us, self._far_us = self._far_us, time_us
        return far_us is not None and 0 < time_us - far_us <= self._longest_us
