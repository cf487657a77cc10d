"""What a trigger tells a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

TriggerKind = Literal["saccade_onset", "saccade_end", "fixation", "enter", "leave", "blink"]


class GazePoint(NamedTuple):
    """Gaze at one sample: of one eye, or of both as one.

    Degrees are from straight ahead, pixels from the left and top; y grows downwards in both.
    """

    x_deg: float
    y_deg: float
    x_px: float
    y_px: float
    """Pixels are NaN where the screen is not known."""
    tracker_time_us: int


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """An event that a watch waited for, as it was known when it fired.

    Directions: 0° is right, 90° up, ±180° left, -90° down. A number that does not apply is NaN.
    """

    kind: TriggerKind
    tracker_time_us: int
    """Tracker time of the sample that fired it."""
    event_us: int
    """Tracker time at which the event began: the estimated onset of the saccade, the first sample
    of the fixation, of the stay inside or outside, or of the loss. For `saccade_end`, at which the
    saccade ended."""
    x_deg: float
    y_deg: float
    x_px: float
    y_px: float
    """Gaze at the sample that fired it; for a blink, the last gaze that was seen."""
    direction_deg: float = float("nan")
    amplitude_deg: float = float("nan")
    """Direction and amplitude of the saccade: so far at `saccade_onset`, whole at `saccade_end`."""
    arrival_s: float = float("nan")
    """The host's clock when the sample that fired it was handed over by the device."""
    sample_s: float = float("nan")
    """The host's clock when the tracker stamped that sample; NaN where the clocks were not
    compared, as in a replay."""
    delivered_s: float = float("nan")
    """The host's clock when the script, or the callback, got it."""

    @property
    def delay_ms(self) -> float:
        """Milliseconds from the hand-over of the sample by the device to the delivery."""
        return 1000.0 * (self.delivered_s - self.arrival_s)

    @property
    def sample_delay_ms(self) -> float:
        """Milliseconds from the tracker's time stamp of the sample to the delivery."""
        return 1000.0 * (self.delivered_s - self.sample_s)
