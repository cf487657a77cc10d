"""What an experiment needs of a window. Positions are screen pixels, from the top left.

The trial's logic knows only this, so that it is tested by a manual clock; `psychopy_display.py`
is the real one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from gazelive.gaze.screen import ScreenGeometry


class Blank(msgspec.Struct, frozen=True):
    """Nothing but the background."""


class Cross(msgspec.Struct, frozen=True):
    """A fixation cross."""

    x_px: float
    y_px: float
    size_deg: float


class Target(msgspec.Struct, frozen=True):
    """A calibration target (a disc with a small hole)."""

    x_px: float
    y_px: float


class Picture(msgspec.Struct, frozen=True):
    """An image file, scaled into a rectangle."""

    path: Path
    left_px: float
    top_px: float
    width_px: float
    height_px: float


class Words(msgspec.Struct, frozen=True):
    """Text in the middle of the screen, and a smaller line below it that says what to press."""

    text: str
    hint: str = ""


class Question(msgspec.Struct, frozen=True):
    """An image with a question below it."""

    picture: Picture
    text: str
    hint: str = ""


Scene = Blank | Cross | Target | Picture | Words | Question

Key = str
"""As PsychoPy names them: "space", "escape", "s" …"""


class Display(Protocol):
    """A window that shows one scene at a time, frame by frame.

    `flip` blocks until the next frame is on the screen; whoever calls it in a loop lives at the
    screen's rate. Only the thread that made the window may call it.
    """

    screen: ScreenGeometry
    """The screen that gaze is measured on. A window of another size shows everything to scale."""
    frame_s: float
    """Time from one frame to the next, measured."""
    is_synced: bool
    """Whether the screen itself holds flips back; else the clock does, and frames say little."""

    def prepare(self, scene: Scene) -> None:
        """Load what `scene` needs (decode the image, fill the texture), so that showing is quick.

        Keeps a few; those prepared longest ago are let go.
        """
        ...

    def show(self, scene: Scene) -> None:
        """Draw `scene` in every frame from the next flip on."""
        ...

    def flip(self) -> float:
        """Show the next frame; return when it came on the screen, in the host clock's seconds."""
        ...

    def pressed(self) -> tuple[Key, ...]:
        """Return the keys that were pressed since the last call, without waiting."""
        ...

    def come_to_front(self) -> None:
        """Be on top and have the keyboard, whatever other windows have opened since."""
        ...

    def save_screenshot(self, path: Path) -> None:
        """Write what is on the screen now as PNG."""
        ...

    def calibration_graphics(self) -> Callable[[Any], Any]:
        """Return what makes the vendor's calibration display of a tracker, in this window."""
        ...

    def close(self) -> None:
        """Close the window; twice is fine."""
        ...


class Participant(msgspec.Struct, frozen=True, kw_only=True):
    """What the dialogue at the start asks for."""

    viewer: str | None
    """None in a session that identifies somebody unknown."""
    session: int
    eyes: Literal["L", "R", "LR"]
    mode: Literal["enrol", "identify"]
