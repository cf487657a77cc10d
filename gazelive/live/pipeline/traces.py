"""Traces of gaze and speed for the dashboard, cut at the same samples whatever the chunks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gazelive.analysis import fill_gaps, has_gap
from gazelive.detection import DetectorParameters, centred_velocity, to_samples
from gazelive.gaze import LONGEST_FILLED_S, Floats, GazeTrace, Integers

TRACES_PER_S = 50


@dataclass(frozen=True)
class TracePieces:
    """Evenly timed gaze and its speed, one piece per row; shapes (pieces, samples)."""

    first_us: Integers
    x_deg: Floats
    y_deg: Floats
    speed_deg_s: Floats

    def __len__(self) -> int:
        return len(self.first_us)

    def documents(self, interval_us: float, threshold_deg_s: float | None) -> list[GazeTrace]:
        """Return the documents to publish."""
        columns = [column.astype("<f4") for column in (self.x_deg, self.y_deg, self.speed_deg_s)]
        return [
            GazeTrace(
                first_us=first_us,
                interval_us=interval_us,
                x_deg=x_deg.tobytes(),
                y_deg=y_deg.tobytes(),
                speed_deg_s=speed_deg_s.tobytes(),
                threshold_deg_s=threshold_deg_s,
            )
            for first_us, x_deg, y_deg, speed_deg_s in zip(
                self.first_us.tolist(), *columns, strict=True
            )
        ]


class TraceMaker:
    """Cuts a stream of gaze into pieces of 20 ms.

    The speed is the one that the detector compares with its threshold. It is known half a velocity
    window after the sample, and delays the pieces by as much.
    """

    def __init__(self, sampling_rate_hz: float, parameters: DetectorParameters) -> None:
        self._rate_hz = sampling_rate_hz
        self._half = to_samples(parameters.velocity_half_width_ms, sampling_rate_hz, at_least=1)
        self._piece = max(1, round(sampling_rate_hz / TRACES_PER_S))
        room = 4 * (self._piece + 2 * self._half)
        self._times_us: Integers = np.empty(room, np.int64)
        self._x: Floats = np.empty(room)
        self._y: Floats = np.empty(room)
        self.reset()

    def reset(self) -> None:
        """Start over: the next samples do not continue the last ones."""
        self._n_kept = 0
        self._n_before = 0
        """Number of samples already returned, kept for the next velocity window."""

    def push(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> list[TracePieces]:
        """Take samples whose times increase; return the pieces that are complete."""
        if not has_gap(times_us, self._rate_hz, self._last_us):
            return self._add(times_us, x_deg, y_deg)
        pieces: list[TracePieces] = []
        before_us = times_us[0] if self._last_us is None else self._last_us
        steps_us = np.diff(times_us, prepend=before_us)
        breaks = set(np.flatnonzero(steps_us > LONGEST_FILLED_S * 1e6).tolist())
        for start, stop in pairwise(sorted({0, *breaks, len(times_us)})):
            if start in breaks:
                self.reset()
            part = slice(start, stop)
            even_us, (x, y), _ = fill_gaps(
                times_us[part], (x_deg[part], y_deg[part]), self._rate_hz, self._last_us
            )
            pieces += self._add(even_us, x, y)
        return pieces

    @property
    def _last_us(self) -> int | None:
        return int(self._times_us[self._n_kept - 1]) if self._n_kept else None

    def _add(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> list[TracePieces]:
        stop = self._n_kept + len(times_us)
        if stop > len(self._times_us):
            self._make_room(2 * stop)
        new = slice(self._n_kept, stop)
        self._times_us[new], self._x[new], self._y[new] = times_us, x_deg, y_deg
        self._n_kept = stop
        n_pieces = (stop - self._n_before - self._half) // self._piece
        return [self._cut(n_pieces)] if n_pieces > 0 else []

    def _make_room(self, n: int) -> None:
        kept = self._times_us, self._x, self._y
        self._times_us, self._x, self._y = np.empty(n, np.int64), np.empty(n), np.empty(n)
        for old, new in zip(kept, (self._times_us, self._x, self._y), strict=True):
            new[: self._n_kept] = old[: self._n_kept]

    def _cut(self, n_pieces: int) -> TracePieces:
        first, stop = self._n_before, self._n_before + n_pieces * self._piece
        n_seen = stop + self._half
        vx, vy = np.empty(n_seen), np.empty(n_seen)
        centred_velocity(self._x[:n_seen], self._half, self._rate_hz, vx)
        centred_velocity(self._y[:n_seen], self._half, self._rate_hz, vy)
        shape = n_pieces, self._piece
        pieces = TracePieces(
            self._times_us[first : stop : self._piece].copy(),
            self._x[first:stop].reshape(shape).copy(),
            self._y[first:stop].reshape(shape).copy(),
            np.hypot(vx[first:stop], vy[first:stop]).reshape(shape),
        )
        done = max(0, stop - self._half)
        left = self._n_kept - done
        for kept in (self._times_us, self._x, self._y):
            kept[:left] = kept[done : self._n_kept]
        self._n_kept, self._n_before = left, stop - done
        return pieces
