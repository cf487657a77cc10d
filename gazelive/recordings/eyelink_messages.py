"""What EyeLink's own messages say: the screen, calibrations, drift corrections, true times.

The same messages stand in ASC and EDF files, so both readers ask here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import msgspec

from gazelive.gaze.samples import each_eye
from gazelive.gaze.stream import Message
from gazelive.recordings.recording import Calibration, DriftCorrection

LONGEST_COMMAND = 500
"""A tracker's message has up to 260 characters; longer ones are not searched for anything."""
ZERO_OFFSET = "+0 "
"""Before a text that starts with a number of its own: keeps it from being taken for an offset."""

_NUMBER = r"[-+]?\d+(?:\.\d*)?"
_OFFSET = re.compile(rf"([-+]?\d{{1,6}})[ \t]+(?=\S)(?!{_NUMBER}(?:[\s,;]|$))")
_COORDS = re.compile(
    rf"(DISPLAY|GAZE)_COORDS?\s*[=:]?\s*({_NUMBER})[\s,]+({_NUMBER})[\s,]+({_NUMBER})[\s,]+({_NUMBER})"
)
_CALIBRATION = re.compile(
    r"!CAL\s+(?P<kind>CALIBRATION|VALIDATION)\s+(?P<model>\S+)\s+(?P<mode>LR|L|R)\s+"
    r"(?:(?P<eye>LEFT|RIGHT)\s+)?(?P<result>[A-Z]+)"
    rf"(?:\s+ERROR\s+(?P<mean>{_NUMBER})\s+avg\.\s+(?P<max>{_NUMBER})\s+max)?"
)
_DRIFT = re.compile(
    rf"DRIFTCORRECT\s+(?:LR|L|R)\s+(?P<eye>LEFT|RIGHT)\s+at\s+(?P<x>{_NUMBER}),\s*(?P<y>{_NUMBER})"
    rf"\s+OFFSET\s+(?P<deg>{_NUMBER})\s+deg\.\s+(?P<dx>{_NUMBER}),\s*(?P<dy>{_NUMBER})\s+pix"
)
_BLANKS = " \t\r\n\0"
_LARGEST_SCREEN_PX = 100_000


class MessageFacts(msgspec.Struct, frozen=True):
    """What the messages of a recording tell about it as a whole."""

    screen_px: tuple[int, int] | None = None
    calibrations: tuple[Calibration, ...] = ()
    drift_corrections: tuple[DriftCorrection, ...] = ()


def message_at(tracker_time_us: int, text: str) -> Message:
    """Return the message that a tracker's file holds as `text`, at its true time.

    An experiment that cannot send a message at the very moment of an event sends it before or
    after and starts the text with an offset in ms: ``MSG 12134177 -8 SYNCTIME`` was sent 8 ms
    before the screen changed. The vendor's rule is: true time = time of the message − offset.
    The offset is applied here, and nowhere else, and leaves the text. An integer that stands
    alone or before another number (a trigger code, a pair of coordinates) is no offset.
    Blanks at the end, which both kinds of file have in places, are dropped.
    """
    text = text.rstrip(_BLANKS)
    if text and text[0] in "-+0123456789":  # only then is the pattern worth its time
        if text.startswith(ZERO_OFFSET):
            return Message(tracker_time_us, text[len(ZERO_OFFSET) :])
        match = _OFFSET.match(text, 0, LONGEST_COMMAND)
        if match:
            true_time_us = tracker_time_us - 1000 * int(match[1])
            if true_time_us >= 0:
                return Message(true_time_us, text[match.end() :])
    return Message(tracker_time_us, text)


def text_in_file(text: str) -> str:
    """Return the text under which `message_at` gives `text` back with its time unchanged."""
    seems_offset = text.startswith(ZERO_OFFSET) or _OFFSET.match(text, 0, LONGEST_COMMAND)
    return ZERO_OFFSET + text if seems_offset else text


def interpret(messages: Iterable[Message]) -> MessageFacts:
    """Return the screen's size, and the calibrations and drift corrections of each eye.

    DISPLAY_COORDS, which the experiment sends, goes before GAZE_COORDS, which the tracker
    writes; of several the first counts.
    """
    sizes: dict[str, tuple[int, int]] = {}
    calibrations: list[Calibration] = []
    drift_corrections: list[DriftCorrection] = []
    for message in messages:
        text = message.text
        if text.startswith("!CAL"):
            calibrations += _calibrations(message)
        elif text.startswith("DRIFTCORRECT"):
            correction = _drift_correction(message)
            if correction is not None:
                drift_corrections.append(correction)
        elif text.startswith(("DISPLAY_COORD", "GAZE_COORD")):
            match = _COORDS.match(text, 0, LONGEST_COMMAND)
            size = _screen_px(*(float(match[k]) for k in range(2, 6))) if match else None
            if match and size:
                sizes.setdefault(match[1], size)
    return MessageFacts(
        screen_px=sizes.get("DISPLAY", sizes.get("GAZE")),
        calibrations=tuple(calibrations),
        drift_corrections=tuple(drift_corrections),
    )


def _screen_px(left: float, top: float, right: float, bottom: float) -> tuple[int, int] | None:
    """Return the size; some experiments give the last pixel (1023), some the number (1024)."""
    width, height = right - left, bottom - top
    if not (0 < width < _LARGEST_SCREEN_PX and 0 < height < _LARGEST_SCREEN_PX):
        return None
    return _even(width), _even(height)


def _even(last_or_size: float) -> int:
    """Return the number of pixels, which is even on every screen that is made."""
    n = round(last_or_size)
    return n + n % 2


def _calibrations(message: Message) -> list[Calibration]:
    """Return the result of the eye that is named, or of every tracked eye where none is."""
    match = _CALIBRATION.match(message.text, 0, LONGEST_COMMAND)
    if not match:
        return []
    eyes = match["eye"][0] if match["eye"] else match["mode"]
    return [
        Calibration(
            tracker_time_us=message.tracker_time_us,
            kind="calibration" if match["kind"].lower() == "calibration" else "validation",
            eye=eye,
            model=match["model"],
            result=match["result"],
            mean_error_deg=_finite(match["mean"]),
            max_error_deg=_finite(match["max"]),
        )
        for eye in each_eye(eyes)
    ]


def _drift_correction(message: Message) -> DriftCorrection | None:
    match = _DRIFT.match(message.text, 0, LONGEST_COMMAND)
    if not match:
        return None
    return DriftCorrection(
        tracker_time_us=message.tracker_time_us,
        eye="L" if match["eye"][0] == "L" else "R",
        target_x_px=float(match["x"]),
        target_y_px=float(match["y"]),
        offset_deg=float(match["deg"]),
        offset_x_px=float(match["dx"]),
        offset_y_px=float(match["dy"]),
    )


def _finite(number: str | None) -> float | None:
    value = math.nan if number is None else float(number)
    return value if math.isfinite(value) else None
