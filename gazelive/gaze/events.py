"""Eye-movement events of a detector, and those that a tracker reports."""

from __future__ import annotations

from typing import Literal

import msgspec

from gazelive.gaze.samples import Eye

EventEye = Literal["L", "R", "both"]
SaccadeKind = Literal["saccade", "blink_artefact", "tracker_jump"]
"""What a rapid movement of gaze was: of the eye, of the lid, or of the tracker."""


class Saccade(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A rapid movement; onset and offset are its first and last sample.

    Its end position is that of the movement itself, before the oscillation that may be part of it.
    """

    eye: EventEye
    onset_us: int
    offset_us: int
    start_x_deg: float
    start_y_deg: float
    end_x_deg: float
    end_y_deg: float
    peak_velocity_deg_s: float
    confidence: float = 1.0
    detection_delay_ms: float = 0.0
    near_loss: bool = False
    kind: SaccadeKind = "saccade"
    oscillation_ms: float = 0.0
    """How much of it, at its end, is oscillation of the eye that has arrived."""

    @property
    def arrival_us(self) -> int:
        """Time of the last sample of the movement itself."""
        return self.offset_us - round(1000 * self.oscillation_ms)


class Fixation(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The eye at rest between two saccades."""

    eye: EventEye
    onset_us: int
    offset_us: int
    x_deg: float
    y_deg: float
    confidence: float = 1.0
    detection_delay_ms: float = 0.0


class Pursuit(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The eye following something that moves."""

    eye: EventEye
    onset_us: int
    offset_us: int
    start_x_deg: float
    start_y_deg: float
    end_x_deg: float
    end_y_deg: float
    detection_delay_ms: float = 0.0


class Blink(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """No gaze, because the lid was down (or, with `cause` loss, for another reason)."""

    eye: EventEye
    onset_us: int
    offset_us: int
    cause: Literal["blink", "loss"] = "blink"
    confidence: float = 1.0
    detection_delay_ms: float = 0.0


Event = Saccade | Fixation | Blink


class TrackerEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the tracker's own parser; positions in the block's coordinates."""

    kind: Literal["saccade", "fixation", "blink"]
    eye: Eye
    start_us: int
    end_us: int
    """Time of the last sample inside."""
    start_x: float | None = None
    start_y: float | None = None
    end_x: float | None = None
    end_y: float | None = None
    amplitude_deg: float | None = None
    peak_velocity_deg_s: float | None = None
    mean_x: float | None = None
    mean_y: float | None = None
    mean_pupil: float | None = None
