"""Feature rows of saccades while samples arrive.

A row is complete `RETRACTABLE_MS` after the offset of its saccade, when no loss can retract it any
more. The numbers equal those of `saccade_features.saccade_features`, bit for bit. Memory is
bounded: only the last two seconds of a fixation are kept.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from gazelive.detection import N_RECENT
from gazelive.features.identity_kernels import (
    MAX_FIXATION_MS,
    POST_SACCADIC_MS,
    After,
    Movement,
    Texture,
)
from gazelive.features.kinematics_kernels import N_KINEMATICS, Kinematics, saccade_kinematics
from gazelive.features.row_kernels import (
    any_lost,
    bridge_short_losses,
    fill_identity_row,
    long_losses,
)
from gazelive.features.saccades import FeatureSettings, ends_of, put_ends
from gazelive.features.turns import Turn, turn_between
from gazelive.gaze import Floats, Integers, Saccade

LONGEST_SACCADE_MS = 300.0
RETRACTABLE_MS = 60.0
"""A loss disproves a saccade within 40 ms of its offset, and is known to be one 8 ms later."""
MAX_REMEMBERED_LOSSES = 256


def _masked(n: int) -> Floats:
    return np.full(n, np.nan)


@dataclass
class SaccadeRow:
    """The features of one saccade; NaN where masked."""

    saccade: Saccade
    onset: int
    offset: int
    """First and last sample of the movement, counted over the whole stream."""
    gap: int = 0
    """Onset minus the offset of the saccade before in the same chain; 0 where there is none."""
    turn: Turn = Turn.NONE
    previous_fixation_ms: float = float("nan")
    lost_before: bool = False
    """Whether a loss that is not bridged lies at most 100 ms before it, or in it."""
    kinematics: Floats = field(default_factory=lambda: _masked(N_KINEMATICS))
    movement: Floats = field(default_factory=lambda: _masked(len(Movement)))
    after: Floats = field(default_factory=lambda: _masked(len(After)))
    texture: Floats = field(default_factory=lambda: _masked(len(Texture)))


class FeatureStream:
    """Turns samples and the saccades found in them into rows."""

    def __init__(self, sampling_rate_hz: float) -> None:
        self._settings = settings = FeatureSettings.at(sampling_rate_hz)
        self._lookahead = max(
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
        self._waiting: deque[SaccadeRow] = deque()
        self._recent: deque[SaccadeRow] = deque(maxlen=N_RECENT + 1)

    def add_samples(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> list[SaccadeRow]:
        """Take evenly timed samples (y downwards, NaN where lost); return rows now complete."""
        rows: list[SaccadeRow] = []
        for start in range(0, len(x_deg), self._kept // 4):
            part = slice(start, start + self._kept // 4)
            self._buffer(times_us[part], x_deg[part], y_deg[part])
            rows += self._complete_rows()
        return rows

    def add_saccade(self, saccade: Saccade) -> list[SaccadeRow]:
        """Take a confirmed saccade of samples in memory; return rows now complete."""
        onset, offset = self._index_at(saccade.onset_us), self._index_at(saccade.arrival_us)
        self._waiting.append(SaccadeRow(saccade, onset, offset))
        return self._complete_rows()

    def retract_saccade(self, onset_us: int) -> None:
        """Forget one of the last saccades, and let the next follow the one before it."""
        self._waiting = deque(row for row in self._waiting if row.saccade.onset_us != onset_us)
        self._recent = deque(
            (row for row in self._recent if row.saccade.onset_us != onset_us), self._recent.maxlen
        )

    @property
    def _n_samples(self) -> int:
        return self._first + self._filled

    @property
    def _last_certain(self) -> int:
        """The last sample that cannot change: a short loss at the end may still be bridged."""
        may_be_bridged = self._lost_run <= self._settings.bridged_loss
        return self._n_samples - 1 - (self._lost_run if may_be_bridged else 0)

    def _index_at(self, time_us: int) -> int:
        """Return the stream index of the sample at a time within the memory."""
        return self._first + int(np.searchsorted(self._times_us[: self._filled], time_us))

    def _complete_rows(self) -> list[SaccadeRow]:
        rows: list[SaccadeRow] = []
        while self._waiting and self._waiting[0].offset + self._lookahead <= self._last_certain:
            row = self._waiting.popleft()
            self._complete(row)
            rows.append(row)
        return rows

    def _complete(self, row: SaccadeRow) -> None:
        settings = self._settings
        x, y = self._x[: self._filled], self._y[: self._filled]
        onset, offset = row.onset - self._first, row.offset - self._first
        saccade_kinematics(
            x, y, onset, offset, settings.sampling_rate_hz, *settings.short.weights, row.kinematics
        )
        put_ends(row.kinematics, ends_of(row.saccade))
        row.lost_before = any_lost(x, y, onset - settings.near_loss, offset)
        self._chain(row)
        fill_identity_row(
            x,
            y,
            row.gap,
            onset,
            offset,
            settings.sampling_rate_hz,
            settings.step,
            settings.identity.weights,
            row.movement,
            row.after,
            row.texture,
        )
        self._recent.append(row)

    def _chain(self, row: SaccadeRow) -> None:
        """Let a saccade follow the one before, unless a long loss lies between them."""
        if not self._recent:
            return
        previous = self._recent[-1]
        if any(previous.offset <= loss < row.onset for loss in self._losses):
            return
        row.gap = row.onset - previous.offset
        row.turn = turn_between(
            previous.kinematics[Kinematics.DX_DEG],
            previous.kinematics[Kinematics.DY_DEG],
            row.kinematics[Kinematics.DX_DEG],
            row.kinematics[Kinematics.DY_DEG],
        )
        row.previous_fixation_ms = (row.gap - 1) * 1000.0 / self._settings.sampling_rate_hz

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
            x_deg, y_deg, self._n_samples, self._lost_run, self._settings.long_loss, found
        )
        self._losses.extend(found[:n_found].tolist())
        new = slice(self._filled, self._filled + n)
        self._times_us[new], self._x[new], self._y[new] = times_us, x_deg, y_deg
        last_seen = max(0, self._filled - lost_before - 1)
        self._filled += n
        bridge_short_losses(self._x, self._y, last_seen, self._filled, self._settings.bridged_loss)
