"""Streams: the description of a recording block, its messages and chunks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from gazelive.gaze.samples import Coordinates, Eyes, Samples
from gazelive.gaze.screen import ScreenGeometry

LONGEST_COMMAND = 500
"""A tracker's message has up to 260 characters; longer ones are not searched for commands."""

LOWEST_RATE_HZ, HIGHEST_RATE_HZ = 0.1, 1e6
"""Other rates, and those that are not numbers, are none; detectors have narrower limits."""
LATEST_US = 1 << 53
"""Times are possible up to this far from 0 (285 years): their differences always fit."""


class StreamDescription(msgspec.Struct, frozen=True, kw_only=True):
    """Description of one recording block of a device."""

    device: str
    sampling_rate_hz: float
    """0 for what no tracker can have: see `LOWEST_RATE_HZ`."""
    eyes: Eyes
    coordinates: Coordinates = Coordinates.SCREEN_PX
    screen: ScreenGeometry | None = None
    screen_px: tuple[int, int] | None = None
    """The screen's size if only its pixels are known."""
    px_per_deg: tuple[float, float] | None = None
    """The tracker's own resolution, horizontally and vertically, if given."""
    pupil: Literal["area", "diameter"] = "area"

    def __post_init__(self) -> None:
        # a block without a usable rate is recorded, written and read like any other
        if not LOWEST_RATE_HZ <= self.sampling_rate_hz <= HIGHEST_RATE_HZ:
            msgspec.structs.force_setattr(self, "sampling_rate_hz", 0.0)

    @property
    def size_px(self) -> tuple[int, int] | None:
        """The screen's size in pixels, if known."""
        return self.screen_px if self.screen is None else self.screen.size_px

    @property
    def sample_interval_us(self) -> float:
        """Nominal time between two samples in microseconds; 0 if the rate is not known."""
        return 1e6 / self.sampling_rate_hz if self.sampling_rate_hz else 0.0


class Message(msgspec.Struct, frozen=True):
    """A line of text with the tracker's time, as sent by experiments."""

    tracker_time_us: int
    text: str


def in_time_order(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages by their times; the same object if they are in order already."""
    pairs = itertools.pairwise(messages)
    if all(one.tracker_time_us <= other.tracker_time_us for one, other in pairs):
        return messages
    return sorted(messages, key=lambda message: message.tracker_time_us)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive samples of one block, with the messages among them.

    `number` counts from 0 without gaps over a whole run. `block` counts the recording blocks; a
    chunk never spans two, and a device describes its stream for each. `arrival_s` is the host's
    monotonic clock at the arrival of the last sample.
    """

    number: int
    block: int
    samples: Samples
    messages: tuple[Message, ...] = ()
    arrival_s: float = 0.0
