"""Steps: what a chunk adds, in degrees, and what the detector knows after each sample.

The rules of time order, eyes, degrees and gaps are those of the engine (`analysis/grid.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gazelive.analysis import EyeChoice, TimeOrder, choose_eyes, eye_positions_deg
from gazelive.detection import (
    CyclopeanGaze,
    DetectorOutput,
    DetectorParameters,
    Trace,
    TracedDetector,
)
from gazelive.gaze import Chunk, EventEye, Flags, Floats, Geometry, Integers, StreamDescription
from gazelive.recordings import FoundGeometry, interpret
from gazelive.triggers.trigger import GazePoint

NAN = float("nan")


@dataclass(frozen=True)
class Seen:
    """A sample with gaze."""

    time_us: int
    x_deg: float
    y_deg: float

    def point(self, screen: Geometry | None) -> GazePoint:
        """Return it in degrees and pixels."""
        x_px, y_px = (NAN, NAN) if screen is None else screen.deg_to_px(self.x_deg, self.y_deg)
        return GazePoint(self.x_deg, self.y_deg, float(x_px), float(y_px), self.time_us)


@dataclass(frozen=True, eq=False)
class Step:
    """The samples of a chunk that are in order, at least one."""

    times_us: Integers
    x_deg: Floats
    y_deg: Floats
    trace: Trace
    outputs: list[DetectorOutput]
    screen: Geometry | None
    sampling_rate_hz: float
    before_us: int
    """Time of the sample before."""
    n_movements_before: int
    seen_before: Seen | None
    """The last sample with gaze before the step."""

    @cached_property
    def seen(self) -> Flags:
        """Samples with gaze."""
        seen: Flags = np.isfinite(self.x_deg) & np.isfinite(self.y_deg)
        return seen

    @cached_property
    def px(self) -> tuple[Floats, Floats]:
        """Gaze in pixels; NaN where the screen is not known."""
        if self.screen is None:
            return np.full(len(self.x_deg), NAN), np.full(len(self.y_deg), NAN)
        return self.screen.deg_to_px(self.x_deg, self.y_deg)

    def last_seen(self, index: int) -> Seen | None:
        """Return the last sample with gaze up to `index`."""
        for i in range(index, -1, -1):
            x_deg, y_deg = float(self.x_deg[i]), float(self.y_deg[i])
            if math.isfinite(x_deg) and math.isfinite(y_deg):
                return Seen(int(self.times_us[i]), x_deg, y_deg)
        return self.seen_before

    def index_at(self, time_us: int) -> int:
        """Return the index of the sample at a time, or of the first one after it."""
        return min(int(np.searchsorted(self.times_us, time_us)), len(self.times_us) - 1)

    def time_before_us(self, index: int) -> int:
        """Return the time of the sample before `index`."""
        return int(self.times_us[index - 1]) if index else self.before_us


class Stretch:
    """Turns the chunks of one recording block into steps.

    The noise that the detector has learned outlasts a block of the same rate and eyes, and ends
    with a calibration.
    """

    def __init__(
        self,
        number: int,
        stream: StreamDescription,
        screen: Geometry | None,
        parameters: DetectorParameters,
        eye: EyeChoice | None,
        before: Stretch | None,
    ) -> None:
        self.number = number
        self._stream = stream
        self._rate_hz = stream.sampling_rate_hz
        self._eyes = choose_eyes(stream.eyes, eye) or stream.eyes
        self._geometry = FoundGeometry(screen, "flags")
        self._order = TimeOrder(self._rate_hz)
        both = self._eyes == "LR"
        self._cyclopean = CyclopeanGaze(self._rate_hz) if both else None
        event_eye: EventEye = "both" if both else "L" if self._eyes == "L" else "R"
        self._detector = TracedDetector(parameters, self._rate_hz, eye=event_eye)
        if before is not None and (before._rate_hz, before._eyes) == (self._rate_hz, self._eyes):
            self._detector.take_noise_of(before._detector)
        self.newest: Seen | None = None
        """The newest sample, if it has gaze."""
        self._last_seen: Seen | None = None
        self._before_us = -1

    def take(self, chunk: Chunk) -> tuple[Step | None, bool]:
        """Return what a chunk adds, if anything, and whether gaze starts anew before it."""
        for message in chunk.messages:
            if message.text.startswith("!CAL") and any(
                result.kind == "calibration" for result in interpret([message]).calibrations
            ):
                self._detector.reset()
        if not len(chunk.samples):
            return None, False
        accepted = self._order.take(chunk.samples["tracker_time_us"])
        if accepted.was_set_back:
            self._start_anew()
        kept = chunk.samples if accepted.kept is None else chunk.samples[accepted.kept]
        if not len(kept):
            return None, accepted.was_set_back
        times_us = np.ascontiguousarray(kept["tracker_time_us"])
        positions = eye_positions_deg(kept, self._stream, self._eyes, self._geometry)
        if self._cyclopean is None:
            ((x_deg, y_deg),) = positions.values()
        else:
            x_deg, y_deg = self._cyclopean.push(*positions["L"], *positions["R"], times_us=times_us)
        n_movements = self._detector.n_movements
        outputs, trace = self._detector.trace(times_us, x_deg, y_deg)
        step = Step(
            times_us=times_us,
            x_deg=x_deg,
            y_deg=y_deg,
            trace=trace,
            outputs=outputs,
            screen=self._geometry.geometry,
            sampling_rate_hz=self._rate_hz,
            before_us=self._before_us,
            n_movements_before=n_movements,
            seen_before=self._last_seen,
        )
        self._last_seen = step.last_seen(len(times_us) - 1)
        self._before_us = int(times_us[-1])
        is_seen = self._last_seen is not None and self._last_seen.time_us == self._before_us
        self.newest = self._last_seen if is_seen else None
        return step, accepted.was_set_back

    def _start_anew(self) -> None:
        self._detector.flush()
        if self._cyclopean is not None:
            self._cyclopean.reset()
        self._last_seen, self._before_us = None, -1
