"""Features while the eye moves: rows leave as soon as they are known, in three stages.

* `KNOWN`: the saccade is confirmed; kinematics, turn and the fixation before are there.
* `SHAPED`: 60 ms after its offset, when no loss can disprove it any more; movement,
  after-oscillation and texture are there.
* `FOLLOWED`: the next saccade is known (or never will be); so is the fixation between. Where the
  next one is retracted, this comes again with the one after it.

Memory is bounded: of a fixation only the last two seconds are kept.
"""

from __future__ import annotations

import enum
from collections import deque
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gazelive.detection.online_state import N_RECENT
from gazelive.features.ends import Ends, put_ends
from gazelive.features.identity_kernels import (
    MAX_FIXATION_MS,
    POST_SACCADIC_MS,
    After,
    Movement,
    Texture,
)
from gazelive.features.kinematics_kernels import N_KINEMATICS, Kinematics, saccade_kinematics
from gazelive.features.row_kernels import bridge_short_losses, fill_identity_row, long_losses
from gazelive.features.saccade_features import FeatureSettings
from gazelive.features.turns import Turn, turn_between

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LONGEST_SACCADE_MS = 300.0
RETRACTABLE_MS = 60.0
"""A loss disproves a saccade within 40 ms of its offset, and is known to be one 8 ms later."""
MAX_REMEMBERED_LOSSES = 256
MAX_RETRACTED = N_RECENT
"""So many saccades can one loss disprove."""


class Stage(enum.Enum):
    """How much of a row is there."""

    KNOWN = enum.auto()
    SHAPED = enum.auto()
    FOLLOWED = enum.auto()


def _masked(n: int) -> Floats:
    return np.full(n, np.nan)


@dataclass
class SaccadeRow:
    """One saccade's features as they become known; masked (NaN) until then."""

    number: int
    onset: int
    offset: int
    """First and last sample inside, counted over the whole stream."""
    gap: int = 0
    """Onset minus the offset of the saccade before in the same chain; 0 where there is none."""
    turn: Turn = Turn.NONE
    previous_fixation_ms: float = float("nan")
    next_fixation_ms: float = float("nan")
    kinematics: Floats = field(default_factory=lambda: _masked(N_KINEMATICS))
    movement: Floats = field(default_factory=lambda: _masked(len(Movement)))
    after: Floats = field(default_factory=lambda: _masked(len(After)))
    texture: Floats = field(default_factory=lambda: _masked(len(Texture)))


Update = tuple[Stage, SaccadeRow]


