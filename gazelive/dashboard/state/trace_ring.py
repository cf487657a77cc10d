"""Ring buffer of the last seconds of gaze, thinned to what a screen can show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazelive.errors import TransportError
from gazelive.gaze import GAP_INTERVALS, Floats, GazeTrace, Integers, SingleFloats

KEPT_S = 12.0
MOST_SAMPLES = 240_000
"""Limit for any sampling rate."""
CHANNELS = ("x_deg", "y_deg", "speed_deg_s")


@dataclass(frozen=True)
class TraceWindow:
    """Curves over the last seconds; NaN breaks a line."""

    times_s: Floats
    """Seconds before the newest sample, so at most 0."""
    x_deg: SingleFloats
    y_deg: SingleFloats
    speed_deg_s: SingleFloats


class TraceRing:
    """Samples of the last `KEPT_S` seconds.

    The arrays are twice as long as what is kept: new samples are appended, and when the array is
    full its newer half moves to the front. The kept samples are always one slice.
    """

    def __init__(self) -> None:
        self._length = 0
        self._interval_us = 0.0
        self._times_us = np.empty(0, np.int64)
        self._values = np.empty((len(CHANNELS), 0), np.float32)
        self._end = 0
        self.revision = 0

    def __len__(self) -> int:
        return min(self._end, self._length)

    @property
    def newest_us(self) -> int | None:
        """Time of the last sample; None without samples."""
        return int(self._times_us[self._end - 1]) if self._end else None

    def clear(self) -> None:
        """Remove all samples."""
        self._end = 0
        self.revision += 1

    def append(self, trace: GazeTrace) -> None:
        """Append the samples of a document; if time runs backwards, start over."""
        sizes = {len(getattr(trace, name)) for name in CHANNELS}
        if len(sizes) != 1 or sizes.pop() % 4 or not 0 < trace.interval_us < 1e6:
            raise TransportError("invalid gaze trace: its channels or times do not match")
        values = np.stack([np.frombuffer(getattr(trace, name), "<f4") for name in CHANNELS])
        n = values.shape[1]
        if not n:
            return
        self._make_room_for(trace.interval_us)
        newest_us = self.newest_us
        if newest_us is not None:
            if trace.first_us <= newest_us:
                self.clear()
            elif trace.first_us - newest_us > GAP_INTERVALS * trace.interval_us:
                self._add(np.array([newest_us + 1]), np.full((len(CHANNELS), 1), np.nan))
        times_us = trace.first_us + np.rint(np.arange(n) * trace.interval_us).astype(np.int64)
        self._add(times_us[-self._length :], values[:, -self._length :])
        self.revision += 1

    def newest(self, seconds: float) -> tuple[Integers, SingleFloats]:
        """Return times (µs, shape (n,)) and values (shape (channels, n)) of the last seconds."""
        kept = slice(max(self._end - self._length, 0), self._end)
        times_us = self._times_us[kept]
        if not len(times_us):
            return times_us, self._values[:, kept]
        first = int(np.searchsorted(times_us, times_us[-1] - round(1e6 * seconds)))
        return times_us[first:], self._values[:, kept][:, first:]

    def window(self, seconds: float, columns: int) -> TraceWindow:
        """Return the last seconds with at most about two points per column of the screen.

        Each column shows its lowest and highest value, which keeps every peak. Columns are cut in
        the stream's own time, so curves do not flicker as they move.
        """
        times_us, values = self.newest(seconds)
        if not len(times_us):
            return TraceWindow(np.empty(0), *np.empty((3, 0), np.float32))
        newest_us = int(times_us[-1])
        if len(times_us) > 4 * max(columns, 1):
            times_us, values = _thinned(times_us, values, round(1e6 * seconds / max(columns, 1)))
        return TraceWindow((times_us - newest_us) / 1e6, *values)

    def _make_room_for(self, interval_us: float) -> None:
        length = min(round(KEPT_S * 1e6 / interval_us), MOST_SAMPLES)
        if length != self._length:
            self._length = length
            self._times_us = np.empty(2 * length, np.int64)
            self._values = np.empty((len(CHANNELS), 2 * length), np.float32)
            self._end = 0

    def _add(self, times_us: Integers, values: SingleFloats | Floats) -> None:
        n = len(times_us)
        if self._end + n > len(self._times_us):
            kept = min(self._end, self._length - n)
            self._times_us[:kept] = self._times_us[self._end - kept : self._end]
            self._values[:, :kept] = self._values[:, self._end - kept : self._end]
            self._end = kept
        self._times_us[self._end : self._end + n] = times_us
        self._values[:, self._end : self._end + n] = values
        self._end += n


def _thinned(
    times_us: Integers, values: SingleFloats, column_us: int
) -> tuple[Integers, SingleFloats]:
    """Return the lowest and highest value of each column; NaN where there are no values."""
    columns = times_us // column_us
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1))
    low = np.fmin.reduceat(values, starts, axis=1)
    high = np.fmax.reduceat(values, starts, axis=1)
    falls = values[:, starts] > values[:, np.append(starts[1:], len(times_us)) - 1]
    thin = np.empty((len(values), 2 * len(starts)), np.float32)
    thin[:, 0::2] = np.where(falls, high, low)
    thin[:, 1::2] = np.where(falls, low, high)
    thin_us = np.repeat(times_us[starts], 2)
    absent = 2 * (np.flatnonzero(np.diff(columns[starts]) > 1) + 1)
    if len(absent):
        thin = np.insert(thin, absent, np.nan, axis=1)
        thin_us = np.insert(thin_us, absent, thin_us[absent - 1])
    return thin_us, thin
