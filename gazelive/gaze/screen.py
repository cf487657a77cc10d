"""Screen geometry: pixels to degrees of visual angle and back, by the exact tangent."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.errors import ConfigError
from gazelive.gaze.arrays import Floats


@runtime_checkable
class Geometry(Protocol):
    """Converts screen positions to degrees and back; 0° is straight ahead, y grows downwards."""

    def px_to_deg(self, x_px: npt.ArrayLike, y_px: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return the horizontal and vertical angle of each position."""
        ...

    def deg_to_px(self, x_deg: npt.ArrayLike, y_deg: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return the position that is seen at each angle."""
        ...


def check_positive(value: float, name: str) -> None:
    """Raise unless the number is positive; the error names it as the user does."""
    if not (np.isfinite(value) and value > 0):
        raise ConfigError(f"must be a positive number, not {value:g}", key=name)


def check_pixels(size_px: tuple[int, int], size_mm: tuple[float, float], name: str) -> None:
    """Raise if pixels are far from square: one of the sizes was mistyped."""
    width_mm, height_mm = (mm / px for mm, px in zip(size_mm, size_px, strict=True))
    if not 0.5 < width_mm / height_mm < 2:
        raise ConfigError(
            f"a pixel of {width_mm:.3f} × {height_mm:.3f} mm is impossible: check the screen's "
            "size in px and in mm",
            key=name,
        )


class ScreenGeometry(msgspec.Struct, frozen=True, kw_only=True):
    """A flat screen in front of an eye.

    An integer pixel coordinate is the centre of that pixel, as EyeLink counts them (0 … W-1).
    `eye_x_mm` and `eye_y_mm` say where on the screen the eye looks straight ahead, from the
    screen's centre to the right and downwards; with the chin rest in the middle both are 0.
    """

    width_px: int
    height_px: int
    width_mm: float
    height_mm: float
    eye_distance_mm: float
    eye_x_mm: float = 0.0
    eye_y_mm: float = 0.0

    def __post_init__(self) -> None:
        for name in ("width_px", "height_px", "width_mm", "height_mm", "eye_distance_mm"):
            check_positive(getattr(self, name), name)
        check_pixels(
            (self.width_px, self.height_px), (self.width_mm, self.height_mm), "width_mm, height_mm"
        )

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.width_px, self.height_px

    @property
    def size_deg(self) -> tuple[float, float]:
        """Width and height from edge to edge, seen from the eye, in degrees."""
        (left, right), (top, bottom) = self.px_to_deg(
            np.array([-0.5, self.width_px - 0.5]), np.array([-0.5, self.height_px - 0.5])
        )
        return float(right - left), float(bottom - top)

    def px_to_deg(self, x_px: npt.ArrayLike, y_px: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return the horizontal and vertical angle of each position."""
        x_mm = _px_to_mm(x_px, self.width_px, self.width_mm) - self.eye_x_mm
        y_mm = _px_to_mm(y_px, self.height_px, self.height_mm) - self.eye_y_mm
        return (
            np.degrees(np.arctan(x_mm / self.eye_distance_mm)),
            np.degrees(np.arctan(y_mm / self.eye_distance_mm)),
        )

    def deg_to_px(self, x_deg: npt.ArrayLike, y_deg: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return the position that is seen at each angle."""
        x_mm = self.eye_x_mm + self.eye_distance_mm * np.tan(np.radians(np.asarray(x_deg, float)))
        y_mm = self.eye_y_mm + self.eye_distance_mm * np.tan(np.radians(np.asarray(y_deg, float)))
        return (
            _mm_to_px(x_mm, self.width_px, self.width_mm),
            _mm_to_px(y_mm, self.height_px, self.height_mm),
        )


class AngularResolution(msgspec.Struct, frozen=True, kw_only=True):
    """The tracker's own resolution (`END … RES`): good near the centre, approximate at the edge."""

    x_px_per_deg: float
    y_px_per_deg: float
    centre_x_px: float = 0.0
    centre_y_px: float = 0.0

    def __post_init__(self) -> None:
        for name in ("x_px_per_deg", "y_px_per_deg"):
            check_positive(getattr(self, name), name)

    def px_to_deg(self, x_px: npt.ArrayLike, y_px: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return the horizontal and vertical angle of each position."""
        x, y = np.asarray(x_px, np.float64), np.asarray(y_px, np.float64)
        return (x - self.centre_x_px) / self.x_px_per_deg, (
            y - self.centre_y_px
        ) / self.y_px_per_deg

    def deg_to_px(self, x_deg: npt.ArrayLike, y_deg: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return the position that is seen at each angle."""
        x, y = np.asarray(x_deg, np.float64), np.asarray(y_deg, np.float64)
        return x * self.x_px_per_deg + self.centre_x_px, y * self.y_px_per_deg + self.centre_y_px


PAPER_SCREEN = ScreenGeometry(
    width_px=1920, height_px=1080, width_mm=535.0, height_mm=301.0, eye_distance_mm=600.0
)
"""The screen of Makowski et al. 2020: 61.4 cm diagonal, 16:9, seen from 60 cm."""


def _px_to_mm(px: npt.ArrayLike, size_px: int, size_mm: float) -> Floats:
    """Return millimetres from the screen's centre."""
    return (np.asarray(px, np.float64) + 0.5) * (size_mm / size_px) - size_mm / 2


def _mm_to_px(mm: Floats, size_px: int, size_mm: float) -> Floats:
    return (mm + size_mm / 2) * (size_px / size_mm) - 0.5
