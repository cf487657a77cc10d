"""A place on a timeline that moves forward: what is due, and when the next thing is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gazelive.devices.timeline import Positions, Stretch, Timeline
from gazelive.gaze.samples import SAMPLE_DTYPE, Samples
from gazelive.gaze.stream import Message

_SAMPLE_BYTES = np.dtype(("V", SAMPLE_DTYPE.itemsize))
ROUNDING_US = 0.5
"""Times are whole microseconds, so a position this close to one has reached it."""


@dataclass(frozen=True, slots=True)
class Due:
    """What became due in one block of one lap; the array is a copy."""

    block: int
    lap: int
    samples: Samples
    messages: tuple[Message, ...]


class Cursor:
    """Hands out everything on a timeline once and in order, lap after lap if it loops.

    In later laps all times are shifted, so that the tracker's time goes on. Positions count from
    the beginning of the first lap.
    """

    def __init__(self, timeline: Timeline, *, loop: bool) -> None:
        self._timeline = timeline
        self._loop = loop
        self._lap = 0
        self._index = 0
        self._walk = _Walk(timeline.stretches[0])
        self.taken_us = 0.0
        """Position of what was handed out last."""
        self.at_end = False

    def tracker_time_us(self, position_us: float) -> int:
        """Return the tracker's time at any position."""
        if not self._loop:
            return self._timeline.tracker_time_us(position_us)
        lap, position_us = divmod(position_us, self._timeline.playing_us)
        return self._timeline.tracker_time_us(position_us) + int(lap) * self._timeline.tracker_us

    def next_us(self, span_us: float) -> float:
        """Return the position to wait for, to get what comes within `span_us` of the last.

        This is the last moment within that span at which something of the same stretch becomes
        due, or the next one at all.
        """
        while self._walk.is_spent and not self.at_end:
            self._go_on()
        if self.at_end:
            return math.inf
        return self._lap_us + self._walk.next_us(self.taken_us + span_us - self._lap_us)

    def take(self, position_us: float, max_samples: int) -> Due | None:
        """Hand out what is due by `position_us` and was not yet, as far as it lies in one block."""
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
        """Position at which the lap began."""
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
    """The way through one stretch; positions count from the beginning of the lap."""

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
        """Return when the last thing by `within_us` becomes due, or the next one at all."""
        due_us, n_taken = self._sample_due_us, self._n_samples
        if not len(due_us):
            due_us, n_taken = self._message_due_us, self._n_messages
        last = _count(due_us, within_us) - 1
        return float(due_us[max(last, n_taken)])

    def take(self, until_us: float, max_samples: int) -> tuple[Samples, tuple[Message, ...]] | None:
        """Return what is due by `until_us` and was not yet taken."""
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


def _count(due_us: Positions, until_us: float) -> int:
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
