"""Even gaze from samples: time order, gaps, degrees and the choice of the eye.

The live pipeline and offline analysis both prepare samples here, each rule written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gazelive.detection import EyeTrace, cyclopean
from gazelive.gaze import (
    EYE_FIELDS,
    LONGEST_FILLED_S,
    EventEye,
    Eyes,
    Flags,
    Floats,
    Integers,
    Samples,
    StreamDescription,
    each_eye,
    find_gaps,
    longest_step_us,
    missing_samples,
    step_range,
)
from gazelive.recordings import FoundGeometry, ViewingInterval, positions_deg

EyeChoice = Literal["L", "R", "both"]
Positions = tuple[Floats, Floats]
"""x and y in degrees, y downwards, NaN where lost; shapes (n,)."""

LONGEST_STEP_S = 10.0
"""Within a block, a longer step forward counts only once the next sample confirms it."""
PATIENCE_S = 0.5
"""After this long in order behind the newest time, the clock was set back."""


# the eye


def choose_eyes(recorded: Eyes, choice: EyeChoice | None) -> Eyes | None:
    """Return the eyes to analyse; None where the chosen ones were not recorded."""
    wanted: Eyes = recorded if choice is None else "LR" if choice == "both" else choice
    return wanted if set(wanted) <= set(recorded) else None


# degrees


def eye_positions_deg(
    samples: Samples, stream: StreamDescription, eyes: str, geometry: FoundGeometry
) -> dict[EventEye, Positions]:
    """Return the positions of each of the `eyes` in degrees."""
    chosen = each_eye(eyes)
    # both at once: live, a chunk has few samples, and the calls are what takes time
    x, y = (np.concatenate([samples[EYE_FIELDS[eye][axis]] for eye in chosen]) for axis in (0, 1))
    x_deg, y_deg = positions_deg(x, y, stream.coordinates, geometry)
    n = len(samples)
    return {
        eye: (x_deg[k * n : (k + 1) * n], y_deg[k * n : (k + 1) * n])
        for k, eye in enumerate(chosen)
    }


# gaps


@dataclass(frozen=True)
class Gaze:
    """Gaze at even times: lost samples stand where samples are missing."""

    times_us: Integers
    eyes: dict[EventEye, Positions]
    """`L` or `R`, or both."""
    sampling_rate_hz: float
    recorded: Flags | None = None
    """Mask of recorded samples (None: all); the others fill gaps."""
    pupils: dict[EventEye, Floats] = field(default_factory=dict)
    """Pupil sizes of the eyes, if they are known."""

    @property
    def traces(self) -> tuple[EyeTrace, ...]:
        """Each eye by itself."""
        return tuple(EyeTrace(x, y, self.pupils.get(eye)) for eye, (x, y) in self.eyes.items())

    @property
    def eye(self) -> EventEye:
        """The eye that `positions` belong to."""
        return "both" if len(self.eyes) > 1 else next(iter(self.eyes))

    @property
    def positions(self) -> Positions:
        """The gaze of one eye, or the cyclopean gaze of two."""
        if len(self.eyes) == 1:
            return next(iter(self.eyes.values()))
        return cyclopean(*self.eyes["L"], *self.eyes["R"], self.sampling_rate_hz)


def interval_gaze(
    samples: Samples,
    stream: StreamDescription,
    eyes: str,
    geometry: FoundGeometry,
    interval: ViewingInterval,
) -> Gaze:
    """Return the gaze of a viewing interval in degrees at even times.

    `samples` are those of its block, in the order of time.
    """
    start, stop = np.searchsorted(samples["tracker_time_us"], [interval.start_us, interval.end_us])
    viewed = samples[start:stop]
    positions = eye_positions_deg(viewed, stream, eyes, geometry)
    pupils: dict[EventEye, Floats] = {
        eye: viewed[EYE_FIELDS[eye][2]].astype(np.float64) for eye in each_eye(eyes)
    }
    return even_gaze(viewed["tracker_time_us"], positions, stream.sampling_rate_hz, pupils)


def even_gaze(
    times_us: Integers,
    eyes: dict[EventEye, Positions],
    sampling_rate_hz: float,
    pupils: dict[EventEye, Floats] | None = None,
) -> Gaze:
    """Fill the gaps of a whole stretch, after which index and time correspond."""
    pupils = pupils or {}
    times_us = np.ascontiguousarray(times_us)
    columns = [column for positions in eyes.values() for column in positions]
    columns += pupils.values()
    filled_us, filled, recorded = fill_gaps(times_us, columns, sampling_rate_hz)
    n = 2 * len(eyes)
    pairs = zip(filled[:n:2], filled[1:n:2], strict=True)
    return Gaze(
        filled_us,
        dict(zip(eyes, pairs, strict=True)),
        sampling_rate_hz,
        recorded,
        dict(zip(pupils, filled[n:], strict=True)),
    )


def has_gap(times_us: Integers, sampling_rate_hz: float, before_us: int | None = None) -> bool:
    """Return whether `find_gaps` finds any; much faster for the few samples of a chunk."""
    longest_us = longest_step_us(sampling_rate_hz)
    if before_us is not None and len(times_us) and times_us[0] - before_us > longest_us:
        return True
    return step_range(times_us)[1] > longest_us


def fill_gaps(
    times_us: Integers,
    columns: Sequence[Floats],
    sampling_rate_hz: float,
    before_us: int | None = None,
) -> tuple[Integers, Sequence[Floats], Flags | None]:
    """Return times and columns (n,) with lost samples in the gaps, and which were recorded.

    Times increase; `before_us` is the time of the sample before them, if there is one. Lost
    samples come at the nominal interval, as in the online detector. A gap longer than
    `LONGEST_FILLED_S` is filled at its beginning, plus one sample right before its end. Without
    a gap the arrays are returned as they are, and None: all were recorded.
    """
    if not has_gap(times_us, sampling_rate_hz, before_us):
        return times_us, columns, None
    gaps = find_gaps(times_us, sampling_rate_hz, before_us)
    interval_us = 1e6 / sampling_rate_hz
    most = round(LONGEST_FILLED_S * sampling_rate_hz)
    offsets_us = np.rint(np.arange(1, most + 1) * interval_us).astype(np.int64)
    filled_us = []
    for gap in gaps.tolist():
        end_us = int(times_us[gap])
        start_us = int(times_us[gap - 1]) if gap or before_us is None else before_us
        n_missing = missing_samples(end_us - start_us, sampling_rate_hz)
        filled = start_us + offsets_us[:n_missing]
        if n_missing > most:
            filled = np.append(filled, end_us - round(interval_us))
        filled_us.append(filled)
    at = np.repeat(gaps, [len(filled) for filled in filled_us])
    return (
        np.insert(times_us, at, np.concatenate(filled_us)),
        [np.insert(column, at, np.nan) for column in columns],
        np.insert(np.ones(len(times_us), bool), at, False),
    )


# time order


@dataclass(frozen=True)
class Accepted:
    """Samples of a chunk that are in time order, and problems of the others."""

    kept: Flags | None = None
    """Mask of the samples that are kept; None: all."""
    n_duplicate: int = 0
    n_backward: int = 0
    was_set_back: bool = False


class TimeOrder:
    """Leaves out samples of a live block whose times do not increase, and counts them.

    Offline all times of a block are known, and `gaze.time_order` leaves out as few samples as
    possible. Live only the past is known: a sample must be later than the one before. Two faults
    would then lock out everything that follows, and are recognised: a single time far in the
    future, and a clock that was set back for good.
    """

    def __init__(self, sampling_rate_hz: float) -> None:
        self._longest_us = round(LONGEST_STEP_S * 1e6)
        self._patience = max(2, round(PATIENCE_S * sampling_rate_hz))
        self.newest_us: int | None = None
        self._far_us: int | None = None
        """A time far ahead, not yet confirmed."""
        self._behind_us = 0
        self._n_behind = 0
        """Number of consecutive samples older than the newest, and the time of the last one."""

    def take(self, times_us: Integers) -> Accepted:
        """Return which of the next samples to keep."""
        if not len(times_us) or self._all_go_on(times_us):
            return Accepted()
        return self._take_one_by_one(times_us.tolist())

    def _all_go_on(self, times_us: Integers) -> bool:
        first_step = 1 if self.newest_us is None else times_us[0] - self.newest_us
        if not 0 < first_step <= self._longest_us:
            return False
        smallest_us, largest_us = step_range(times_us)
        if smallest_us <= 0 or largest_us > self._longest_us:
            return False
        self.newest_us = int(times_us[-1])
        self._n_behind, self._far_us = 0, None
        return True

    def _take_one_by_one(self, times_us: list[int]) -> Accepted:
        kept = np.zeros(len(times_us), bool)
        n_duplicate = n_backward = 0
        was_set_back = False
        for i, time_us in enumerate(times_us):
            step_us = 1 if self.newest_us is None else time_us - self.newest_us
            if step_us <= 0:
                n_duplicate += step_us == 0
                n_backward += step_us < 0
                if not self._is_set_back(time_us):
                    continue
                was_set_back = True
                kept[:i] = False  # from before the clock was set back
            elif step_us > self._longest_us and not self._is_confirmed(time_us):
                n_backward += 1
                continue
            kept[i] = True
            self.newest_us = time_us
            self._n_behind, self._far_us = 0, None
        return Accepted(kept, n_duplicate, n_backward, was_set_back)

    def _is_set_back(self, time_us: int) -> bool:
        goes_on = self._n_behind and time_us > self._behind_us
        self._n_behind = self._n_behind + 1 if goes_on else 1
        self._behind_us = time_us
        return self._n_behind >= self._patience

    def _is_confirmed(self, time_us: int) -> bool:
        far_us, self._far_us = self._far_us, time_us
        return far_us is not None and 0 < time_us - far_us <= self._longest_us
