"""Events of an EyeLink's own parser for a simulated recording.

It reports an eye without an image as a blink, puts a saccade around each blink (the lid moves the
pupil's centre), reports everything between saccades as a fixation, and misses microsaccades. It
uses the true events, so its borders are better than those of the real parser.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gazelive.gaze import EYE_FIELDS, Eye, Geometry, Samples, TrackerEvent
from gazelive.simulation.truth import TrueBlink, TrueSaccade


@dataclass(frozen=True, slots=True)
class _Interval:
    """Samples from `first` to `last` outside fixations."""

    first: int
    last: int
    peak_velocity_deg_s: float | None
    blinks: tuple[tuple[int, int], ...] = ()
    """First and last lost sample of each."""


def parse_block(
    samples: Samples,
    eye: Eye,
    saccades: Iterable[TrueSaccade],
    blinks: Iterable[TrueBlink],
    geometry: Geometry,
) -> tuple[TrackerEvent, ...]:
    """Return the events of one eye in one block, each with its first and last sample's time.

    Events of the other eye and outside the block are omitted; those across its ends are cut.
    """
    view = _EyeView(samples, eye, geometry)
    intervals = [
        *(
            _Interval(first, last, saccade.peak_velocity_deg_s)
            for saccade in saccades
            if saccade.eye == eye and saccade.kind != "microsaccade"
            for first, last in view.inside(saccade.onset_us, saccade.offset_us)
        ),
        *(
            _Interval(
                first, last, None, tuple(view.inside(blink.loss_onset_us, blink.loss_offset_us))
            )
            for blink in blinks
            if blink.eye == eye
            for first, last in view.inside(blink.onset_us, blink.offset_us)
        ),
    ]
    events: list[TrackerEvent] = []
    free = 0
    for interval in _merged(intervals):
        if interval.first > free:
            events.append(view.fixation(free, interval.first - 1))
        events.extend(view.blink(first, last) for first, last in interval.blinks)
        events.append(view.saccade(interval))
        free = interval.last + 1
    if free < len(samples):
        events.append(view.fixation(free, len(samples) - 1))
    return tuple(events)


def _merged(intervals: Sequence[_Interval]) -> list[_Interval]:
    """Return the intervals in order, adjacent ones merged."""
    merged: list[_Interval] = []
    for interval in sorted(intervals, key=lambda each: (each.first, each.last)):
        if not merged or interval.first > merged[-1].last + 1:
            merged.append(interval)
            continue
        before = merged[-1]
        peaks = [p for p in (before.peak_velocity_deg_s, interval.peak_velocity_deg_s) if p]
        merged[-1] = _Interval(
            before.first,
            max(before.last, interval.last),
            max(peaks, default=None),
            before.blinks + interval.blinks,
        )
    return merged


class _EyeView:
    """One eye's samples in a block, with running sums for the means of fixations."""

    def __init__(self, samples: Samples, eye: Eye, geometry: Geometry) -> None:
        self._eye: Eye = eye
        self._geometry = geometry
        self._times_us = samples["tracker_time_us"]
        self._columns = [samples[field].astype(np.float64) for field in EYE_FIELDS[eye]]
        x, y, _ = self._columns
        seen = np.isfinite(x) & np.isfinite(y)
        self._n_seen = np.append(0, np.cumsum(seen))
        self._sums = [np.append(0.0, np.cumsum(np.where(seen, c, 0.0))) for c in self._columns]

    def inside(self, onset_us: float, offset_us: float) -> list[tuple[int, int]]:
        """Return first and last sample within a time; an empty list if there is none."""
        first = int(np.searchsorted(self._times_us, onset_us, side="left"))
        last = int(np.searchsorted(self._times_us, offset_us, side="right")) - 1
        return [(first, last)] if first <= last else []

    def fixation(self, first: int, last: int) -> TrackerEvent:
        """Return the fixation over these samples."""
        n_seen = int(self._n_seen[last + 1] - self._n_seen[first])
        means: list[float | None] = [
            float(sums[last + 1] - sums[first]) / n_seen if n_seen else None for sums in self._sums
        ]
        return TrackerEvent(
            kind="fixation",
            eye=self._eye,
            start_us=int(self._times_us[first]),
            end_us=int(self._times_us[last]),
            mean_x=means[0],
            mean_y=means[1],
            mean_pupil=means[2],
        )

    def blink(self, first: int, last: int) -> TrackerEvent:
        """Return the blink over these samples."""
        return TrackerEvent(
            kind="blink",
            eye=self._eye,
            start_us=int(self._times_us[first]),
            end_us=int(self._times_us[last]),
        )

    def saccade(self, interval: _Interval) -> TrackerEvent:
        """Return the saccade over an interval; what was lost is None."""
        x, y, _ = self._columns
        ends = np.array([interval.first, interval.last])
        x_deg, y_deg = self._geometry.px_to_deg(x[ends], y[ends])
        start_x, end_x, start_y, end_y = (
            float(value) if np.isfinite(value) else None for value in (*x[ends], *y[ends])
        )
        amplitude = float(np.hypot(np.diff(x_deg), np.diff(y_deg))[0])
        return TrackerEvent(
            kind="saccade",
            eye=self._eye,
            start_us=int(self._times_us[interval.first]),
            end_us=int(self._times_us[interval.last]),
            start_x=start_x,
            start_y=start_y,
            end_x=end_x,
            end_y=end_y,
            amplitude_deg=amplitude if np.isfinite(amplitude) else None,
            peak_velocity_deg_s=interval.peak_velocity_deg_s,
        )
