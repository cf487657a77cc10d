"""Main sequence of a run: its saccades as points, and the band of the enrolled population."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from gazelive.gaze import Flags, Floats, IntervalSettled, MainSequence, ModelLoaded, Saccade

MOST_POINTS = 3_000
LARGEST_DEG, FASTEST_DEG_S = 180.0, 10_000.0
"""Larger or faster events are no saccades and would spoil the axes."""


@dataclass(frozen=True)
class MainSequencePoints:
    """Saccades as points, shapes (n,)."""

    amplitude_deg: Floats
    peak_velocity_deg_s: Floats
    current: Flags
    """True for saccades on the current image."""


class MainSequenceRecord:
    """Peak velocity against amplitude of this run's saccades."""

    def __init__(self) -> None:
        self._points: deque[tuple[int, float, float]] = deque(maxlen=MOST_POINTS)
        """Onset (µs), amplitude (°) and peak velocity (°/s)."""
        self._preliminary: set[int] = set()
        """Onsets of saccades that are not settled yet."""
        self._current_from_us = 0
        self.revision = 0

    def clear(self) -> None:
        """Remove all points."""
        self._points.clear()
        self._preliminary.clear()
        self.revision += 1

    def begin_image(self, tracker_time_us: int) -> None:
        """Count saccades from this time on as those of a new image."""
        self._current_from_us = tracker_time_us
        self.revision += 1

    def add(self, saccade: Saccade) -> None:
        """Add a preliminary saccade; the same onset again replaces it."""
        if self._put(saccade):
            self._preliminary.add(saccade.onset_us)
        if len(self._preliminary) > 2 * MOST_POINTS:
            self._preliminary &= {point[0] for point in self._points}

    def _put(self, saccade: Saccade) -> bool:
        amplitude = math.hypot(
            saccade.end_x_deg - saccade.start_x_deg, saccade.end_y_deg - saccade.start_y_deg
        )
        velocity = saccade.peak_velocity_deg_s
        if not (0 < amplitude < LARGEST_DEG and 0 < velocity < FASTEST_DEG_S):
            return False
        if self._points and self._points[-1][0] == saccade.onset_us:
            self._points.pop()
        self._points.append((saccade.onset_us, amplitude, velocity))
        self.revision += 1
        return True

    def retract(self, onset_us: int) -> None:
        """Remove a saccade."""
        self._points = deque((p for p in self._points if p[0] != onset_us), MOST_POINTS)
        self.revision += 1

    def settle(self, settled: IntervalSettled) -> None:
        """Replace the preliminary saccades of an interval by the settled ones.

        Preliminary saccades from before the interval never settle and are removed as well.
        """
        past = {onset_us for onset_us in self._preliminary if onset_us < settled.end_us}
        self._preliminary -= past
        kept = (
            p
            for p in self._points
            if p[0] not in past and not settled.start_us <= p[0] < settled.end_us
        )
        self._points = deque(kept, MOST_POINTS)
        for saccade in settled.saccades:
            self._put(saccade)
        self.revision += 1

    def points(self) -> MainSequencePoints:
        """Return all points."""
        table = np.array(self._points, np.float64).reshape(-1, 3)
        return MainSequencePoints(table[:, 1], table[:, 2], table[:, 0] >= self._current_from_us)


def usable_band(model: ModelLoaded | None) -> MainSequence | None:
    """Return the band of the enrolled population; None if there is none or it is invalid."""
    band = None if model is None else model.main_sequence
    if band is None:
        return None
    columns = (band.amplitude_deg, band.low_deg_s, band.median_deg_s, band.high_deg_s)
    if len({len(column) for column in columns}) != 1 or len(band.amplitude_deg) < 2:
        return None
    table = np.array(columns)
    drawable = (table > 0).all() and (table < FASTEST_DEG_S).all()
    return band if drawable and (np.diff(table[0]) > 0).all() else None


def share_inside(points: MainSequencePoints, band: MainSequence) -> float | None:
    """Return the fraction of points inside the band, of those within its amplitudes."""
    amplitude = np.asarray(band.amplitude_deg)
    covered = (points.amplitude_deg >= amplitude[0]) & (points.amplitude_deg <= amplitude[-1])
    if not covered.any():
        return None
    at = np.log(points.amplitude_deg[covered])
    low = np.interp(at, np.log(amplitude), band.low_deg_s)
    high = np.interp(at, np.log(amplitude), band.high_deg_s)
    velocity = points.peak_velocity_deg_s[covered]
    return float(np.mean((velocity >= low) & (velocity <= high)))
