"""Events and features while samples arrive: what `interval` says of a whole, said as it goes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.detection import DetectorOutput, DetectorParameters, OnlineDetector
from gazelive.detection.online_state import GAP_INTERVALS
from gazelive.features.ends import ends_of
from gazelive.features.interval import Gaze, even_gaze
from gazelive.features.stream import FeatureStream, Update
from gazelive.gaze.documents import Retraction
from gazelive.gaze.events import EventEye, Saccade
from gazelive.recordings.time_order_kernels import step_range

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


AT_ONCE_S = 0.2
"""Longer chunks are taken in parts, so that a saccade is told before its samples are forgotten."""


class LiveFeatures:
    """Watches one gaze (of an eye, or cyclopean), whatever chunks its samples come in.

    `push` returns what the detector says, and the rows of saccades at the stages they reach. A
    saccade that a loss disproves is retracted by the detector's document; its row is given up.
    """

    def __init__(
        self,
        sampling_rate_hz: float,
        parameters: DetectorParameters | None = None,
        *,
        eye: EventEye = "both",
    ) -> None:
        self._rate_hz = sampling_rate_hz
        self._eye: EventEye = eye
        self.detector = OnlineDetector(parameters, sampling_rate_hz, eye=eye)
        self._stream = FeatureStream(sampling_rate_hz)
        self._last_us: int | None = None
        self._most = max(1, round(AT_ONCE_S * sampling_rate_hz))

    def push(
        self, times_us: Integers, x_deg: Floats, y_deg: Floats
    ) -> tuple[list[DetectorOutput], list[Update]]:
        """Take samples in their order (degrees, y downwards, NaN where lost)."""
        outputs: list[DetectorOutput] = []
        updates: list[Update] = []
        for first in range(0, len(times_us), self._most):
            part = slice(first, first + self._most)
            found = self.detector.push(times_us[part], x_deg[part], y_deg[part])
            # what is disproved must not get any further, so it goes first
            disproved = {output.onset_us for output in found if isinstance(output, Retraction)}
            for onset_us in disproved:
                self._stream.retract_saccade(self._stream.index_at(onset_us))
            gaze = self._even(times_us[part], x_deg[part], y_deg[part])
            if len(gaze.times_us):
                updates += self._stream.add_samples(gaze.times_us, *gaze.positions)
            updates += self._add(found, disproved)
            outputs += found
        return outputs, updates

    def flush(self) -> tuple[list[DetectorOutput], list[Update]]:
        """End the stretch; thresholds stay as they were learned."""
        outputs = self.detector.flush()
        updates = self._add(outputs, set()) + self._stream.flush()
        self._stream.reset()
        self._last_us = None
        return outputs, updates

    def index_at(self, time_us: int) -> int:
        """Return the number in its stretch of a recent sample: a saccade's onset has its row's."""
        return self._stream.index_at(time_us)

    def _add(self, outputs: list[DetectorOutput], disproved: set[int]) -> list[Update]:
        updates: list[Update] = []
        for output in outputs:
            if isinstance(output, Saccade) and output.onset_us not in disproved:
                updates += self._stream.add_saccade(
                    self._stream.index_at(output.onset_us),
                    self._stream.index_at(output.offset_us),
                    ends_of(output),
                )
        return updates

    def _even(self, times_us: Integers, x_deg: Floats, y_deg: Floats) -> Gaze:
        """Leave out samples that do not go on in time, and fill the gaps, also the one before."""
        if self._goes_on(times_us):
            self._last_us = int(times_us[-1])
            return Gaze(times_us, {self._eye: (x_deg, y_deg)}, self._rate_hz)
        known = np.iinfo(np.int64).min if self._last_us is None else self._last_us
        newest = np.maximum.accumulate(np.concatenate(([known], times_us)))
        later = times_us > newest[:-1]
        times, x, y = times_us[later], x_deg[later], y_deg[later]
        if self._last_us is None or not len(times):
            gaze = even_gaze(times, {self._eye: (x, y)}, self._rate_hz)
        else:
            before = np.array([self._last_us], np.int64)
            lost = np.array([np.nan])
            whole = even_gaze(
                np.concatenate((before, times)),
                {self._eye: (np.concatenate((lost, x)), np.concatenate((lost, y)))},
                self._rate_hz,
            )
            whole_x, whole_y = whole.positions
            gaze = Gaze(whole.times_us[1:], {self._eye: (whole_x[1:], whole_y[1:])}, self._rate_hz)
        if len(times):
            self._last_us = int(times[-1])
        return gaze

    def _goes_on(self, times_us: Integers) -> bool:
        """Say whether samples follow one another without a gap, as they nearly always do."""
        if not len(times_us):
            return False
        longest_us = GAP_INTERVALS * 1e6 / self._rate_hz
        if self._last_us is not None and not 0 < times_us[0] - self._last_us <= longest_us:
            return False
        smallest_us, largest_us = step_range(times_us)
        return smallest_us > 0 and largest_us <= longest_us
