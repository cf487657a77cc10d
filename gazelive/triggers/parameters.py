"""Parameters of the triggers, in milliseconds."""

from __future__ import annotations

import math

import msgspec

from gazelive.detection import DetectorParameters
from gazelive.errors import ConfigError


class TriggerParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the triggers, chosen on labelled gaze (docs/triggers.md)."""

    detector: DetectorParameters = DetectorParameters(trigger_noise=8.0)
    """Those of the detector: its fast trigger decides when a movement may be a saccade."""
    direction_hold_ms: float = 1.0
    """A movement has the wanted direction once it has had it for so long without a break …"""
    direction_patience_ms: float = 8.0
    """… within so long of the trigger, or never. What turns later is a lid or drifts."""

    def __post_init__(self) -> None:
        for name in ("direction_hold_ms", "direction_patience_ms"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ConfigError(f"must be a number of at least 0, not {value}", key=name)
