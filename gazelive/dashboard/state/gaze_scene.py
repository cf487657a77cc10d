"""Scene on the image: fixations, saccades with their turns, and the screen's geometry.

Positions are screen pixels, like the image; only the axes are in degrees. This keeps a flat screen
flat and the degrees exact.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.features import Turn, turn_between
from gazelive.gaze import (
    AngularResolution,
    Blink,
    Fixation,
    Floats,
    Geometry,
    Saccade,
    StreamDescription,
)

MOST_EVENTS = 200
"""Fixations and saccades shown per image; older ones are dropped."""
FURTHEST_DEG = 80.0
"""Largest eccentricity of an eye."""
DEFAULT_SIZE_DEG = (40.0, 30.0)
"""Size of the field for an unknown screen."""


@dataclass(frozen=True)
class ScreenView:
    """The screen in pixels, and the conversion to degrees."""

    width_px: float
    height_px: float
    geometry: Geometry
    pixel_aspect: float
    """Width of a pixel over its height."""

    @classmethod
    def of(cls, stream: StreamDescription | None) -> ScreenView:
        """Return the screen of a stream; if it is unknown, a field of 40 by 30 degrees."""
        if stream is not None and stream.screen is not None:
            screen = stream.screen
            aspect = (screen.width_mm / screen.width_px) / (screen.height_mm / screen.height_px)
            return cls(screen.width_px, screen.height_px, screen, aspect)
        x_px, y_px = (
            (20.0, 20.0) if stream is None or stream.px_per_deg is None else stream.px_per_deg
        )
        size = None if stream is None else stream.screen_px
        width, height = size or (DEFAULT_SIZE_DEG[0] * x_px, DEFAULT_SIZE_DEG[1] * y_px)
        resolution = AngularResolution(
            x_px_per_deg=x_px,
            y_px_per_deg=y_px,
            centre_x_px=(width - 1) / 2,
            centre_y_px=(height - 1) / 2,
        )
        return cls(width, height, resolution, y_px / x_px)

    def to_px(self, x_deg: npt.ArrayLike, y_deg: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return gaze in screen pixels; NaN beyond `FURTHEST_DEG`."""
        x, y = np.asarray(x_deg, np.float64), np.asarray(y_deg, np.float64)
        ahead = (np.abs(x) < FURTHEST_DEG) & (np.abs(y) < FURTHEST_DEG)
        return self.geometry.deg_to_px(np.where(ahead, x, np.nan), np.where(ahead, y, np.nan))


@dataclass(frozen=True)
class TurnedSaccade:
    """A saccade and its turn from the one before."""

    saccade: Saccade
    turn: Turn


class GazeScene:
    """Events on the current or last image."""

    def __init__(self) -> None:
        self.fixations: deque[Fixation] = deque(maxlen=MOST_EVENTS)
        self.saccades: deque[Saccade] = deque(maxlen=MOST_EVENTS)
        self._losses_us: deque[tuple[int, int]] = deque(maxlen=MOST_EVENTS)
        self.revision = 0

    def clear(self) -> None:
        """Start a new image."""
        for events in (self.fixations, self.saccades, self._losses_us):
            events.clear()
        self.revision += 1

    def add_fixation(self, fixation: Fixation) -> None:
        """Add a fixation; the same onset again replaces it."""
        if self.fixations and self.fixations[-1].onset_us == fixation.onset_us:
            self.fixations.pop()
        self.fixations.append(fixation)
        self.revision += 1

    def add_saccade(self, saccade: Saccade) -> None:
        """Add a saccade; the same onset again replaces it."""
        if self.saccades and self.saccades[-1].onset_us == saccade.onset_us:
            self.saccades.pop()
        self.saccades.append(saccade)
        self.revision += 1

    def add_blink(self, blink: Blink) -> None:
        """Add a loss: the next saccade has no turn."""
        self._losses_us.append((blink.onset_us, blink.offset_us))

    def retract(self, onset_us: int) -> None:
        """Remove a saccade."""
        kept = [saccade for saccade in self.saccades if saccade.onset_us != onset_us]
        if len(kept) < len(self.saccades):
            self.saccades = deque(kept, MOST_EVENTS)
            self.revision += 1

    def begin_at(self, start_us: int) -> None:
        """Remove events from before the image appeared."""
        self._set(
            [fixation for fixation in self.fixations if fixation.offset_us >= start_us],
            [saccade for saccade in self.saccades if saccade.onset_us >= start_us],
        )

    def settle(
        self,
        fixations: Iterable[Fixation],
        saccades: Iterable[Saccade],
        blinks: Iterable[Blink],
    ) -> None:
        """Replace the preliminary events by those of the settled interval."""
        self._losses_us.clear()
        self._losses_us.extend((blink.onset_us, blink.offset_us) for blink in blinks)
        self._set(fixations, saccades)

    def _set(self, fixations: Iterable[Fixation], saccades: Iterable[Saccade]) -> None:
        self.fixations = deque(fixations, MOST_EVENTS)
        self.saccades = deque(saccades, MOST_EVENTS)
        self.revision += 1

    def turned_saccades(self) -> list[TurnedSaccade]:
        """Return the saccades with their turns, oldest first."""
        turned: list[TurnedSaccade] = []
        before: Saccade | None = None
        for saccade in self.saccades:
            turn = Turn.NONE
            if before is not None and not self._lost_between(before.offset_us, saccade.onset_us):
                turn = turn_between(*_displacement(before), *_displacement(saccade))
            turned.append(TurnedSaccade(saccade, turn))
            before = saccade
        return turned

    def _lost_between(self, from_us: int, to_us: int) -> bool:
        return any(onset < to_us and offset > from_us for onset, offset in self._losses_us)


def _displacement(saccade: Saccade) -> tuple[float, float]:
    return saccade.end_x_deg - saccade.start_x_deg, saccade.end_y_deg - saccade.start_y_deg


def nice_degrees(low: float, high: float, most: int) -> Floats:
    """Return at most `most` round ticks (degrees) from `low` to `high`."""
    for step in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 45.0):
        ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        if len(ticks) <= max(most, 1):
            return ticks
    return np.array([0.0])
