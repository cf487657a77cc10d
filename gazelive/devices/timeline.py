"""A recording laid out in the order and at the times of its playing.

The timeline is a row of stretches: the blocks, and the time around them, where there may be
messages (an experiment sends TRIALID before it starts to record, and TRIAL_RESULT after). Inside
a block time runs as it was recorded, gaps and all. Outside, a long break is shortened. What
the recording knows and no message tells, such as trials from the columns of a table, is told by
messages in EyeLink's words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gazelive.gaze.samples import Samples, empty_samples
from gazelive.gaze.stream import Message
from gazelive.recordings.recording import Recording
from gazelive.recordings.tracker_messages import missing_messages

Positions = npt.NDArray[np.float64]
"""Microseconds of playing since the beginning."""


@dataclass(frozen=True)
class Stretch:
    """A piece of a timeline: samples and messages of one block, or messages outside all."""

    block: int
    """The block that the samples are of; without samples, the block before (else the first)."""
    samples: Samples
    messages: tuple[Message, ...]
    """In the order of their times."""
    begin_us: int
    """Tracker time at which the stretch begins."""
    tracker_us: int
    """How long it lasted."""
    position_us: int
    """Where on the timeline it begins."""
    playing_us: int
    """How long it plays: less than it lasted where a break was shortened."""

    def positions_of(self, tracker_times_us: npt.ArrayLike) -> Positions:
        """Return where on the timeline each time comes; what went back in time comes at once."""
        elapsed_us = np.asarray(tracker_times_us, np.int64) - self.begin_us
        shortening = self.playing_us / max(self.tracker_us, 1)
        reached_us = np.maximum.accumulate(np.clip(elapsed_us, 0, self.tracker_us))
        return self.position_us + reached_us * shortening

    def tracker_time_us(self, position_us: float) -> int:
        """Return the tracker's time at a position; it stands still outside the stretch."""
        fraction = (position_us - self.position_us) / self.playing_us if self.playing_us else 1.0
        return self.begin_us + round(min(max(fraction, 0.0), 1.0) * self.tracker_us)


@dataclass(frozen=True)
class Timeline:
    """The stretches of one recording from its first sample or message to its last."""

    stretches: tuple[Stretch, ...]

    @property
    def playing_us(self) -> int:
        """How long it plays."""
        return self.stretches[-1].position_us + self.stretches[-1].playing_us

    @cached_property
    def tracker_us(self) -> int:
        """How far the tracker's time reaches from the earliest moment to the latest."""
        begin_us = min(stretch.begin_us for stretch in self.stretches)
        return max(s.begin_us + s.tracker_us for s in self.stretches) - begin_us

    def tracker_time_us(self, position_us: float) -> int:
        """Return the tracker's time at a position."""
        at = bisect_right(self._begins_us, position_us) - 1
        return self.stretches[max(at, 0)].tracker_time_us(position_us)

    @cached_property
    def _begins_us(self) -> list[int]:
        return [stretch.position_us for stretch in self.stretches]


def lay_out(recording: Recording, longest_gap_s: float) -> Timeline:
    """Lay out a recording; each stretch outside its blocks plays no longer than `longest_gap_s`.

    Blocks without samples are left out; their messages are not. A message between two samples
    comes with the later one, and one between two blocks still belongs to the block before, as
    the next has not begun.
    """
    stretches: list[Stretch] = []
    position_us = 0
    for block, samples, messages, begin_us, end_us in _pieces(recording):
        tracker_us = end_us - begin_us
        playing_us = tracker_us if len(samples) else round(min(tracker_us, longest_gap_s * 1e6))
        stretches.append(
            Stretch(block, samples, messages, begin_us, tracker_us, position_us, playing_us)
        )
        position_us += playing_us
    return Timeline(tuple(stretches))


def _pieces(
    recording: Recording,
) -> Iterator[tuple[int, Samples, tuple[Message, ...], int, int]]:
    """Yield block number, samples, messages, begin and end of each stretch in tracker time."""
    told = (*recording.messages, *missing_messages(recording, recording.blocks))
    messages = deque(sorted(told, key=lambda message: message.tracker_time_us))
    nothing = empty_samples(0)
    number = -1
    reached_us = messages[0].tracker_time_us if messages else None
    for block in recording.blocks:
        if not len(block.samples):
            continue
        times_us = block.samples["tracker_time_us"]
        first_us, last_us = int(times_us[0]), int(times_us.max())
        if reached_us is not None and reached_us < first_us:
            before = _pop_until(messages, first_us - 1)
            yield max(number, 0), nothing, before, reached_us, first_us
        number += 1
        reached_us = last_us + max(round(block.stream.sample_interval_us), 1)
        yield number, block.samples, _pop_until(messages, last_us), first_us, reached_us
    if messages and reached_us is not None:
        end_us = max(messages[-1].tracker_time_us + 1, reached_us)
        yield max(number, 0), nothing, tuple(messages), reached_us, end_us


def _pop_until(messages: deque[Message], last_us: int) -> tuple[Message, ...]:
    popped = []
    while messages and messages[0].tracker_time_us <= last_us:
        popped.append(messages.popleft())
    return tuple(popped)
