"""Display in a PsychoPy window. Importing this module does not import PsychoPy.

`scene_painting.py` paints the scenes; they are shown pixel by pixel. Screen coordinates (from the
top left, integers are pixel centres) become PsychoPy's (from the centre, upwards) in one place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gazelive.clock import Clock
from gazelive.errors import DeviceDisconnectedError
from gazelive.experiment.config.schema import Screen
from gazelive.experiment.display.display import Blank, Key, Scene, Target
from gazelive.experiment.display.frames import FramePacer, measured_frame_s
from gazelive.experiment.display.psychopy_scenes import SceneStimuli
from gazelive.experiment.display.psychopy_window import (
    Window,
    import_psychopy,
    known_rates_hz,
    open_window,
)
from gazelive.experiment.display.scene_painting import Painter
from gazelive.system import replacing

REDRAW_S = 0.25
"""Redraw interval of an unchanged scene on an unsynchronised screen.

There the processor draws, and drawing every frame would waste its time.
"""
WARM_UP_FRAMES, MEASURED_FRAMES = 5, 31


class PsychoPyDisplay:
    """A `Display` in a PsychoPy window: full screen, or to scale in a window with a frame.

    `is_synced` is whether flips wait for the screen; if not (a virtual screen), the clock paces
    them at the configured rate.
    """

    def __init__(
        self,
        screen: Screen,
        *,
        clock: Clock,
        windowed: bool = False,
        size_px: tuple[int, int] | None = None,
        dashboard: int | None = None,
        title: str = "gazelive",
        close_key: Key = "escape",
    ) -> None:
        """Open the window, with room for the dashboard if that is on the same screen.

        `pressed` returns `close_key` when the user closes it.
        """
        visual, self._event, _ = import_psychopy()
        self.screen = screen.geometry
        self._clock = clock
        self._close_key = close_key
        self._close_asked = False
        self._window: Window | None = open_window(
            screen, windowed=windowed, size_px=size_px, dashboard=dashboard, title=title
        )
        self._window.winHandle.on_close = self._on_close
        self._painter = Painter(
            screen=self.screen,
            window_px=(int(self._window.size[0]), int(self._window.size[1])),
            background_grey=screen.background_grey,
        )
        self._stimuli = SceneStimuli(visual, self._window, self._painter)
        self._shown: Scene = Blank()
        self._pacer: FramePacer | None = None
        self._redraw_s = clock.now_s()
        measured_s = self._measured_frame_s(screen.refresh_rate_hz)
        self.is_synced = measured_s is not None
        self.frame_s = 1 / screen.refresh_rate_hz if measured_s is None else measured_s
        if measured_s is None:
            self._pacer = FramePacer(self.frame_s, clock)
        # PsychoPy builds its shaders for the first image that it draws
        self.prepare(Target(x_px=0, y_px=0))
        self._event.clearEvents()

    @property
    def window_px(self) -> tuple[int, int]:
        """Size of the window in its own pixels."""
        return self._painter.window_px

    @property
    def window(self) -> Window:
        """PsychoPy's window; raises if it is closed."""
        if self._window is None:
            raise DeviceDisconnectedError("the experiment's window is closed")
        return self._window

    def prepare(self, scene: Scene) -> None:
        """Paint `scene` and upload it to the graphics card."""
        _ = self.window  # raises if it is closed
        self._stimuli.prepare(scene, shown=self._shown)

    def show(self, scene: Scene) -> None:
        """Draw `scene` in every frame from the next flip on."""
        self.prepare(scene)
        self._shown = scene
        self._redraw_s = self._clock.now_s()

    def flip(self) -> float:
        """Show the next frame; return its onset time, in the clock's seconds."""
        window = self.window
        if self._pacer is None:
            self._draw()
            window.flip()
            return self._clock.now_s()
        redraws = self._clock.now_s() >= self._redraw_s
        if redraws:
            self._draw()
            window.backend.GL.glFinish()  # finish drawing before the frame is due
        self._pacer.wait()
        if redraws:
            window.flip()
            self._redraw_s = self._clock.now_s() + REDRAW_S
        else:
            window.winHandle.dispatch_events()
        return self._clock.now_s()

    def pressed(self) -> tuple[Key, ...]:
        """Return the keys pressed since the last call; closing the window counts as one."""
        if self._window is None:
            return (self._close_key,)
        keys = tuple(self._event.getKeys())
        if self._close_asked:
            self._close_asked = False
            return (*keys, self._close_key)
        return keys

    def come_to_front(self) -> None:
        """Take the keyboard focus from the dashboard, which may have opened later."""
        with contextlib.suppress(Exception):  # if the system refuses, the user can click
            self.window.winHandle.activate()

    def save_screenshot(self, path: Path) -> None:
        """Save the current screen as PNG."""
        window = self.window
        window.clearBuffer()
        self._draw()
        # the front buffer is black on a virtual screen
        image = window._getFrame(buffer="back").convert("RGB")
        window.clearBuffer()
        with replacing(path) as aside:
            image.save(aside, "PNG")

    def calibration_graphics(self) -> Callable[[Any], Any]:
        """Return a function that creates the vendor's calibration graphics in this window."""
        from gazelive.experiment.display.psychopy_calibration import make_graphics

        return lambda tracker: make_graphics(
            tracker,
            self.window,
            self._draw_now,
            ink_grey=self._painter.ink[0],
            background_grey=self._painter.background_grey,
        )

    def close(self) -> None:
        """Close the window; may be called twice."""
        window, self._window = self._window, None
        self._stimuli.clear()
        if window is not None:
            window.close()

    def _draw(self) -> None:
        self._stimuli.draw(self._shown)

    def _draw_now(self, scene: Scene) -> None:
        """Draw a scene into the next frame, which the caller flips."""
        self.prepare(scene)
        self._stimuli.draw(scene)

    def _measured_frame_s(self, configured_hz: float) -> float | None:
        flips_s = []
        for _ in range(WARM_UP_FRAMES + MEASURED_FRAMES):
            self.window.flip()
            flips_s.append(self._clock.now_s())
        return measured_frame_s(
            flips_s[WARM_UP_FRAMES:], known_rates_hz(self.window, configured_hz)
        )

    def _on_close(self) -> bool:
        """Treat a click on × as the close key, so the session ends in order."""
        self._close_asked = True
        return True  # pyglet would destroy the window otherwise
