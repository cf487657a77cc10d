"""Camera set-up, calibration, validation and drift check, and the tracker's results of them.

The tracker answers with the text of its last result. The words of its data file (`!CAL VALIDATION
HV9 R RIGHT GOOD ERROR 0.43 avg. 0.63 max …`) are read as such. The short form of newer software
(`validation_result: 0.43 0.63 0.36`: mean, maximum and offset of each eye) is read only where its
numbers are plausible. Any other text is kept without numbers: the EDF has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, cast

from gazelive.devices.eyelink.link import Link
from gazelive.errors import CalibrationError
from gazelive.gaze import Eyes, Message
from gazelive.recordings import Calibration, DriftCorrection, interpret, validation_verdict

Eye = Literal["L", "R"]
Kind = Literal["calibration", "validation"]

NO_REPLY = 1000
FAILED, ABORTED = -1, 27
_VERDICTS = {0: "OK", 1: "POOR"}
_RESULT = re.compile(r"!?(?:CAL\s+)?((?:CALIBRATION|VALIDATION)\s.*)")
_DRIFT = re.compile(r"DRIFTCORRECT\s.*")
_SHORT = re.compile(r"validation_result\s*:\s*([-+.\d\s]+)", re.IGNORECASE)
_LARGEST_ERROR_DEG = 45.0
_LONGEST_TEXT = 120


def calibration_results(
    text: str, code: int, *, time_us: int, eyes: Eyes, model: str
) -> tuple[Calibration, ...]:
    """Return the results of each eye; a validation implies an earlier calibration."""
    results = list(interpret(_messages(text, _RESULT, "!CAL ", time_us)).calibrations)
    results = results or list(_short_form(text, time_us, eyes, model))
    if not results:
        kind: Kind = "validation" if "valid" in text.lower() else "calibration"
        verdict = " ".join(text.split())[:_LONGEST_TEXT] or _VERDICTS.get(code)
        results = [_result(kind, eye, time_us, model, verdict) for eye in _each(eyes)]
    known = {(result.kind, result.eye) for result in results}
    before = [
        _result("calibration", eye, time_us, model, None)
        for kind, eye in sorted(known)
        if kind == "validation" and ("calibration", eye) not in known
    ]
    return tuple(sorted((*before, *results), key=lambda result: (result.eye, result.kind)))


def drift_results(text: str, *, time_us: int) -> tuple[DriftCorrection, ...]:
    """Return each eye's error at the target, none if the text has no numbers."""
    return interpret(_messages(text, _DRIFT, "", time_us)).drift_corrections


def _messages(text: str, pattern: re.Pattern[str], prefix: str, time_us: int) -> Iterator[Message]:
    for line in text.splitlines():
        match = pattern.search(line)
        if match:
            yield Message(time_us, prefix + match[match.lastindex or 0])


def _short_form(text: str, time_us: int, eyes: Eyes, model: str) -> Iterator[Calibration]:
    match = _SHORT.search(text)
    if match is None:
        return
    numbers = [float(word) for word in match[1].split() if re.fullmatch(r"[-+]?\d*\.?\d+", word)]
    triples = [numbers[at : at + 3] for at in range(0, len(numbers) - 2, 3)]
    of_eye = dict(zip("LR" if len(triples) == 2 else eyes, triples, strict=False))
    for eye in _each(eyes):
        mean_deg, max_deg, _ = of_eye.get(eye, (0.0, 0.0, 0.0))
        if 0 < mean_deg <= max_deg < _LARGEST_ERROR_DEG:
            yield Calibration(
                tracker_time_us=time_us,
                kind="validation",
                eye=eye,
                model=model,
                result=validation_verdict(mean_deg, max_deg),
                mean_error_deg=mean_deg,
                max_error_deg=max_deg,
            )


def _result(kind: Kind, eye: Eye, time_us: int, model: str, verdict: str | None) -> Calibration:
    return Calibration(tracker_time_us=time_us, kind=kind, eye=eye, model=model, result=verdict)


def _each(eyes: Eyes) -> Iterable[Eye]:
    return cast("tuple[Eye, ...]", tuple(eyes))


class SetupRoom:
    """Calibration between blocks, while the tracker draws into the experiment's window."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._graphics: Any = None

    def use_graphics(self, make: Callable[[Any], Any]) -> None:
        """Draw with the display that `make` creates for the tracker."""
        self.close()
        with self._link.doing("opening the calibration's graphics"):
            graphics = make(self._link.tracker)
            self._link.pylink.openGraphicsEx(graphics)
        self._graphics = graphics

    def close(self) -> None:
        """Release the window."""
        if self._graphics is not None:
            self._graphics = None
            self._link.pylink.closeGraphics()

    def calibrate(self, eyes: Eyes, model: str) -> tuple[Calibration, ...]:
        """Let the operator set up until they leave set-up; return its last result."""
        self._require_graphics("calibrating")
        tracker, before = self._link.tracker, self._last_text()
        with self._link.doing("calibrating"):
            tracker.setOfflineMode()
            tracker.doTrackerSetup()
            code, text = tracker.getCalibrationResult(), self._last_text()
            tracker.setOfflineMode()
            time_us = round(tracker.trackerTimeUsec())
        self._raise_if_interrupted()
        if not self._link.is_connected:
            raise self._link.lost("calibrating")
        if code in (ABORTED, FAILED):
            what = "was aborted" if code == ABORTED else "failed"
            raise CalibrationError(f"the calibration {what}: calibrate again")
        if code == NO_REPLY and text == before:
            # reading a result clears it, so this is an earlier text
            raise CalibrationError(
                "set-up was left without a calibration: press C to calibrate, V to validate, then O"
            )
        return calibration_results(text, code, time_us=time_us, eyes=eyes, model=model)

    def check_drift(self, x_px: float, y_px: float) -> tuple[str, tuple[DriftCorrection, ...]]:
        """Show the target until its fixation is accepted; return the tracker's text and numbers.

        Esc does not enter set-up from here: the experiment calibrates itself, and stores it.
        """
        self._require_graphics("checking drift")
        tracker = self._link.tracker
        try:
            code = tracker.doDriftCorrect(round(x_px), round(y_px), 1, 0)
        except RuntimeError as error:
            if not self._link.is_connected:
                raise self._link.lost("checking drift") from error
            raise CalibrationError(f"the drift check failed ({error}): recalibrate") from error
        self._raise_if_interrupted()
        if code != 0:
            how = "was left with Esc" if code == ABORTED else f"failed (code {code})"
            raise CalibrationError(f"the drift check {how}: recalibrate")
        text = self._last_text()
        return text, drift_results(text, time_us=round(tracker.trackerTimeUsec()))

    def _last_text(self) -> str:
        return (self._link.tracker.getCalibrationMessage() or "").strip()

    def _raise_if_interrupted(self) -> None:
        """Raise an error that occurred in the graphics, which pylink may not pass on."""
        if getattr(self._graphics, "was_interrupted", False):
            raise KeyboardInterrupt

    def _require_graphics(self, what: str) -> None:
        if self._graphics is None:
            raise CalibrationError(f"the EyeLink has no window for {what}: use_graphics first")
