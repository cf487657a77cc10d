"""Running saccades: the evidence of an interval that has not ended.

The live pipeline makes them while samples arrive, offline analysis makes them from a recording, and
both get the same running posteriors. Each saccade comes with the fixations since the one before and
with the late column of the one before, whatever chunks the samples arrived in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gazelive.analysis.grid import Gaze
from gazelive.analysis.live import LiveGaze
from gazelive.analysis.recording import Analysis, recorded_gaze
from gazelive.detection import DetectorParameters
from gazelive.features import LATE_COLUMN, Column, Rows, SaccadeRow, Scanpath, scanpath_row
from gazelive.gaze import Fixation
from gazelive.recordings import calibrations_before

Place = tuple[float, float, float]
"""x and y of a fixation in degrees, and its duration in seconds."""


@dataclass(frozen=True, eq=False)
class RunningSaccade:
    """A saccade of an open interval, with the fixations and late column known since the last."""

    row: Rows
    """Its late column is masked: whether it is known yet depends on the chunk."""
    completed: Rows | None
    """The row of the saccade before, now with its late column; None for the first."""
    fixations: tuple[Place, ...]
    """Fixations that ended since the saccade before."""
    seconds: float
    """Since the interval began."""


class RunningInterval:
    """Turns the events of one interval into running saccades."""

    def __init__(self, start_us: int, sampling_rate_hz: float) -> None:
        self._start_us = start_us
        self._rate_hz = sampling_rate_hz
        self._fixations: list[Fixation] = []
        self._n_saccades = 0
        self._last: tuple[SaccadeRow, Rows] | None = None

    def add_fixation(self, fixation: Fixation) -> None:
        """Take a fixation that has ended."""
        self._fixations.append(fixation)

    def add_saccade(self, row: SaccadeRow) -> RunningSaccade:
        """Take a saccade that can no longer be retracted."""
        saccade, sample_s = row.saccade, 1 / self._rate_hz
        ended = [f for f in self._fixations if f.offset_us < saccade.onset_us]
        self._fixations = [f for f in self._fixations if f.offset_us >= saccade.onset_us]
        before, completed = None, None
        if self._last is not None:
            before, completed = self._last
            completed[LATE_COLUMN] = row.previous_fixation_ms / 1000
        numbers = scanpath_row(
            row, before, ordinal=self._n_saccades, sampling_rate_hz=self._rate_hz
        )
        self._last = row, numbers.copy()
        self._n_saccades += 1
        return RunningSaccade(
            numbers,
            completed,
            tuple((f.x_deg, f.y_deg, (f.offset_us - f.onset_us) / 1e6 + sample_s) for f in ended),
            (saccade.offset_us - self._start_us) / 1e6 + sample_s,
        )


def running_saccades(analysis: Analysis) -> tuple[tuple[RunningSaccade, ...], ...]:
    """Return the running saccades of each interval of a recording, as the engine has them."""
    parameters = analysis.parameters
    live, learned_with, found = None, None, []
    for interval in (one.interval for one in analysis.intervals):
        geometry = analysis.geometries[interval.block]
        gaze = recorded_gaze(analysis.recording, interval, geometry, analysis.eye)
        eyes = "".join(sorted(gaze.eyes))
        n_calibrations = calibrations_before(analysis.recording, interval.start_us)
        conditions = gaze.sampling_rate_hz, eyes, n_calibrations
        if live is None or learned_with != conditions:
            live = LiveGaze(
                gaze.sampling_rate_hz,
                eyes,
                parameters if isinstance(parameters, DetectorParameters) else None,
            )
            learned_with = conditions
        found.append(_running_saccades(live, gaze))
    return tuple(found)


def _running_saccades(live: LiveGaze, gaze: Gaze) -> tuple[RunningSaccade, ...]:
    recorded = slice(None) if gaze.recorded is None else gaze.recorded
    times_us = gaze.times_us[recorded]
    if not len(times_us):
        return ()
    interval = RunningInterval(int(times_us[0]), gaze.sampling_rate_hz)
    found = live.push(
        times_us, {eye: (x[recorded], y[recorded]) for eye, (x, y) in gaze.eyes.items()}
    )
    live.flush()
    for output in found.outputs:
        if isinstance(output, Fixation):
            interval.add_fixation(output)
    return tuple(interval.add_saccade(row) for row in found.rows)


def running_of_fixations(path: Scanpath) -> Iterator[RunningSaccade]:
    """Yield the running saccades of a scanpath made of fixations alone."""
    completed = None
    for fixation, row in zip(path.fixations.tolist(), path.saccades, strict=False):
        known = row.copy()
        known[LATE_COLUMN] = np.nan
        x_deg, y_deg, duration_s = fixation
        yield RunningSaccade(
            known, completed, ((x_deg, y_deg, duration_s),), float(row[Column.ONSET_S])
        )
        completed = row
