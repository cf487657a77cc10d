"""The samples of a recording block that an interval may still need, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gazelive.features.interval import Gaze, Positions, even_gaze
from gazelive.gaze.events import EventEye
from gazelive.gaze.samples import SAMPLE_DTYPE, Samples
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.geometry import FoundGeometry, block_positions_deg
from gazelive.recordings.intervals import ViewingInterval
from gazelive.recordings.recording import Block
from gazelive.recordings.time_order import in_order

LONGEST_INTERVAL_S = 1800.0
"""An interval settles on no more than so much of its beginning."""
LOOK_BACK_S = 2.0
"""Samples are kept this long for messages that come late."""
_WHOLE_SAMPLE = np.dtype(("V", SAMPLE_DTYPE.itemsize))
"""Copies in one go what numpy would copy field by field, twenty times slower."""


class SampleBuffer:
    """Samples in the order they came; grows at the end, is cut at the beginning."""

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
        """Take what there is room for; say whether that was everything."""
        fitting = samples[: self._most - len(self)]
        n = len(fitting)
        if self._beyond + n > len(self._room):
            kept = self.samples
            # doubling keeps appending cheap; what was cut is not carried along
            size = min(max(2 * (len(kept) + n), 4096), 2 * self._most)
            room: Samples = np.empty(size, SAMPLE_DTYPE)
            room.view(_WHOLE_SAMPLE)[: len(kept)] = kept.view(_WHOLE_SAMPLE)
            self._first, self._beyond, self._room = 0, len(kept), room
        target = self._room[self._beyond : self._beyond + n]
        target.view(_WHOLE_SAMPLE)[:] = np.ascontiguousarray(fitting).view(_WHOLE_SAMPLE)
        self._beyond += n
        return n == len(samples)

    def cut(self, n: int) -> None:
        """Forget the first `n`, if there are so many."""
        self._first += max(0, min(n, len(self)))


@dataclass
class KeptBlock:
    """A recording block as far as it is known."""

    number: int
    stream: StreamDescription
    geometry: FoundGeometry | None
    """None where its positions cannot be turned into degrees."""
    eyes: str
    """Whose gaze is looked at: L, R or LR."""
    identifies: bool = True
    """False where the model was not made for it."""
    first_us: int | None = None
    last_us: int = 0
    beyond_us: int = 0
    """Behind everything of it that is known to have come."""
    has_ended: bool = False
    is_decided: bool = False
    """It is known whether it is an interval as a whole: a trial was in it, or it was settled."""
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
        """What is kept, in the order of time."""
        ordered, _, _ = in_order(self._buffer.samples, {})
        return ordered

    @property
    def span_us(self) -> tuple[int, int]:
        """Times of the first and the last sample that are kept."""
        times_us = self.samples["tracker_time_us"]
        return int(times_us[0]), int(times_us[-1])

    def keep(self, samples: Samples) -> bool:
        """Keep samples as they came; say whether there is still room for all of an interval."""
        if not self._buffer.append(samples):
            self.is_too_long = True
        if self.is_too_long:
            self._recent.append(samples)
            self._recent.cut(len(self._recent) - self._n_recent)
        return not self.is_too_long

    def begin_trial(self) -> None:
        """Make room for a trial: what is too long to be an interval as a whole is given up."""
        if self.is_too_long:
            self._clear()
            self._buffer.append(self._recent.samples)
            self.is_too_long, self.is_decided = False, True

    def forget_before(self, time_us: int) -> None:
        """Let go of what came before the first sample at or after a time."""
        later = self._buffer.samples["tracker_time_us"] >= time_us
        self._buffer.cut(int(np.argmax(later)) if later.any() else len(later))

    def positions_deg(self, samples: Samples) -> dict[EventEye, Positions]:
        """Return the gaze of each eye in degrees."""
        assert self.geometry is not None
        block = Block(self.stream, samples, 0, 0)
        eyes: dict[EventEye, Positions] = {}
        if "L" in self.eyes:
            eyes["L"] = block_positions_deg(block, "L", self.geometry)
        if "R" in self.eyes:
            eyes["R"] = block_positions_deg(block, "R", self.geometry)
        return eyes

    def gaze_of(self, interval: ViewingInterval) -> Gaze:
        """Return the gaze of an interval on an even grid, as offline analysis has it."""
        samples = self.samples
        times_us = samples["tracker_time_us"]
        first, beyond = np.searchsorted(times_us, [interval.start_us, interval.end_us])
        viewed = samples[first:beyond]
        return even_gaze(
            viewed["tracker_time_us"], self.positions_deg(viewed), self.stream.sampling_rate_hz
        )

    def samples_since(self, time_us: int) -> Samples:
        """Return a copy of what is kept from a time on, up to the last sample that was seen."""
        samples = self.samples
        times_us = samples["tracker_time_us"]
        first, beyond = np.searchsorted(times_us, [time_us, self.last_us + 1])
        return samples[first:beyond].copy()