class FeatureStream:
    """Turns samples and the saccades found in them into rows."""

    def __init__(self, sampling_rate_hz: float) -> None:
        self._settings = settings = FeatureSettings.at(sampling_rate_hz)
        self._shape_lookahead = max(
            round(RETRACTABLE_MS * sampling_rate_hz / 1000),
            9 * settings.step + settings.identity.half_width,
        )
        kept_ms = MAX_FIXATION_MS + LONGEST_SACCADE_MS + 4 * POST_SACCADIC_MS
        self._kept = round(kept_ms * sampling_rate_hz / 1000)
        self._times_us = np.empty(2 * self._kept, np.int64)
        self._x, self._y = np.empty(2 * self._kept), np.empty(2 * self._kept)
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next sample has index 0."""
        self._first = 0  # stream index of the first sample in the buffer
        self._filled = 0
        self._lost_run = 0
        self._losses: deque[int] = deque(maxlen=MAX_REMEMBERED_LOSSES)
        self._number = 0
        self._recent: deque[SaccadeRow] = deque(maxlen=MAX_RETRACTED + 1)
        self._announced: deque[tuple[int, int, Ends | None]] = deque()
        self._unshaped: deque[SaccadeRow] = deque()

    @property
    def n_samples(self) -> int:
        """How many samples have come."""
        return self._first + self._filled

    @property
    def _last_certain(self) -> int:
        """The last sample that will not change: a loss that is short yet may be bridged."""
        may_be_bridged = self._lost_run <= self._settings.bridged_loss
        return self.n_samples - 1 - (self._lost_run if may_be_bridged else 0)

    def index_at(self, time_us: int) -> int:
        """Return the stream index of the sample at a time within the memory."""
        return self._first + int(np.searchsorted(self._times_us[: self._filled], time_us))

    def add_samples(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> list[Update]:
        """Take evenly timed samples (y downwards, NaN where lost); return rows now shaped."""
        updates: list[Update] = []
        for start in range(0, len(x_deg), self._kept // 4):
            part = slice(start, start + self._kept // 4)
            self._buffer(times_us[part], x_deg[part], y_deg[part])
            updates += self._advance(self._last_certain)
        return updates

    def add_saccade(self, onset: int, offset: int, ends: Ends | None = None) -> list[Update]:
        """Take a confirmed saccade; return rows that are known or followed with it.

        `ends` are the positions that the detector reports; without, they are the samples'.
        """
        self._announced.append((onset, offset, ends))
        return self._advance(self._last_certain)

    def retract_saccade(self, onset: int) -> None:
        """Forget one of the last saccades: a loss right after it showed that it was none.

        Those after it are retracted too, so the one before it is followed anew.
        """
        self._announced = deque(waiting for waiting in self._announced if waiting[0] != onset)
        self._unshaped = deque(row for row in self._unshaped if row.onset != onset)
        kept = [row for row in self._recent if row.onset != onset]
        if len(kept) < len(self._recent):
            self._recent = deque(kept, maxlen=MAX_RETRACTED + 1)
            if kept:
                kept[-1].next_fixation_ms = float("nan")

    def flush(self) -> list[Update]:
        """Return what can be said now that nothing more will come."""
        updates = self._advance(self.n_samples + self._shape_lookahead)
        if self._recent:
            updates.append((Stage.FOLLOWED, self._recent[-1]))
            self._recent.clear()
        return updates

    def _advance(self, last_sample: int) -> list[Update]:
        """Return the rows that reach a stage when samples up to `last_sample` have come."""
        updates: list[Update] = []
        wait = 1 + self._settings.short.half_width
        while self._announced and self._announced[0][1] + wait <= last_sample:
            updates += self._know(*self._announced.popleft())
        return updates + self._shape(last_sample)

    def _know(self, onset: int, offset: int, ends: Ends | None) -> list[Update]:
        row = SaccadeRow(self._number, onset, offset)
        self._number += 1
        saccade_kinematics(
            self._x[: self._filled],
            self._y[: self._filled],
            onset - self._first,
            offset - self._first,
            self._settings.sampling_rate_hz,
            *self._settings.short.weights,
            row.kinematics,
        )
        if ends is not None:
            put_ends(row.kinematics, ends)
        updates: list[Update] = [(Stage.KNOWN, row)]
        previous = self._recent[-1] if self._recent else None
        self._recent.append(row)
        if previous is not None:
            if not any(previous.offset <= loss < onset for loss in self._losses):
                self._chain(previous, row)
            updates.insert(0, (Stage.FOLLOWED, previous))
        self._unshaped.append(row)
        return updates

    def _chain(self, previous: SaccadeRow, row: SaccadeRow) -> None:
        row.gap = row.onset - previous.offset
        row.turn = turn_between(
            previous.kinematics[Kinematics.DX_DEG],
            previous.kinematics[Kinematics.DY_DEG],
            row.kinematics[Kinematics.DX_DEG],
            row.kinematics[Kinematics.DY_DEG],
        )
        fixation_ms = (row.gap - 1) * 1000.0 / self._settings.sampling_rate_hz
        row.previous_fixation_ms = previous.next_fixation_ms = fixation_ms

    def _buffer(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> None:
        n = len(x_deg)
        if self._filled + n > len(self._x):
            surplus = self._filled - self._kept
            for buffer in (self._times_us, self._x, self._y):
                buffer[: self._kept] = buffer[surplus : self._filled]
            self._first += surplus
            self._filled = self._kept
        lost_before = self._lost_run
        found = np.empty(n, np.int64)
        n_found, self._lost_run = long_losses(
            x_deg, y_deg, self.n_samples, self._lost_run, self._settings.long_loss, found
        )
        self._losses.extend(found[:n_found].tolist())
        new = slice(self._filled, self._filled + n)
        self._times_us[new], self._x[new], self._y[new] = times_us, x_deg, y_deg
        last_seen = max(0, self._filled - lost_before - 1)
        self._filled += n
        bridge_short_losses(self._x, self._y, last_seen, self._filled, self._settings.bridged_loss)

    def _shape(self, last_sample: int) -> list[Update]:
        updates: list[Update] = []
        settings = self._settings
        while self._unshaped and self._unshaped[0].offset + self._shape_lookahead <= last_sample:
            row = self._unshaped.popleft()
            fill_identity_row(
                self._x[: self._filled],
                self._y[: self._filled],
                row.gap,
                row.onset - self._first,
                row.offset - self._first,
                settings.sampling_rate_hz,
                settings.step,
                settings.identity.weights,
                row.movement,
                row.after,
                row.texture,
            )
            updates.append((Stage.SHAPED, row))
        return updates
