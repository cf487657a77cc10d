"""Camera set-up, calibration, validation and drift check, in a window of the experiment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gazelive.devices.eyelink_link import Link
from gazelive.devices.eyelink_results import (
    ABORTED,
    FAILED,
    NO_REPLY,
    calibration_results,
    drift_results,
)
from gazelive.errors import CalibrationError
from gazelive.gaze.samples import Eyes
from gazelive.recordings.recording import Calibration, DriftCorrection


class SetupRoom:
    """What happens between blocks, while the tracker draws into the experiment's window."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._graphics: Any = None

    def use_graphics(self, make: Callable[[Any], Any]) -> None:
        """Draw with what `make` makes of the tracker."""
        self.close()
        with self._link.doing("opening the calibration's graphics"):
            graphics = make(self._link.tracker)
            self._link.pylink.openGraphicsEx(graphics)
        self._graphics = graphics

    def close(self) -> None:
        """Let go of the window."""
        if self._graphics is not None:
            self._graphics = None
            self._link.pylink.closeGraphics()

    def calibrate(self, eyes: Eyes, model: str) -> tuple[Calibration, ...]:
        """Hand over to the operator until set-up is left; return what its last result says."""
        self._require_graphics("calibrating")
        tracker, before = self._link.tracker, self._last_text()
        with self._link.doing("calibrating"):
            tracker.setOfflineMode()
            tracker.doTrackerSetup()
            code, text = tracker.getCalibrationResult(), self._last_text()
            tracker.setOfflineMode()
            time_us = round(tracker.trackerTimeUsec())
        self._heed_ctrl_c()
        if not self._link.is_connected:
            raise self._link.lost("calibrating")
        if code in (ABORTED, FAILED):
            what = "was aborted" if code == ABORTED else "failed"
            raise CalibrationError(f"the calibration {what}: calibrate again")
        if code == NO_REPLY and text == before:
            # reading a result clears it, so this text is an earlier one's
            raise CalibrationError(
                "set-up was left without a calibration: press C to calibrate, V to validate, then O"
            )
        return calibration_results(text, code, time_us=time_us, eyes=eyes, model=model)

    def check_drift(self, x_px: float, y_px: float) -> tuple[str, tuple[DriftCorrection, ...]]:
        """Show the target until its fixation is accepted; return the tracker's words and numbers.

        Esc does not enter set-up from here: the experiment calibrates by itself, and stores it.
        """
        self._require_graphics("checking drift")
        tracker = self._link.tracker
        try:
            code = tracker.doDriftCorrect(round(x_px), round(y_px), 1, 0)
        except RuntimeError as error:
            if not self._link.is_connected:
                raise self._link.lost("checking drift") from error
            raise CalibrationError(f"the drift check failed ({error}): recalibrate") from error
        self._heed_ctrl_c()
        if code != 0:
            how = "was left with Esc" if code == ABORTED else f"failed (code {code})"
            raise CalibrationError(f"the drift check {how}: recalibrate")
        text = self._last_text()
        return text, drift_results(text, time_us=round(tracker.trackerTimeUsec()))

    def _last_text(self) -> str:
        return (self._link.tracker.getCalibrationMessage() or "").strip()

    def _heed_ctrl_c(self) -> None:
        """Raise what the graphics heard while pylink, which may not pass it on, called them."""
        if getattr(self._graphics, "was_interrupted", False):
            raise KeyboardInterrupt

    def _require_graphics(self, what: str) -> None:
        if self._graphics is None:
            raise CalibrationError(f"the EyeLink has no window for {what}: use_graphics first")
