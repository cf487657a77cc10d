"""Messages of EyeLink and its Data Viewer, read and written.

Read: the screen, calibrations, drift corrections, true times, the place of an image; ASC
and EDF files hold the same messages. Written: what a recording knows and no message says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from gazelive.gaze import LONGEST_COMMAND, Message, StreamDescription, each_eye
from gazelive.recordings.asc.columns import TARGET_NAMES
from gazelive.recordings.recording import Block, Calibration, DriftCorrection, Recording, Trial
from gazelive.recordings.trials import find_trials

ZERO_OFFSET = "+0 "
"""Put before a text that starts with a number, so it is not read as an offset."""

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
    """Facts about a recording as a whole, from its messages."""

    screen_px: tuple[int, int] | None = None
    calibrations: tuple[Calibration, ...] = ()
    drift_corrections: tuple[DriftCorrection, ...] = ()


def message_at(tracker_time_us: int, text: str) -> Message:
    """Return the message that a tracker's file stores as `text`, at its true time.

    An experiment that cannot send a message at the moment of an event sends it earlier or later
    and starts the text with an offset in ms: ``MSG 12134177 -8 SYNCTIME`` was sent 8 ms before
    the screen changed. The vendor's rule is: true time = time of the message − offset. The offset
    is applied here only, and removed from the text. An integer that stands alone or before another
    number (a trigger code, a pair of coordinates) is not an offset. Trailing blanks are dropped.
    """
    text = text.rstrip(_BLANKS)
    if text and text[0] in "-+0123456789":  # the pattern is slow
        if text.startswith(ZERO_OFFSET):
            return Message(tracker_time_us, text[len(ZERO_OFFSET) :])
        match = _OFFSET.match(text, 0, LONGEST_COMMAND)
        if match:
            true_time_us = tracker_time_us - 1000 * int(match[1])
            if true_time_us >= 0:
                return Message(true_time_us, text[match.end() :])
    return Message(tracker_time_us, text)


def text_in_file(text: str) -> str:
    """Return the text to store, from which `message_at` restores `text` and its time."""
    seems_offset = text.startswith(ZERO_OFFSET) or _OFFSET.match(text, 0, LONGEST_COMMAND)
    return ZERO_OFFSET + text if seems_offset else text


def interpret(messages: Iterable[Message]) -> MessageFacts:
    """Return the screen's size, and the calibrations and drift corrections of each eye.

    DISPLAY_COORDS, sent by the experiment, takes precedence over GAZE_COORDS, written by the
    tracker; the first of several counts.
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
            size = _size_px(*(float(match[k]) for k in range(2, 6))) if match else None
            if match and size:
                sizes.setdefault(match[1], size)
    return MessageFacts(
        screen_px=sizes.get("DISPLAY", sizes.get("GAZE")),
        calibrations=tuple(calibrations),
        drift_corrections=tuple(drift_corrections),
    )


def _size_px(left: float, top: float, right: float, bottom: float) -> tuple[int, int] | None:
    """Return the size; some experiments give the last pixel (1023), some the number (1024)."""
    width, height = right - left, bottom - top
    if not (0 < width < _LARGEST_SCREEN_PX and 0 < height < _LARGEST_SCREEN_PX):
        return None
    return _even(width), _even(height)


def _even(last_or_size: float) -> int:
    """Return the number of pixels, which is even on every screen."""
    n = round(last_or_size)
    return n + n % 2


def _calibrations(message: Message) -> list[Calibration]:
    """Return the result of the named eye, or of every tracked eye if none is named."""
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


RectanglePx = tuple[float, float, float, float]
"""Left, top, width and height."""

_PLACE = r"-?\d+(?:\.\d+)?"
_IMAGE = re.compile(
    rf"!V IMGLOAD\s+(?P<how>FILL|CENTER|TOP_LEFT)\s+\S.*?"
    rf"(?:\s+(?P<x>{_PLACE})\s+(?P<y>{_PLACE})(?:\s+(?P<w>{_PLACE})\s+(?P<h>{_PLACE}))?)?\s*$"
)


def image_rectangle_px(text: str, stream: StreamDescription | None) -> RectanglePx | None:
    """Return the rectangle of an IMGLOAD message, or None without one.

    `FILL` is the whole screen; `CENTER x y w h` has its centre at x, y and `TOP_LEFT x y w h` its
    corner. Without w and h the size of the image is unknown.
    """
    match = _IMAGE.match(text)
    if match is None:
        return None
    if match["how"] == "FILL":
        size_px = None if stream is None else stream.size_px
        return None if size_px is None else (0.0, 0.0, float(size_px[0]), float(size_px[1]))
    if match["w"] is None:
        return None
    x, y, width, height = (float(match[name]) for name in ("x", "y", "w", "h"))
    if match["how"] == "CENTER":
        return x - width / 2, y - height / 2, width, height
    return x, y, width, height


