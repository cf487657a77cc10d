"""Areas of the screen that gaze enters and leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gazelive.errors import ConfigError
from gazelive.gaze import Flags, Floats

Unit = Literal["deg", "px"]
"""Degrees from straight ahead, or screen pixels from the left and top; y grows downwards."""


@dataclass(frozen=True)
class Circle:
    """The points at most `radius` from (x, y)."""

    x: float
    y: float
    radius: float
    unit: Unit = "deg"

    def __post_init__(self) -> None:
        _check(self.unit, radius=self.radius)

    def contains(self, x: Floats, y: Floats) -> Flags:
        """Return which points are inside; a lost one is not."""
        return np.hypot(x - self.x, y - self.y) <= self.radius


@dataclass(frozen=True)
class Rectangle:
    """The points at most half of `width` and `height` from its centre (x, y)."""

    x: float
    y: float
    width: float
    height: float
    unit: Unit = "deg"

    def __post_init__(self) -> None:
        _check(self.unit, width=self.width, height=self.height)

    def contains(self, x: Floats, y: Floats) -> Flags:
        """Return which points are inside; a lost one is not."""
        inside: Flags = (np.abs(x - self.x) <= self.width / 2) & (
            np.abs(y - self.y) <= self.height / 2
        )
        return inside


Area = Circle | Rectangle


def _check(unit: str, **sizes: float) -> None:
    if unit not in ("deg", "px"):
        raise ConfigError(f"the unit of an area is deg or px, not {unit!r}", key="unit")
    for name, size in sizes.items():
        if not size > 0:
            raise ConfigError(f"must be above 0, not {size}", key=name)
