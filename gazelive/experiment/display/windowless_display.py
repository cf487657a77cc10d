"""Display without a window, for a simulated viewer on a computer without a screen.

It is never a fallback: it must be requested, as the demo does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image

from gazelive.clock import Clock
from gazelive.errors import ConfigError, DeviceDisconnectedError, DeviceUnavailableError
from gazelive.experiment.config.schema import Screen
from gazelive.experiment.display.display import Blank, Key, Scene
from gazelive.experiment.display.frames import FramePacer
from gazelive.experiment.display.scene_painting import Painter
from gazelive.experiment.process.launch import RunSpec
from gazelive.system import replacing

KEPT_SCENES = 6
"""Number of painted scenes kept; the least recently used are dropped."""


def open_windowless(spec: RunSpec, clock: Clock) -> WindowlessDisplay:
    """Return a display for a simulated viewer; people need a window."""
    if spec.config.tracker.device != "simulated":
        raise ConfigError(
            "without a window only a simulated viewer can take part",
            key="tracker.device",
        )
    return WindowlessDisplay(spec.config.screen, clock=clock, size_px=spec.window_px)


class WindowlessDisplay:
    """Frames are paced by the clock; screenshots have the pixels of a real window."""

    def __init__(
        self, screen: Screen, *, clock: Clock, size_px: tuple[int, int] | None = None
    ) -> None:
        """Use `size_px` as the size of the missing window; None is the whole screen."""
        self.screen = screen.geometry
        self.frame_s = 1 / screen.refresh_rate_hz
        self.is_synced = False
        self._clock = clock
        self._pacer = FramePacer(self.frame_s, clock)
        self._painter = Painter(
            self.screen, size_px or (screen.width_px, screen.height_px), screen.background_grey
        )
        self._paint = lru_cache(KEPT_SCENES)(self._painter.paint)
        self._shown: Scene = Blank()
        self._closed = False

    def prepare(self, scene: Scene) -> None:
        """Paint `scene`; an unreadable image fails here, as with a window."""
        self._require_open()
        self._paint(scene)

    def show(self, scene: Scene) -> None:
        """Show `scene` from the next flip on."""
        self.prepare(scene)
        self._shown = scene

    def flip(self) -> float:
        """Wait for the time of the next frame and return it."""
        self._require_open()
        self._pacer.wait()
        return self._clock.now_s()

    def pressed(self) -> tuple[Key, ...]:
        """Return no keys: without a window there are none."""
        return ()

    def come_to_front(self) -> None:
        """Do nothing."""

    def save_screenshot(self, path: Path) -> None:
        """Save what a window would show now as PNG."""
        self._require_open()
        background = (self._painter.background_grey,) * 3
        image = Image.new("RGB", self._painter.window_px, background)
        for patch in self._paint(self._shown):
            image.paste(patch.image, (patch.left_px, patch.top_px))
        with replacing(path) as aside:
            image.save(aside, "PNG")

    def calibration_graphics(self) -> Callable[[Any], Any]:
        """Raise: a tracker's own calibration needs a window."""
        raise DeviceUnavailableError("calibration needs a window")

    def close(self) -> None:
        """Close the display; may be called twice."""
        self._closed = True

    def _require_open(self) -> None:
        if self._closed:
            raise DeviceDisconnectedError("the display is closed")