CONFIGURATION_WORD = "RECCFG"
EYE_WORDS = {"L": "LEFT", "R": "RIGHT"}
VALIDATION_LIMITS_DEG = {"GOOD": (1.0, 1.5), "FAIR": (1.5, 2.0)}
"""Mean and maximum error below which EyeLink gives this verdict (SR Research, support thread 244);
else POOR."""


def missing_messages(recording: Recording, blocks: Sequence[Block]) -> list[Message]:
    """Return messages for calibrations, drift corrections and trials that have no message yet."""
    facts = interpret(recording.messages)
    calibrated = {(known.tracker_time_us, known.kind, known.eye) for known in facts.calibrations}
    messages = [
        Message(result.tracker_time_us, calibration_text(result))
        for result in recording.calibrations
        if (result.tracker_time_us, result.kind, result.eye) not in calibrated
    ]
    corrected = {(known.tracker_time_us, known.eye) for known in facts.drift_corrections}
    messages += [
        Message(correction.tracker_time_us, drift_text(correction))
        for correction in recording.drift_corrections
        if (correction.tracker_time_us, correction.eye) not in corrected
    ]
    if not find_trials(recording.messages, blocks):
        for trial in recording.trials:
            messages += _trial_messages(trial)
    return messages


def configuration_messages(block: Block, screen_px: tuple[int, int] | None) -> list[Message]:
    """Return the tracker's own messages before a block: rate, eyes, mount, screen."""
    eyes = block.stream.eyes
    remote = "R" if TARGET_NAMES[0] in block.extras else ""
    mount = f"{remote}{'B' if eyes == 'LR' else '' if remote else 'M'}TABLER"
    texts = [
        f"{CONFIGURATION_WORD} CR {round(block.stream.sampling_rate_hz)} 2 1 {eyes}",
        f"ELCLCFG {mount}",
    ]
    if screen_px is not None:
        width, height = screen_px
        texts.append(f"GAZE_COORDS 0.00 0.00 {width - 1:.2f} {height - 1:.2f}")
    return [Message(block.start_us, text) for text in texts]


def validation_verdict(mean_error_deg: float, max_error_deg: float) -> str:
    """Return EyeLink's verdict on a validation with these errors."""
    return next(
        (
            word
            for word, (mean, worst) in VALIDATION_LIMITS_DEG.items()
            if mean_error_deg < mean and max_error_deg < worst
        ),
        "POOR",
    )


def calibration_text(calibration: Calibration) -> str:
    """Return EyeLink's message for the result of a calibration or validation."""
    eye = calibration.eye
    text = (
        f"!CAL {calibration.kind.upper()} {calibration.model or 'UNKNOWN'} {eye} "
        f"{EYE_WORDS[eye]:5} {calibration.result or 'UNKNOWN'}"
    )
    if calibration.mean_error_deg is None or calibration.max_error_deg is None:
        return text
    return (
        f"{text} ERROR {calibration.mean_error_deg:.2f} avg. {calibration.max_error_deg:.2f} max  "
        "OFFSET 0.00 deg. 0.0,0.0 pix."
    )


def drift_text(correction: DriftCorrection) -> str:
    """Return EyeLink's message for the result of a drift check."""
    eye = correction.eye
    return (
        f"DRIFTCORRECT {eye} {EYE_WORDS[eye]:5} at "
        f"{correction.target_x_px:g},{correction.target_y_px:g}  "
        f"OFFSET {correction.offset_deg:.2f} deg.  "
        f"{correction.offset_x_px:.1f},{correction.offset_y_px:.1f} pix."
    )


def _trial_messages(trial: Trial) -> Iterator[Message]:
    """Yield the messages of a trial in the vendor's protocol."""
    yield Message(trial.start_us, f"TRIALID {trial.name}")
    if trial.image_onset_us is not None:
        yield Message(trial.image_onset_us, "image_onset")
    if trial.image is not None:
        at_us = trial.start_us if trial.image_onset_us is None else trial.image_onset_us
        yield Message(at_us, f"!V IMGLOAD FILL {trial.image}")
    if trial.image_offset_us is not None:
        yield Message(trial.image_offset_us, "image_offset")
    for key, value in trial.variables.items():
        yield Message(trial.end_us, f"!V TRIAL_VAR {key} {value}".rstrip())
    yield Message(trial.end_us, f"TRIAL_RESULT {trial.result or ''}".rstrip())
