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

TRACES_PER_S = 60


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
    """Cuts a stream of gaze into pieces of a sixtieth of a second, whatever chunks it comes in.

    The speed is what the detector compares with its threshold; it is known half a velocity window
    after the sample, so the pieces come that much later.
    """

    def __init__(self, sampling_rate_hz: float, parameters: DetectorParameters) -> None:
        self._rate_hz = sampling_rate_hz
        self._half = to_samples(parameters.velocity_half_width_ms, sampling_rate_hz, at_least=1)
        self._piece = max(1, round(sampling_rate_hz / TRACES_PER_S))
        self.reset()

    def reset(self) -> None:
        """Begin anew: what comes next does not go on from what came."""
        self._times_us: Integers = np.empty(0, np.int64)
        self._x: Floats = np.empty(0)
        self._y: Floats = np.empty(0)
        self._n_before = 0
        """How many of the samples kept have been given out: the window of the next ones."""

    def push(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> list[TracePieces]:
        """Take samples that go on in time; return the pieces that are complete."""
        before_us = times_us[0] if not len(self._times_us) else self._times_us[-1]
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
        if len(self._times_us):
            if times_us[0] - self._times_us[-1] > LONGEST_FILLED_S * 1e6:
                self.reset()
            else:
                # with the sample before, so that a gap between the two is filled as well
                times_us = np.concatenate((self._times_us[-1:], times_us))
                x_deg = np.concatenate((self._x[-1:], x_deg))
                y_deg = np.concatenate((self._y[-1:], y_deg))
                self._times_us, self._x, self._y = self._times_us[:-1], self._x[:-1], self._y[:-1]
        gaze = even_gaze(times_us, {"L": (x_deg, y_deg)}, self._rate_hz)
        return self._add(gaze.times_us, *gaze.positions)

    def _add(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> list[TracePieces]:
        self._times_us = np.concatenate((self._times_us, times_us))
        self._x, self._y = np.concatenate((self._x, x_deg)), np.concatenate((self._y, y_deg))
        n_pieces = (len(self._x) - self._n_before - self._half) // self._piece
        return [self._cut(n_pieces)] if n_pieces > 0 else []

    def _cut(self, n_pieces: int) -> TracePieces:
        first, beyond = self._n_before, self._n_before + n_pieces * self._piece
        n_seen = beyond + self._half
        vx, vy = np.empty(n_seen), np.empty(n_seen)
        centred_velocity(self._x[:n_seen], self._half, self._rate_hz, vx)
        centred_velocity(self._y[:n_seen], self._half, self._rate_hz, vy)
        shape = n_pieces, self._piece
        pieces = TracePieces(
            self._times_us[first : beyond : self._piece],
            self._x[first:beyond].reshape(shape),
            self._y[first:beyond].reshape(shape),
            np.hypot(vx[first:beyond], vy[first:beyond]).reshape(shape),
        )
        kept = max(0, beyond - self._half)
        self._n_before = beyond - kept
        self._times_us, self._x, self._y = self._times_us[kept:], self._x[kept:], self._y[kept:]
        return pieces
