"""Timeline of a replayed recording, and a cursor that moves along it.

The timeline is a sequence of stretches: the blocks, and the time around them, where there may be
messages (an experiment sends TRIALID before it starts to record, and TRIAL_RESULT after). Inside a
block time runs as recorded, including gaps. Outside, a long break is shortened. Facts of the
recording without a message, such as trials from the columns of a table, get messages in EyeLink's
format.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gazelive.gaze import SAMPLE_DTYPE, Floats, Message, Samples, empty_samples, in_time_order
from gazelive.recordings import Recording, missing_messages


@dataclass(frozen=True)
class Stretch:
    """A part of a timeline: samples and messages of one block, or messages outside blocks."""

    block: int
    """Block of the samples; without samples, the block before (else the first)."""
    samples: Samples
    messages: tuple[Message, ...]
    """In time order."""
    begin_us: int
    """Tracker time at the start of the stretch."""
    tracker_us: int
    """Recorded duration."""
    position_us: int
    """Its start on the timeline."""
    playing_us: int
    """Playing duration: shorter than recorded if a break was shortened."""

    def positions_of(self, tracker_times_us: npt.ArrayLike) -> Floats:
        """Return the position of each time on the timeline; backward times come at once."""
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
        """Playing duration."""
        return self.stretches[-1].position_us + self.stretches[-1].playing_us

    @cached_property
    def tracker_us(self) -> int:
        """Tracker time from the earliest moment to the latest."""
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

    Blocks without samples are omitted; their messages are not. A message between two samples comes
    with the later one, and one between two blocks belongs to the block before, as the next has not
    started.
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
    everything = (*recording.messages, *missing_messages(recording, recording.blocks))
    messages = deque(in_time_order(everything))
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


_SAMPLE_BYTES = np.dtype(("V", SAMPLE_DTYPE.itemsize))
ROUNDING_US = 0.5
"""Times are whole microseconds, so a position this close to one has reached it."""


@dataclass(frozen=True, slots=True)
class Due:
    """Due samples and messages in one block of one lap; the array is a copy."""

    block: int
    lap: int
    samples: Samples
    messages: tuple[Message, ...]


class Cursor:
    """Returns everything on a timeline once and in order, lap after lap if it loops.

    In later laps all times are shifted, so the tracker's time continues. Positions count from
    the beginning of the first lap.
    """

    def __init__(self, timeline: Timeline, *, loop: bool) -> None:
        self._timeline = timeline
        self._loop = loop
        self._lap = 0
        self._index = 0
        self._walk = _Walk(timeline.stretches[0])
        self.taken_us = 0.0
        """Position of the last item returned."""
        self.at_end = False

    def tracker_time_us(self, position_us: float) -> int:
        """Return the tracker's time at any position."""
        if not self._loop:
            return self._timeline.tracker_time_us(position_us)
        lap, position_us = divmod(position_us, self._timeline.playing_us)
        return self._timeline.tracker_time_us(position_us) + int(lap) * self._timeline.tracker_us

    def next_us(self, span_us: float) -> float:
        """Return the position to wait for, to get everything within `span_us` of the last item.

        This is the last moment within that span at which something of the same stretch becomes
        due, or the next such moment.
        """
        while self._walk.is_spent and not self.at_end:
            self._go_on()
        if self.at_end:
            return math.inf
        return self._lap_us + self._walk.next_us(self.taken_us + span_us - self._lap_us)

    def take(self, position_us: float, max_samples: int) -> Due | None:
        """Return what is newly due by `position_us`, within one block."""
        while not self.at_end:
            walk, lap = self._walk, self._lap
            taken = walk.take(position_us - self._lap_us, max_samples)
            if taken is not None:
                samples, messages = taken
                self.taken_us = self._lap_us + walk.taken_us
            if walk.is_spent:
                self._go_on()
            if taken is not None:
                shift_us = lap * self._timeline.tracker_us
                return _shifted(Due(walk.stretch.block, lap, samples, messages), shift_us)
            if not walk.is_spent:
                break
        return None

    @property
    def _lap_us(self) -> int:
        """Position at the start of the lap."""
        return self._lap * self._timeline.playing_us

    def _go_on(self) -> None:
        self._index += 1
        if self._index == len(self._timeline.stretches):
            if not self._loop:
                self.at_end = True
                return
            self._lap += 1
            self._index = 0
        self._walk = _Walk(self._timeline.stretches[self._index])


class _Walk:
    """Progress through one stretch; positions count from the start of the lap."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch
        self._sample_due_us = stretch.positions_of(stretch.samples["tracker_time_us"])
        times_us = [message.tracker_time_us for message in stretch.messages]
        self._message_due_us = stretch.positions_of(times_us)
        self._n_samples = 0
        self._n_messages = 0
        self.taken_us = float(stretch.position_us)

    @property
    def is_spent(self) -> bool:
        """True when nothing is left."""
        n_all = len(self._sample_due_us) + len(self._message_due_us)
        return self._n_samples + self._n_messages == n_all

    def next_us(self, within_us: float) -> float:
        """Return when the last item by `within_us` becomes due, or the next item."""
        due_us, n_taken = self._sample_due_us, self._n_samples
        if not len(due_us):
            due_us, n_taken = self._message_due_us, self._n_messages
        last = _count(due_us, within_us) - 1
        return float(due_us[max(last, n_taken)])

    def take(self, until_us: float, max_samples: int) -> tuple[Samples, tuple[Message, ...]] | None:
        """Return what is newly due by `until_us`."""
        first_sample, first_message = self._n_samples, self._n_messages
        n_due = _count(self._sample_due_us, until_us)
        self._n_samples = min(n_due, first_sample + max_samples)
        if self._n_samples < n_due:
            until_us = float(self._sample_due_us[self._n_samples - 1])
        elif n_due and n_due == len(self._sample_due_us):
            until_us = math.inf  # no message of a block comes after its last sample
        self._n_messages = _count(self._message_due_us, until_us)
        if (self._n_samples, self._n_messages) == (first_sample, first_message):
            return None
        taken_us = self._sample_due_us[: self._n_samples], self._message_due_us[: self._n_messages]
        self.taken_us = max(float(due_us[-1]) for due_us in taken_us if len(due_us))
        return (
            _copy(self.stretch.samples[first_sample : self._n_samples]),
            self.stretch.messages[first_message : self._n_messages],
        )


def _count(due_us: Floats, until_us: float) -> int:
    return int(due_us.searchsorted(until_us + ROUNDING_US, "right"))


def _copy(samples: Samples) -> Samples:
    # whole samples as bytes: numpy copies field by field otherwise, twenty times as slowly
    return samples.view(_SAMPLE_BYTES).copy().view(SAMPLE_DTYPE)


def _shifted(due: Due, shift_us: int) -> Due:
    if not shift_us:
        return due
    due.samples["tracker_time_us"] += shift_us
    messages = tuple(Message(m.tracker_time_us + shift_us, m.text) for m in due.messages)
    return Due(due.block, due.lap, due.samples, messages)
