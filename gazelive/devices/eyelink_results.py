"""What the EyeLink says of a calibration, a validation or a drift check.

The tracker answers with the text of its last result. The words of its own data file are known for
certain (`!CAL VALIDATION HV9 R RIGHT GOOD ERROR 0.43 avg. 0.63 max …`) and are read as such; for
the short form that newer software gives (`validation_result: 0.43 0.63 0.36`: mean, maximum and
offset of each eye) numbers are taken only where they make sense as such. Any other text is kept
as it is, without numbers: the EDF has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, cast

from gazelive.gaze.samples import Eyes
from gazelive.gaze.stream import Message
from gazelive.recordings.eyelink_messages import interpret
from gazelive.recordings.recording import Calibration, DriftCorrection

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
    """Return the results of each eye; what is validated was calibrated before."""
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
    """Return how far each eye was from the target, none if the text does not say."""
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
                mean_error_deg=mean_deg,
                max_error_deg=max_deg,
            )


def _result(kind: Kind, eye: Eye, time_us: int, model: str, verdict: str | None) -> Calibration:
    return Calibration(tracker_time_us=time_us, kind=kind, eye=eye, model=model, result=verdict)


def _each(eyes: Eyes) -> Iterable[Eye]:
    return cast("tuple[Eye, ...]", tuple(eyes))
