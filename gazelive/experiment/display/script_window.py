"""The PsychoPy window of somebody else's script: its screen, its stimuli, and calibration in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gazelive.errors import ConfigError, DeviceDisconnectedError
from gazelive.experiment.display.display import Blank, Scene
from gazelive.experiment.display.psychopy_scenes import SceneStimuli, pixels_per_unit
from gazelive.experiment.display.psychopy_window import Window, import_psychopy
from gazelive.experiment.display.scene_painting import Painter
from gazelive.gaze import ScreenGeometry

RectanglePx = tuple[float, float, float, float]
"""Left, top, width and height in screen pixels."""


def screen_of(window: Window) -> ScreenGeometry:
    """Return the screen that PsychoPy's monitor describes; pixels are taken as square."""
    monitor = getattr(window, "monitor", None)
    width_cm, distance_cm = (
        (None, None) if monitor is None else (monitor.getWidth(), monitor.getDistance())
    )
    if monitor is None or not width_cm or not distance_cm:
        raise ConfigError(
            "the window's monitor has no width and distance: give the screen, "
            "screen=gazelive.ScreenGeometry(width_px=1920, height_px=1080, width_mm=535, "
            "height_mm=301, eye_distance_mm=600)",
            key="screen",
        )
    width_px, height_px = (int(size) for size in monitor.getSizePix() or window.size)
    return ScreenGeometry(
        width_px=width_px,
        height_px=height_px,
        width_mm=10 * width_cm,
        height_mm=10 * width_cm * height_px / width_px,
        eye_distance_mm=10 * distance_cm,
    )


class ScriptWindow:
    """A window that a script opened and draws in; between trials a tracker calibrates in it.

    A window smaller than the screen counts as the screen to scale, which is good for trying out.
    """

    def __init__(self, window: Window, screen: ScreenGeometry) -> None:
        self._window = window
        self._visual, _, _ = import_psychopy()
        self._painter = Painter(
            screen, (int(window.size[0]), int(window.size[1])), _grey_of(window)
        )
        self._scenes = SceneStimuli(self._visual, window, self._painter)

    @property
    def size_px(self) -> tuple[int, int]:
        """Size of the window in pixels."""
        return self._painter.window_px

    @property
    def background_grey(self) -> int:
        """The grey, 0 to 255, that is as bright as the background."""
        return self._painter.background_grey

    def position(self, x_px: float, y_px: float) -> tuple[float, float]:
        """Return a screen position in the window's `pix` units: from its centre, y upwards."""
        screen, scale = self._painter.screen, self._scale
        return (
            (x_px + 0.5 - screen.width_px / 2) * scale,
            (screen.height_px / 2 - y_px - 0.5) * scale,
        )

    def rectangle_px(self, stimulus: Any) -> RectanglePx:
        """Return the rectangle around a stimulus of this window."""
        try:
            corners = stimulus.verticesPix
        except AttributeError:
            raise ConfigError(
                f"{type(stimulus).__name__} has no corners: give rectangle_px", key="image"
            ) from None
        screen, scale = self._painter.screen, self._scale
        xs = [float(x) / scale + screen.width_px / 2 for x, _ in corners]
        ys = [screen.height_px / 2 - float(y) / scale for _, y in corners]
        return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)

    @property
    def _scale(self) -> float:
        """Units `pix` of the window per screen pixel."""
        return self._painter.scale / pixels_per_unit(self._window)

    def show(self, scene: Scene) -> None:
        """Show a scene of our own now."""
        self._draw(scene)
        self._window.flip()

    def _draw(self, scene: Scene) -> None:
        self._scenes.prepare(scene)
        self._scenes.draw(scene)

    def calibration_graphics(self) -> Callable[[Any], Any]:
        """Return a function that creates the vendor's calibration graphics in this window."""
        from gazelive.experiment.display.psychopy_calibration import make_graphics

        return lambda tracker: make_graphics(
            tracker,
            self._window,
            self._draw,
            ink_grey=self._painter.ink[0],
            background_grey=self._painter.background_grey,
        )

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """Use the window for something else, and give it back as it was, with a blank frame."""
        window = self._window
        if getattr(window, "_closed", False):
            raise DeviceDisconnectedError("the script's window is closed: calibrate before that")
        before = window.color, window.units, window.mouseVisible
        window.stashAutoDraw()
        try:
            yield
        finally:
            if not getattr(window, "_closed", False):
                window.color, window.units, window.mouseVisible = before
                self.show(Blank())
                window.retrieveAutoDraw()


def _grey_of(window: Window) -> int:
    """Return the grey, 0 to 255, that is as bright as the window's background."""
    levels = [float(level) for level in window.rgb]
    return round((sum(levels) / len(levels) + 1) * 127.5)
