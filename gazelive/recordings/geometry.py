"""Geometry of a recording: how its positions become degrees of visual angle.

Geometry is looked up in this order: the user's flags, the recording's own screen (`session.json`,
a table's sidecar), the columns of `corpus.csv`, the resolution that the tracker wrote. The last is
an approximation and comes with a warning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec
import numpy as np

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze import (
    AngularResolution,
    Coordinates,
    Floats,
    Geometry,
    ScreenGeometry,
    SingleFloats,
    check_pixels,
    check_positive,
)
from gazelive.recordings.recording import Block, Recording
from gazelive.recordings.resolution import TrackerResolution

HREF_DISTANCE = 15_000.0
"""Distance of EyeLink's HREF plane from the eye, in HREF units."""
FLAGS = ("--screen", "--size-mm", "--distance-mm")
LEAST_UNCERTAINTY = 0.01
"""A smaller one of the tracker's resolution is not mentioned."""
HOW_TO_GIVE = "--screen 1920x1080 --size-mm 535x301 --distance-mm 600"

GeometrySource = Literal["flags", "recording", "corpus", "resolution", "none needed"]


@dataclass(frozen=True)
class GeometryFlags:
    """Screen geometry given by the user; None is not given."""

    screen_px: tuple[int, int] | None = None
    size_mm: tuple[float, float] | None = None
    distance_mm: float | None = None
    eye_mm: tuple[float, float] = (0.0, 0.0)
    """Point on the screen straight ahead of the eye (`ScreenGeometry`); has no flag."""
    names: tuple[str, str, str] = field(default=FLAGS, compare=False)
    """Names of the three in errors; in a corpus they are columns."""

    @classmethod
    def of(cls, screen: ScreenGeometry) -> GeometryFlags:
        """Return the flags that describe a screen completely."""
        return cls(
            screen.size_px,
            (screen.width_mm, screen.height_mm),
            screen.eye_distance_mm,
            (screen.eye_x_mm, screen.eye_y_mm),
        )

    @property
    def given(self) -> bool:
        """True if anything was given."""
        return (self.screen_px, self.size_mm, self.distance_mm) != (None, None, None)

    def check(self) -> None:
        """Raise if a screen is incomplete or impossible; its pixels may come later."""
        if self.given:
            width_mm, height_mm = self.size_mm or (1.0, 1.0)
            square_px = max(round(width_mm), 1), max(round(height_mm), 1)
            self.screen_geometry(square_px)

    def screen_geometry(self, recorded_px: tuple[int, int] | None = None) -> ScreenGeometry:
        """Return the screen; its pixels may come from the recording instead of a flag."""
        screen_px = self.screen_px or recorded_px
        missing = [
            flag
            for flag, value in zip(
                self.names, (screen_px, self.size_mm, self.distance_mm), strict=True
            )
            if value is None
        ]
        if screen_px is None or self.size_mm is None or self.distance_mm is None:
            raise ConfigError(
                f"{' and '.join(missing)} missing: the screen takes all three, such as "
                f"{HOW_TO_GIVE}"
            )
        for width_or_height, name in (
            *((px, self.names[0]) for px in screen_px),
            *((mm, self.names[1]) for mm in self.size_mm),
            (self.distance_mm, self.names[2]),
        ):
            check_positive(width_or_height, name)
        check_pixels(screen_px, self.size_mm, self.names[1])
        return ScreenGeometry(
            width_px=screen_px[0],
            height_px=screen_px[1],
            width_mm=self.size_mm[0],
            height_mm=self.size_mm[1],
            eye_distance_mm=self.distance_mm,
            eye_x_mm=self.eye_mm[0],
            eye_y_mm=self.eye_mm[1],
        )


@dataclass(frozen=True)
class FoundGeometry:
    """A geometry and where it came from; `geometry` is None if positions are angles already."""

    geometry: Geometry | None
    source: GeometrySource
    warning: str | None = None


def parse_geometry(
    screen: str | None,
    size_mm: str | None,
    distance_mm: str | float | None,
    *,
    names: tuple[str, str, str] = FLAGS,
) -> GeometryFlags:
    """Parse a user's 1920x1080, 535x301 and 600; `names` are used in errors."""
    width_height_px = _pair(screen, names[0], "1920x1080")
    if width_height_px is not None and not all(v.is_integer() for v in width_height_px):
        raise ConfigError(f"a screen has whole pixels, not {screen}", key=names[0])
    return GeometryFlags(
        screen_px=None
        if width_height_px is None
        else (int(width_height_px[0]), int(width_height_px[1])),
        size_mm=_pair(size_mm, names[1], "535x301"),
        distance_mm=_distance_mm(distance_mm, names[2]),
        names=names,
    )


