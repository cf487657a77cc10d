"""The experiment's real window, made by PsychoPy. Importing this module does not import PsychoPy.

Scenes are painted by `scene_painting.py` and shown pixel by pixel: screen coordinates (from the
top left, integers are pixel centres) become PsychoPy's (from the centre, upwards) in one place.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gazelive.atomic import written_aside
from gazelive.clock import Clock
from gazelive.config.schema import Screen
from gazelive.errors import DeviceDisconnectedError
from gazelive.experiment.display import Blank, Key, Scene, Target
from gazelive.experiment.frames import FramePacer, measured_frame_s
from gazelive.experiment.psychopy_window import (
    Window,
    import_psychopy,
    known_rates_hz,
    open_window,
)
from gazelive.experiment.scene_painting import Painter, Patch

KEPT_SCENES = 6
"""How many prepared scenes are kept; those used longest ago are let go."""
REDRAW_S = 0.25
"""A scene that stays is drawn again after this time on a screen that does not ask for frames.

It is drawn by the processor there, which has better things to do.
"""
WARM_UP_FRAMES, MEASURED_FRAMES = 5, 31


class PsychoPyDisplay:
    """A `Display` in a PsychoPy window: full screen, or to scale in a window with a frame.

    `is_synced` says whether the screen itself holds flips back; where it does not (a virtual
    screen), they are held to the configured rate by the clock.
    """

    def __init__(
        self,
        screen: Screen,
        *,
        clock: Clock,
        windowed: bool = False,
        size_px: tuple[int, int] | None = None,
        close_key: Key = "escape",
    ) -> None:
        """Open the window. `close_key` is what `pressed` says once somebody closes it."""
        self._visual, self._event, _ = import_psychopy()
        self.screen = screen.geometry
        self._clock = clock
        self._close_key = close_key
        self._close_asked = False
        self._window: Window | None = open_window(screen, windowed=windowed, size_px=size_px)
        self._window.winHandle.on_close = self._on_close
        self._painter = Painter(
            screen=self.screen,
            window_px=(int(self._window.size[0]), int(self._window.size[1])),
            background_grey=screen.background_grey,
        )
        self._stimuli: OrderedDict[Scene, list[Any]] = OrderedDict()
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
        """Size of the window, in its own pixels."""
        return self._painter.window_px

    @property
    def window(self) -> Window:
        """PsychoPy's window, for what is drawn by others."""
        if self._window is None:
            raise DeviceDisconnectedError("the experiment's window has been closed")
        return self._window

    def prepare(self, scene: Scene) -> None:
        """Paint `scene` and bring it to the graphics card, so that showing it is quick."""
        window = self.window
        if scene not in self._stimuli:
            stimuli = [self._stimulus(patch) for patch in self._painter.paint(scene)]
            for stimulus in stimuli:  # the first drawing of a texture is the slow one
                stimulus.draw()
            window.clearBuffer()
            self._stimuli[scene] = stimuli
        self._stimuli.move_to_end(scene)
        self._let_go()

    def show(self, scene: Scene) -> None:
        """Draw `scene` in every frame from the next flip on."""
        self.prepare(scene)
        self._shown = scene
        self._redraw_s = self._clock.now_s()

    def flip(self) -> float:
        """Show the next frame; return when it came on the screen, in the clock's seconds."""
        window = self.window
        if self._pacer is None:
            self._draw()
            window.flip()
            return self._clock.now_s()
        redraws = self._clock.now_s() >= self._redraw_s
        if redraws:
            self._draw()
            window.backend.GL.glFinish()  # what is drawn is drawn before its time
        self._pacer.wait()
        if redraws:
            window.flip()
            self._redraw_s = self._clock.now_s() + REDRAW_S
        else:
            window.winHandle.dispatch_events()
        return self._clock.now_s()

    def pressed(self) -> tuple[Key, ...]:
        """Return the keys that were pressed since the last call; closing the window is one."""
        if self._window is None:
            return (self._close_key,)
        keys = tuple(self._event.getKeys())
        if self._close_asked:
            self._close_asked = False
            return (*keys, self._close_key)
        return keys

    def come_to_front(self) -> None:
        """Take the keyboard from the dashboard, which may have opened later."""
        with contextlib.suppress(Exception):  # where the system does not let it, a click will do
            self.window.winHandle.activate()

    def save_screenshot(self, path: Path) -> None:
        """Write what is on the screen now as PNG."""
        window = self.window
        window.clearBuffer()
        self._draw()
        # the front buffer is black on a virtual screen
        image = window._getFrame(buffer="back").convert("RGB")
        window.clearBuffer()
        with written_aside(path) as aside:
            image.save(aside, "PNG")

    def calibration_graphics(self) -> Callable[[Any], Any]:
        """Return what makes the vendor's calibration display of a tracker, in this window."""
        from gazelive.experiment.psychopy_calibration import make_graphics

        return lambda tracker: make_graphics(
            tracker,
            self.window,
            self._draw_now,
            ink_grey=self._painter.ink[0],
            background_grey=self._painter.background_grey,
        )

    def close(self) -> None:
        """Close the window; twice is fine."""
        window, self._window = self._window, None
        self._stimuli.clear()
        if window is not None:
            window.close()

    def _draw(self) -> None:
        for stimulus in self._stimuli.get(self._shown, ()):
            stimulus.draw()

    def _draw_now(self, scene: Scene) -> None:
        """Draw a scene into the next frame only, which another one flips."""
        self.prepare(scene)
        for stimulus in self._stimuli[scene]:
            stimulus.draw()

    def _stimulus(self, patch: Patch) -> Any:
        """Return a patch as a texture that lies exactly on the window's pixels."""
        (width, height), (window_width, window_height) = patch.image.size, self.window_px
        # PsychoPy counts points, two pixels wide, on Apple's Retina screens
        unit_px = 2 if self.window.useRetina else 1
        return self._visual.ImageStim(
            self.window,
            image=patch.image,
            units="pix",
            size=(width / unit_px, height / unit_px),
            pos=(
                (patch.left_px + width / 2 - window_width / 2) / unit_px,
                (window_height / 2 - patch.top_px - height / 2) / unit_px,
            ),
            interpolate=False,
            autoLog=False,
        )

    def _let_go(self) -> None:
        """Free the textures of the scenes that were used longest ago."""
        for scene in list(self._stimuli)[:-KEPT_SCENES]:
            if scene != self._shown:
                for stimulus in self._stimuli.pop(scene):
                    stimulus.clearTextures()

    def _measured_frame_s(self, configured_hz: float) -> float | None:
        flips_s = []
        for _ in range(WARM_UP_FRAMES + MEASURED_FRAMES):
            self.window.flip()
            flips_s.append(self._clock.now_s())
        return measured_frame_s(
            flips_s[WARM_UP_FRAMES:], known_rates_hz(self.window, configured_hz)
        )

    def _on_close(self) -> bool:
        """Take the click on × as a key, so that the session ends in order."""
        self._close_asked = True
        return True  # pyglet would destroy the window otherwise
