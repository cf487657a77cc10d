"""Saccades and losses of a run as two panels need them: shaded in time, and as main sequence."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gazelive.gaze.documents import IntervalSettled, MainSequence, ModelLoaded, SaccadeOnset
from gazelive.gaze.events import Blink, Saccade

MOST_BANDS = 400
"""More than anybody makes in the seconds that are shown."""
MOST_POINTS = 3_000
LARGEST_DEG, FASTEST_DEG_S = 180.0, 10_000.0
"""What is beyond is no saccade, and would spoil the axes."""
LONGEST_OPEN_US = 300_000
"""An onset that nothing followed for so long is not shown any more."""

Floats = npt.NDArray[np.float64]
BandKind = Literal["saccade", "saccade begun", "blink", "loss"]


@dataclass(frozen=True)
class Band:
    """A stretch of time to shade; without an end it goes on."""

    kind: BandKind
    onset_us: int
    offset_us: int | None


class Bands:
    """The shaded stretches of the last seconds."""

    def __init__(self) -> None:
        self._bands: deque[Band] = deque(maxlen=MOST_BANDS)
        self.revision = 0

    def clear(self) -> None:
        """Forget everything."""
        self._bands.clear()
        self.revision += 1

    def begin(self, onset: SaccadeOnset) -> None:
        """Shade from the onset of a saccade that is under way."""
        self._put(Band("saccade begun", onset.onset_us, None))

    def add_saccade(self, saccade: Saccade) -> None:
        """Shade a saccade in place of its beginning."""
        self._put(Band("saccade", saccade.onset_us, saccade.offset_us))

    def add_blink(self, blink: Blink) -> None:
        """Shade a blink or another loss."""
        self._put(Band(blink.cause, blink.onset_us, blink.offset_us))

    def retract(self, onset_us: int) -> None:
        """Take away the saccade that began then."""
        self._keep(band for band in self._bands if not _is_saccade(band, onset_us))

    def settle(self, settled: IntervalSettled) -> None:
        """Shade what was found in a whole interval, in place of what was found on the way."""
        self._keep(
            band
            for band in self._bands
            if not (band.offset_us is None or _inside(band.onset_us, settled))
        )
        for saccade in settled.saccades:
            self.add_saccade(saccade)
        for blink in settled.blinks:
            self.add_blink(blink)

    def between(self, from_us: int, to_us: int) -> list[Band]:
        """Return the stretches that touch a window, those that are under way up to its end."""
        found = []
        for band in self._bands:
            if band.offset_us is None and to_us - band.onset_us > LONGEST_OPEN_US:
                continue
            end_us = to_us if band.offset_us is None else band.offset_us
            if band.onset_us <= to_us and end_us >= from_us:
                found.append(Band(band.kind, band.onset_us, end_us))
        return found

    def _put(self, band: Band) -> None:
        """Add a stretch; a saccade ends whichever is under way (its onset may have moved)."""
        if _is_saccade(band, band.onset_us):
            self._keep(
                old
                for old in self._bands
                if old.offset_us is not None and not _is_saccade(old, band.onset_us)
            )
        self._bands.append(band)
        self.revision += 1

    def _keep(self, bands: Iterable[Band]) -> None:
        self._bands = deque(list(bands), MOST_BANDS)
        self.revision += 1


def _inside(onset_us: int, settled: IntervalSettled) -> bool:
    return settled.start_us <= onset_us < settled.end_us


def _is_saccade(band: Band, onset_us: int) -> bool:
    return band.kind in ("saccade", "saccade begun") and band.onset_us == onset_us


@dataclass(frozen=True)
class MainSequencePoints:
    """The saccades as points."""

    amplitude_deg: Floats
    peak_velocity_deg_s: Floats
    current: npt.NDArray[np.bool_]
    """True for those of the image that is being looked at."""


class MainSequenceRecord:
    """Peak velocity against amplitude of this run's saccades."""

    def __init__(self) -> None:
        self._points: deque[tuple[int, float, float]] = deque(maxlen=MOST_POINTS)
        """Onset, amplitude and velocity."""
        self._preliminary: set[int] = set()
        """Onsets of what has not been settled yet."""
        self._current_from_us = 0
        self.revision = 0

    def clear(self) -> None:
        """Forget everything."""
        self._points.clear()
        self._preliminary.clear()
        self.revision += 1

    def begin_image(self, tracker_time_us: int) -> None:
        """Say that saccades from now on belong to a new image."""
        self._current_from_us = tracker_time_us
        self.revision += 1

    def add(self, saccade: Saccade) -> None:
        """Add a saccade that is not settled yet; the same again takes its place."""
        if self._put(saccade):
            self._preliminary.add(saccade.onset_us)
        if len(self._preliminary) > 2 * MOST_POINTS:
            self._preliminary &= {point[0] for point in self._points}

    def _put(self, saccade: Saccade) -> bool:
        amplitude = float(
            np.hypot(
                saccade.end_x_deg - saccade.start_x_deg, saccade.end_y_deg - saccade.start_y_deg
            )
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
        """Take a saccade away."""
        self._points = deque((p for p in self._points if p[0] != onset_us), MOST_POINTS)
        self.revision += 1

    def settle(self, settled: IntervalSettled) -> None:
        """Take the saccades of a whole interval in place of those that came on the way.

        What came before the image, or after it, was preliminary too and never settles.
        """
        past = {onset_us for onset_us in self._preliminary if onset_us < settled.end_us}
        self._preliminary -= past
        kept = (p for p in self._points if p[0] not in past and not _inside(p[0], settled))
        self._points = deque(kept, MOST_POINTS)
        for saccade in settled.saccades:
            self._put(saccade)
        self.revision += 1

    def points(self) -> MainSequencePoints:
        """Return all points."""
        table = np.array(self._points, np.float64).reshape(-1, 3)
        return MainSequencePoints(table[:, 1], table[:, 2], table[:, 0] >= self._current_from_us)


def usable_band(model: ModelLoaded | None) -> MainSequence | None:
    """Return the population's band, unless there is none or it cannot be drawn."""
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
    """Return the fraction of points inside the population's band, of those where there is one."""
    amplitude = np.asarray(band.amplitude_deg)
    covered = (points.amplitude_deg >= amplitude[0]) & (points.amplitude_deg <= amplitude[-1])
    if not covered.any():
        return None
    at = np.log(points.amplitude_deg[covered])
    low = np.interp(at, np.log(amplitude), band.low_deg_s)
    high = np.interp(at, np.log(amplitude), band.high_deg_s)
    velocity = points.peak_velocity_deg_s[covered]
    return float(np.mean((velocity >= low) & (velocity <= high)))
