"""The vendor's calibration display in the experiment's window, with our target.

EyeLink's camera image, menus and keys are the vendor's; targets are where and as the experiment's
own are: on the right pixel, to scale in a window of another size, with a small hole.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

from gazelive.errors import DeviceUnavailableError
from gazelive.experiment.psychopy_window import Window, background_colour
from gazelive.experiment.scene_painting import TARGET_DEG, TARGET_HOLE_DEG, Painter


def make_graphics(tracker: Any, window: Window, painter: Painter) -> Any:
    """Return an `EyeLinkCoreGraphicsPsychoPy`, ready for `openGraphicsEx`."""
    try:
        # it greets and complains on the console: of a missing sound device, for example
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from EyeLinkCoreGraphicsPsychoPy import EyeLinkCoreGraphicsPsychoPy
    except ImportError as error:
        raise DeviceUnavailableError(
            f"the calibration display is not here ({error}): pip install 'gazelive[eyelink]'"
        ) from error

    class Graphics(EyeLinkCoreGraphicsPsychoPy):  # type: ignore[misc]
        """The vendor's display with our target."""

        def update_cal_target(self) -> None:
            """Make the target; the vendor's hole is half as wide as the disc."""
            super().update_cal_target()
            self._tarInner.size = painter.length_px(TARGET_HOLE_DEG)

        def draw_cal_target(self, x: float, y: float) -> None:
            """Draw it where the experiment draws, in pixels whose centres are integers."""
            x_px, y_px = painter.to_window(x, y)
            super().draw_cal_target(x_px + 0.5, y_px + 0.5)

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graphics = Graphics(tracker, window)
    ink = background_colour(painter.ink[0])
    graphics.setCalibrationColors(ink, background_colour(painter.background_grey))
    graphics.setTargetSize(painter.length_px(TARGET_DEG))
    return graphics
