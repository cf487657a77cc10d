"""An interval while it runs: what is known of each saccade once nothing disproves it any more.

The engine makes these as samples come, offline analysis makes them of a recording; so both say the
same of a person while they look. Fixations and the late column of the saccade before are known
together with a saccade, not when a chunk happened to hold them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gazelive.detection import DetectorParameters
from gazelive.features.gaze_watch import GazeWatch
from gazelive.features.interval import Gaze, Parameters, Positions
from gazelive.features.scanpath import LATE_COLUMN, Column, Rows, Scanpath, scanpath_row
from gazelive.features.stream import SaccadeRow
from gazelive.gaze.events import EventEye, Fixation, Saccade

Place = tuple[float, float, float]
"""x and y of a fixation in degrees, and its duration in seconds."""


@dataclass(frozen=True, eq=False)
class RunningSaccade:
    """A saccade of an open interval, and what else is known by then and was not before."""

    row: Rows
    """Its late column is masked: it may be known by now, or not; that depends on the chunk."""
    completed: Rows | None
    """The row of the saccade before, now with its late column; None for the first."""
    fixations: tuple[Place, ...]
    """Those that ended since the saccade before."""
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

    def add_saccade(self, row: SaccadeRow, saccade: Saccade) -> RunningSaccade:
        """Take a saccade that nothing disproves any more."""
        sample_s = 1 / self._rate_hz
        ended = [f for f in self._fixations if f.offset_us < saccade.onset_us]
        self._fixations = [f for f in self._fixations if f.offset_us >= saccade.onset_us]
        before, completed = None, None
        if self._last is not None:
            before, completed = self._last
            completed[LATE_COLUMN] = row.previous_fixation_ms / 1000
        numbers = scanpath_row(
            row,
            before,
            ordinal=self._n_saccades,
            sampling_rate_hz=self._rate_hz,
            near_loss=saccade.near_loss,
        )
        numbers[LATE_COLUMN] = np.nan
        self._last = row, numbers.copy()
        self._n_saccades += 1
        return RunningSaccade(
            numbers,
            completed,
            tuple((f.x_deg, f.y_deg, (f.offset_us - f.onset_us) / 1e6 + sample_s) for f in ended),
            (saccade.offset_us - self._start_us) / 1e6 + sample_s,
        )


class RunningGaze:
    """Watches whole intervals of a recording as the engine does, one after the other.

    What was learned of the noise is kept from one interval to the next, until `forget`.
    """

    def __init__(self, parameters: Parameters | None) -> None:
        self._parameters = parameters if isinstance(parameters, DetectorParameters) else None
        self._watched: tuple[float, str] | None = None

    def forget(self) -> None:
        """Forget what the noise was."""
        self._watched = None

    def saccades(self, gaze: Gaze) -> list[RunningSaccade]:
        """Return what is known of the saccades of an interval, each when it became certain."""
        eyes = "".join(sorted(gaze.eyes))
        if self._watched != (gaze.sampling_rate_hz, eyes):
            self._watched = gaze.sampling_rate_hz, eyes
            self._watch = GazeWatch(gaze.sampling_rate_hz, eyes, self._parameters)
        came = slice(None) if gaze.recorded is None else gaze.recorded
        times_us = gaze.times_us[came]
        if not len(times_us):
            return []
        found: list[RunningSaccade] = []
        positions = {eye: (x[came], y[came]) for eye, (x, y) in gaze.eyes.items()}
        interval = RunningInterval(int(times_us[0]), gaze.sampling_rate_hz)
        # no more at once than a watch remembers
        step = max(1, round(gaze.sampling_rate_hz))
        for first in range(0, len(times_us), step):
            part = slice(first, first + step)
            some: dict[EventEye, Positions] = {
                eye: (x[part], y[part]) for eye, (x, y) in positions.items()
            }
            seen = self._watch.push(times_us[part], some)
            for output in seen.outputs:
                if isinstance(output, Fixation):
                    interval.add_fixation(output)
            found += [interval.add_saccade(row, saccade) for row, saccade in seen.rows]
        self._watch.flush()
        return found


def running_of_fixations(path: Scanpath) -> Iterator[RunningSaccade]:
    """Yield what would have been known of a scanpath that was made of fixations alone."""
    completed = None
    for fixation, row in zip(path.fixations.tolist(), path.saccades, strict=False):
        known = row.copy()
        known[LATE_COLUMN] = np.nan
        x_deg, y_deg, duration_s = fixation
        yield RunningSaccade(
            known, completed, ((x_deg, y_deg, duration_s),), float(row[Column.ONSET_S])
        )
        completed = row
