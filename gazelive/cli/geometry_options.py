"""The flags that say how large the screen is and how far the eye; the same on every command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gazelive.recordings.geometry import GeometryFlags

_PANEL = "Screen"

Screen = Annotated[
    str | None,
    typer.Option(
        "--screen", metavar="WxH", help="Screen in pixels: 1920x1080.", rich_help_panel=_PANEL
    ),
]
SizeMm = Annotated[
    str | None,
    typer.Option(
        "--size-mm",
        metavar="WxH",
        help="Its visible size in millimetres: 535x301.",
        rich_help_panel=_PANEL,
    ),
]
DistanceMm = Annotated[
    str | None,
    typer.Option(
        "--distance-mm",
        metavar="D",
        help="From the eye to the screen in millimetres: 600.",
        rich_help_panel=_PANEL,
    ),
]


def geometry_flags(
    screen: str | None, size_mm: str | None, distance_mm: str | None
) -> GeometryFlags:
    """Return what the three flags say."""
    from gazelive.recordings.geometry import parse_geometry

    return parse_geometry(screen, size_mm, distance_mm)
