"""Display protocol and the scenes that it shows; positions are screen pixels from the top left.

Trials use only this protocol, which allows tests on a manual clock; `psychopy_display.py` is the
real display.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from gazelive.gaze import ScreenGeometry


class Blank(msgspec.Struct, frozen=True):
    """The background only."""


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
    """Centred text, and a smaller line below it that says which key to press."""

    text: str
    hint: str = ""


class Question(msgspec.Struct, frozen=True):
    """An image with a question below it."""

    picture: Picture
    text: str
    hint: str = ""


Scene = Blank | Cross | Target | Picture | Words | Question

Key = str
"""PsychoPy's name of a key: "space", "escape", "s" …"""


class Display(Protocol):
    """A window that shows one scene at a time, frame by frame.

    `flip` blocks until the next frame is on the screen. Only the thread that created the window
    may call it.
    """

    screen: ScreenGeometry
    """The screen of the gaze coordinates; a window of another size shows everything to scale."""
    frame_s: float
    """Measured duration of a frame."""
    is_synced: bool
    """True if flips wait for the screen (vsync); else the clock paces them."""

    def prepare(self, scene: Scene) -> None:
        """Load what `scene` needs (decode the image, fill the texture) to show it quickly later.

        A few scenes are kept; the oldest are dropped.
        """
        ...

    def show(self, scene: Scene) -> None:
        """Draw `scene` in every frame from the next flip on."""
        ...

    def flip(self) -> float:
        """Show the next frame; return its onset time, in the host clock's seconds."""
        ...

    def pressed(self) -> tuple[Key, ...]:
        """Return the keys pressed since the last call, without waiting."""
        ...

    def come_to_front(self) -> None:
        """Raise the window above all others and give it the keyboard focus."""
        ...

    def save_screenshot(self, path: Path) -> None:
        """Save the current screen as PNG."""
        ...

    def calibration_graphics(self) -> Callable[[Any], Any]:
        """Return a function that creates the vendor's calibration graphics in this window."""
        ...

    def close(self) -> None:
        """Close the window; may be called twice."""
        ...


class Participant(msgspec.Struct, frozen=True, kw_only=True):
    """The participant, session number, eyes and mode, from the dialog or the command line."""

    viewer: str | None
    """None if the session identifies an unknown participant."""
    session: int
    eyes: Literal["L", "R", "LR"]
    mode: Literal["enrol", "identify"]
