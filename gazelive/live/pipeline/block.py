"""Samples of a recording block that an interval may still need, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gazelive.analysis import Gaze, Positions, eye_positions_deg, interval_gaze
from gazelive.gaze import SAMPLE_DTYPE, EventEye, Samples, StreamDescription, in_order
from gazelive.recordings import FoundGeometry, ViewingInterval

LONGEST_INTERVAL_S = 1800.0
"""Longer intervals settle on this much of their beginning."""
LOOK_BACK_S = 2.0
"""Samples are kept this long for late messages."""
_WHOLE_SAMPLE = np.dtype(("V", SAMPLE_DTYPE.itemsize))
"""Copies whole samples; numpy copies field by field, twenty times slower."""


class SampleBuffer:
    """Samples in the order of arrival; grows at the end, is cut at the beginning."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._room: Samples = np.empty(min(most, 4096), SAMPLE_DTYPE)
        self._first = 0
        self._beyond = 0

    def __len__(self) -> int:
        return self._beyond - self._first

    @property
    def samples(self) -> Samples:
        """A view, good until the next change."""
        return self._room[self._first : self._beyond]

    def append(self, samples: Samples) -> bool:
        """Append as many samples as fit; return whether all did."""
        fitting = samples[: self._most - len(self)]
        n = len(fitting)
        if self._beyond + n > len(self._room):
            kept = self.samples
            # doubling keeps appending cheap; samples that were cut are dropped
            size = min(max(2 * (len(kept) + n), 4096), 2 * self._most)
            room: Samples = np.empty(size, SAMPLE_DTYPE)
            room.view(_WHOLE_SAMPLE)[: len(kept)] = kept.view(_WHOLE_SAMPLE)
            self._first, self._beyond, self._room = 0, len(kept), room
        target = self._room[self._beyond : self._beyond + n]
        target.view(_WHOLE_SAMPLE)[:] = np.ascontiguousarray(fitting).view(_WHOLE_SAMPLE)
        self._beyond += n
        return n == len(samples)

    def cut(self, n: int) -> None:
        """Remove the first `n` samples, or all."""
        self._first += max(0, min(n, len(self)))


@dataclass
class KeptBlock:
    """A recording block up to its newest sample."""

    number: int
    stream: StreamDescription
    geometry: FoundGeometry | None
    """None where its positions cannot be converted to degrees."""
    eyes: str
    """The eyes to analyse: L, R or LR."""
    identifies: bool = True
    """False where the model does not fit its sampling rate."""
    first_us: int | None = None
    last_us: int = 0
    beyond_us: int = 0
    """Later than every sample that has arrived."""
    has_ended: bool = False
    is_decided: bool = False
    """True if it contains a trial or was settled as a whole; until then it may be one interval."""
    is_too_long: bool = False
    _buffer: SampleBuffer = field(init=False)
    _recent: SampleBuffer = field(init=False)

    def __post_init__(self) -> None:
        self._clear()
        self._recent = SampleBuffer(1 << 30)
        self._n_recent = round(LOOK_BACK_S * self.stream.sampling_rate_hz)

    def _clear(self) -> None:
        self._buffer = SampleBuffer(round(LONGEST_INTERVAL_S * self.stream.sampling_rate_hz))

    @property
    def samples(self) -> Samples:
        """The samples that are kept, in the order of time."""
        ordered, _, _ = in_order(self._buffer.samples, {})
        return ordered

    @property
    def span_us(self) -> tuple[int, int]:
        """Times of the first and the last of these samples."""
        times_us = self.samples["tracker_time_us"]
        return int(times_us[0]), int(times_us[-1])

    def keep(self, samples: Samples) -> bool:
        """Keep samples; return whether there is still room for the whole interval."""
        if not self._buffer.append(samples):
            self.is_too_long = True
        if self.is_too_long:
            self._recent.append(samples)
            self._recent.cut(len(self._recent) - self._n_recent)
        return not self.is_too_long

    def begin_trial(self) -> None:
        """Make room for a trial in a block that is too long to be one interval."""
        if self.is_too_long:
            self._clear()
            self._buffer.append(self._recent.samples)
            self.is_too_long, self.is_decided = False, True

    def forget_before(self, time_us: int) -> None:
        """Remove the samples that arrived before the first one at or after a time."""
        later = self._buffer.samples["tracker_time_us"] >= time_us
        self._buffer.cut(int(np.argmax(later)) if later.any() else len(later))

    def positions_deg(self, samples: Samples) -> dict[EventEye, Positions]:
        """Return the gaze of each eye in degrees."""
        assert self.geometry is not None
        return eye_positions_deg(samples, self.stream, self.eyes, self.geometry)

    def gaze_of(self, interval: ViewingInterval) -> Gaze:
        """Return the gaze of an interval at even times, as in offline analysis."""
        assert self.geometry is not None
        return interval_gaze(self.samples, self.stream, self.eyes, self.geometry, interval)

    def samples_since(self, time_us: int) -> Samples:
        """Return a copy of the samples from a time on, up to the last one analysed."""
        samples = self.samples
        times_us = samples["tracker_time_us"]
        first, stop = np.searchsorted(times_us, [time_us, self.last_us + 1])
        return samples[first:stop].copy()
