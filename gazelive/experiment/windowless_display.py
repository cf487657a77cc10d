"""A `Display` without a window: the experiment for a simulated viewer where nothing can be shown.

Nobody falls back to it: who has no window opens this one by name, as the demo does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image

from gazelive.atomic import written_aside
from gazelive.clock import Clock
from gazelive.config.schema import Screen
from gazelive.errors import ConfigError, DeviceDisconnectedError, DeviceUnavailableError
from gazelive.experiment.display import Blank, Key, Scene
from gazelive.experiment.frames import FramePacer
from gazelive.experiment.scene_painting import Painter
from gazelive.experiment.spec import RunSpec

KEPT_SCENES = 6
"""How many painted scenes are kept; those used longest ago are let go."""


def open_windowless(spec: RunSpec, clock: Clock) -> WindowlessDisplay:
    """Return a display for a simulated viewer; people need something to look at."""
    if spec.config.tracker.device != "simulated":
        raise ConfigError(
            "without a window there is nothing to look at: only a simulated viewer can take part",
            key="tracker.device",
        )
    return WindowlessDisplay(spec.config.screen, clock=clock, size_px=spec.window_px)


class WindowlessDisplay:
    """Frames come by the clock; screenshots have the pixels that a window would have had."""

    def __init__(
        self, screen: Screen, *, clock: Clock, size_px: tuple[int, int] | None = None
    ) -> None:
        """Take the size of the window that is not there; None: of the whole screen."""
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
        """Paint `scene`: an image that cannot be read is found here, as with a window."""
        self._require_open()
        self._paint(scene)

    def show(self, scene: Scene) -> None:
        """Take it that `scene` is seen from the next flip on."""
        self.prepare(scene)
        self._shown = scene

    def flip(self) -> float:
        """Wait for the next frame's time and return it."""
        self._require_open()
        self._pacer.wait()
        return self._clock.now_s()

    def pressed(self) -> tuple[Key, ...]:
        """Return no keys: there is no window to press them in."""
        return ()

    def come_to_front(self) -> None:
        """Do nothing."""

    def save_screenshot(self, path: Path) -> None:
        """Write what a window would show now as PNG."""
        self._require_open()
        background = (self._painter.background_grey,) * 3
        image = Image.new("RGB", self._painter.window_px, background)
        for patch in self._paint(self._shown):
            image.paste(patch.image, (patch.left_px, patch.top_px))
        with written_aside(path) as aside:
            image.save(aside, "PNG")

    def calibration_graphics(self) -> Callable[[Any], Any]:
        """Refuse: a tracker's own calibration needs a window."""
        raise DeviceUnavailableError("without a window no tracker can be calibrated")

    def close(self) -> None:
        """End it; twice is fine."""
        self._closed = True

    def _require_open(self) -> None:
        if self._closed:
            raise DeviceDisconnectedError("the display has been closed")