def find_geometry(
    block: Block,
    recording: Recording,
    flags: GeometryFlags | None = None,
    corpus_screen: ScreenGeometry | None = None,
) -> FoundGeometry:
    """Return the geometry of a block, or raise an error that explains how to give one."""
    stream = block.stream
    screen_px = stream.screen_px or recording.screen_px
    if stream.coordinates is Coordinates.RAW:
        raise RecordingError(
            "holds raw pupil positions of the camera, which cannot become angles: record "
            "or convert it with gaze or HREF data",
            path=recording.path,
        )
    if flags is not None and flags.given:
        screen = flags.screen_geometry(screen_px)
        return FoundGeometry(screen, "flags", _size_warning(screen, screen_px, "--screen"))
    screen_of_recording = stream.screen or recording.screen
    if screen_of_recording is not None:
        return FoundGeometry(screen_of_recording, "recording")
    if corpus_screen is not None:
        warning = _size_warning(corpus_screen, screen_px, "corpus.csv")
        return FoundGeometry(corpus_screen, "corpus", warning)
    if stream.coordinates is not Coordinates.SCREEN_PX:
        return FoundGeometry(None, "none needed")
    resolution = recording.tracker_resolution
    if resolution is None:
        raise RecordingError(
            f"does not give the size and distance of the screen: add {HOW_TO_GIVE} (or "
            "columns screen_px,size_mm,distance_mm in corpus.csv)",
            path=recording.path,
        )
    width_px, height_px = screen_px or (1, 1)
    geometry = AngularResolution(
        x_px_per_deg=resolution.px_per_deg[0],
        y_px_per_deg=resolution.px_per_deg[1],
        centre_x_px=(width_px - 1) / 2,
        centre_y_px=(height_px - 1) / 2,
    )
    return FoundGeometry(geometry, "resolution", _resolution_warning(resolution))


def with_screen(recording: Recording, screen: ScreenGeometry) -> Recording:
    """Return the recording as viewed on `screen`."""
    blocks = tuple(
        replace(block, stream=msgspec.structs.replace(block.stream, screen=screen))
        for block in recording.blocks
    )
    return replace(
        recording,
        screen=screen,
        screen_px=screen.size_px,
        blocks=blocks,
    )


def positions_deg(
    x: SingleFloats, y: SingleFloats, coordinates: Coordinates, found: FoundGeometry
) -> tuple[Floats, Floats]:
    """Return positions (n,) in degrees; NaN where missing or infinite, y grows downwards."""
    position = x.astype(np.float64), y.astype(np.float64)
    for column in position:
        column[np.isinf(column)] = np.nan
    if coordinates is Coordinates.DEGREES:
        return position
    if coordinates is Coordinates.HREF:
        return href_to_deg(*position)
    if coordinates is Coordinates.SCREEN_PX and found.geometry is not None:
        return found.geometry.px_to_deg(*position)
    raise RecordingError(f"positions in {coordinates.value} cannot be converted to degrees")


def href_to_deg(x_href: Floats, y_href: Floats) -> tuple[Floats, Floats]:
    """Return the angles of HREF coordinates."""
    return (
        np.degrees(np.arctan(x_href / HREF_DISTANCE)),
        np.degrees(np.arctan(y_href / HREF_DISTANCE)),
    )


def _pair(text: str | None, name: str, example: str) -> tuple[float, float] | None:
    """Read WIDTHxHEIGHT."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*[xX×]\s*(\d+(?:\.\d+)?)\s*", text)
    if match is None:
        raise ConfigError(f"must be width x height, such as {example}, not {text!r}", key=name)
    return float(match[1]), float(match[2])


def _distance_mm(value: str | float | None, name: str) -> float | None:
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        raise ConfigError(f"must be millimetres, such as 600, not {value!r}", key=name) from None


def _size_warning(
    screen: ScreenGeometry, recorded_px: tuple[int, int] | None, where: str
) -> str | None:
    given_px = screen.size_px
    if recorded_px is None or recorded_px == given_px:
        return None
    return (
        f"{where} gives {given_px[0]}x{given_px[1]} px, but the recording gives "
        f"{recorded_px[0]}x{recorded_px[1]} px; using {where}"
    )


def with_one_resolution(recording: Recording) -> Recording:
    """Return the recording with its resolution in every block.

    A replay plays this: live, only the blocks so far are known.
    """
    found = recording.tracker_resolution
    if found is None:
        return recording
    blocks = tuple(
        replace(block, stream=msgspec.structs.replace(block.stream, px_per_deg=found.px_per_deg))
        for block in recording.blocks
    )
    return replace(recording, blocks=blocks)


def _resolution_warning(found: TrackerResolution) -> str:
    spread = ""
    if found.uncertainty >= LEAST_UNCERTAINTY:
        x, y = zip(found.lowest, found.highest, strict=True)
        spread = (
            f" and varies with where the eye looks ({x[0]:.1f}–{x[1]:.1f} × {y[0]:.1f}–{y[1]:.1f}),"
            f" so amplitudes may be off by {100 * found.uncertainty:.0f} %"
        )
    return (
        f"degrees come from the tracker's own resolution ({found.px_per_deg[0]:.1f} × "
        f"{found.px_per_deg[1]:.1f} px per degree), which is approximate{spread}: for exact ones "
        f"add {HOW_TO_GIVE}, with your screen's numbers"
    )
