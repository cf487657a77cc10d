"""Gaze and its speed in pieces to be looked at, always cut at the same samples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gazelive.detection.online_state import GAP_INTERVALS, LONGEST_FILLED_S
from gazelive.detection.parameters import DetectorParameters, to_samples
from gazelive.detection.velocity_kernels import centred_velocity
from gazelive.features.interval import even_gaze
from gazelive.gaze.documents import GazeTrace
from gazelive.recordings.time_order_kernels import step_range

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

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
        """Return what travels."""
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
    """Cuts a stream of gaze into pieces of a fiftieth of a second, whatever chunks it comes in.

    The speed is what the detector compares with its threshold; it is known half a velocity window
    after the sample, so the pieces come that much later.
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
        """Begin anew: what comes next does not go on from what came."""
        self._n_kept = 0
        self._n_before = 0
        """How many of the samples kept have been given out: the window of the next ones."""

    def push(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> list[TracePieces]:
        """Take samples that go on in time; return the pieces that are complete."""
        before_us = self._times_us[self._n_kept - 1] if self._n_kept else times_us[0]
        longest_us = max(times_us[0] - before_us, step_range(times_us)[1])
        if longest_us <= GAP_INTERVALS * 1e6 / self._rate_hz:
            return self._add(times_us, x_deg, y_deg)
        pieces: list[TracePieces] = []
        breaks = np.flatnonzero(np.diff(times_us) > LONGEST_FILLED_S * 1e6) + 1
        for first, beyond in pairwise([0, *breaks.tolist(), len(times_us)]):
            part = slice(first, beyond)
            pieces += self._add_evenly(times_us[part], x_deg[part], y_deg[part])
        return pieces

    def _add_evenly(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> list[TracePieces]:
        if self._n_kept:
            last = slice(self._n_kept - 1, self._n_kept)
            if times_us[0] - self._times_us[self._n_kept - 1] > LONGEST_FILLED_S * 1e6:
                self.reset()
            else:
                # with the sample before, so that a gap between the two is filled as well
                times_us = np.concatenate((self._times_us[last], times_us))
                x_deg = np.concatenate((self._x[last], x_deg))
                y_deg = np.concatenate((self._y[last], y_deg))
                self._n_kept -= 1
        gaze = even_gaze(times_us, {"L": (x_deg, y_deg)}, self._rate_hz)
        return self._add(gaze.times_us, *gaze.positions)

    def _add(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> list[TracePieces]:
        beyond = self._n_kept + len(times_us)
        if beyond > len(self._times_us):
            self._make_room(2 * beyond)
        new = slice(self._n_kept, beyond)
        self._times_us[new], self._x[new], self._y[new] = times_us, x_deg, y_deg
        self._n_kept = beyond
        n_pieces = (beyond - self._n_before - self._half) // self._piece
        return [self._cut(n_pieces)] if n_pieces > 0 else []

    def _make_room(self, n: int) -> None:
        kept = self._times_us, self._x, self._y
        self._times_us, self._x, self._y = np.empty(n, np.int64), np.empty(n), np.empty(n)
        for old, new in zip(kept, (self._times_us, self._x, self._y), strict=True):
            new[: self._n_kept] = old[: self._n_kept]

    def _cut(self, n_pieces: int) -> TracePieces:
        first, beyond = self._n_before, self._n_before + n_pieces * self._piece
        n_seen = beyond + self._half
        vx, vy = np.empty(n_seen), np.empty(n_seen)
        centred_velocity(self._x[:n_seen], self._half, self._rate_hz, vx)
        centred_velocity(self._y[:n_seen], self._half, self._rate_hz, vy)
        shape = n_pieces, self._piece
        pieces = TracePieces(
            self._times_us[first : beyond : self._piece].copy(),
            self._x[first:beyond].reshape(shape).copy(),
            self._y[first:beyond].reshape(shape).copy(),
            np.hypot(vx[first:beyond], vy[first:beyond]).reshape(shape),
        )
        done = max(0, beyond - self._half)
        left = self._n_kept - done
        for kept in (self._times_us, self._x, self._y):
            kept[:left] = kept[done : self._n_kept]
        self._n_kept, self._n_before = left, beyond - done
        return pieces
