"""The vendor's calibration display in the experiment's window, with our target.

EyeLink's camera image, menus and keys are the vendor's; targets are where and as the experiment's
own are: on the right pixel, to scale in a window of another size, with a small hole.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable
from typing import Any

from gazelive.errors import DeviceUnavailableError
from gazelive.experiment.display import Target
from gazelive.experiment.psychopy_window import Window, background_colour

ESCAPE = 27


def make_graphics(
    tracker: Any,
    window: Window,
    draw: Callable[[Target], None],
    *,
    ink_grey: int,
    background_grey: int,
) -> Any:
    """Return an `EyeLinkCoreGraphicsPsychoPy`, ready for `openGraphicsEx`.

    `draw` puts a target into the frame that comes next.
    """
    try:
        # it greets and complains on the console: of a missing sound device, for example
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from EyeLinkCoreGraphicsPsychoPy import EyeLinkCoreGraphicsPsychoPy
    except (ImportError, AttributeError) as error:  # an unrelated `pylink` lacks what it needs
        raise DeviceUnavailableError(
            f"the calibration display is not here ({error}): pip install 'gazelive[eyelink]'"
        ) from error

    pylink = sys.modules[EyeLinkCoreGraphicsPsychoPy.__module__].pylink

    class Graphics(EyeLinkCoreGraphicsPsychoPy):  # type: ignore[misc]
        """The vendor's display with our target."""

        was_interrupted = False
        """Whether Ctrl-C was heard; the native library that calls us may not pass it on."""

        def get_input_key(self) -> list[Any]:
            """Return the keys that were pressed; after Ctrl-C Esc, until set-up is left."""
            try:
                keys: list[Any] = super().get_input_key()
            except KeyboardInterrupt:
                self.was_interrupted = True
            return [pylink.KeyInput(ESCAPE, 0)] if self.was_interrupted else keys

        def update_cal_target(self) -> None:
            """Have no target of the vendor's ready."""

        def draw_cal_target(self, x: float, y: float) -> None:
            """Show the experiment's own target; x and y are pixels of the screen."""
            self._calibInst.autoDraw = False
            self.clear_cal_display()
            draw(Target(x_px=x, y_px=y))
            self._display.flip()

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graphics = Graphics(tracker, window)
    graphics.setCalibrationColors(background_colour(ink_grey), background_colour(background_grey))
    return graphics
