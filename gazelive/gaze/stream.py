"""What a stream is (said once per recording block), and the chunks that it arrives in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from gazelive.gaze.samples import Coordinates, Eyes, Samples
from gazelive.gaze.screen import ScreenGeometry


class StreamDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What one recording block of a device delivers."""

    device: str
    sampling_rate_hz: float
    eyes: Eyes
    coordinates: Coordinates = Coordinates.SCREEN_PX
    screen: ScreenGeometry | None = None
    screen_px: tuple[int, int] | None = None
    """The screen's size where only its pixels are known."""
    px_per_deg: tuple[float, float] | None = None
    """The tracker's own resolution, horizontally and vertically, where it told."""
    pupil: Literal["area", "diameter"] = "area"

    @property
    def sample_interval_us(self) -> float:
        """Nominal time between two samples in microseconds."""
        return 1e6 / self.sampling_rate_hz


class Message(msgspec.Struct, frozen=True):
    """A line of text with the tracker's time, as experiments send them."""

    tracker_time_us: int
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """Samples of one block in their order, with the messages that came among them.

    `number` counts from 0 without gaps over a whole run. `block` counts the recording blocks; a
    chunk never spans two, and a device describes its stream anew for each. `arrival_s` is the
    host's monotonic clock when the last sample was in hand.
    """

    number: int
    block: int
    samples: Samples
    messages: tuple[Message, ...] = ()
    arrival_s: float = 0.0
