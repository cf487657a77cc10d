"""Calibration graphics of the EyeLink in the experiment's window, with our own target.

Camera image, menus and keys are the vendor's. Targets are drawn like all scenes: on the exact
pixel, to scale in a window of another size, with a small hole.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable
from typing import Any

from gazelive.errors import DeviceUnavailableError
from gazelive.experiment.display.display import Target
from gazelive.experiment.display.psychopy_window import Window, background_colour

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

    `draw` puts a target into the next frame.
    """
    try:
        # it prints on the console, for example about a missing sound device
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from EyeLinkCoreGraphicsPsychoPy import EyeLinkCoreGraphicsPsychoPy
    except (ImportError, AttributeError) as error:  # an unrelated package named `pylink`
        raise DeviceUnavailableError(
            f"the calibration graphics are not installed ({error}): pip install 'gazelive[eyelink]'"
        ) from error

    pylink = sys.modules[EyeLinkCoreGraphicsPsychoPy.__module__].pylink

    class Graphics(EyeLinkCoreGraphicsPsychoPy):  # type: ignore[misc]
        """The vendor's graphics with our target."""

        was_interrupted = False
        """True if Ctrl-C was pressed; the native caller may not pass the exception on."""

        def get_input_key(self) -> list[Any]:
            """Return the pressed keys; after Ctrl-C always Esc, which leaves the setup."""
            try:
                keys: list[Any] = super().get_input_key()
            except KeyboardInterrupt:
                self.was_interrupted = True
            return [pylink.KeyInput(ESCAPE, 0)] if self.was_interrupted else keys

        def update_cal_target(self) -> None:
            """Prepare nothing: the vendor's target is not used."""

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
