"""The lines of an ASC file that are no samples, one by one: times, events, signals.

What cannot be read is None, and the reader says so; nothing here raises on any bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, cast

from gazelive.gaze.events import TrackerEvent
from gazelive.recordings.recording import Signal

EventKind = Literal["saccade", "fixation", "blink"]
Eye = Literal["L", "R"]

START_KEYWORDS: dict[bytes, EventKind] = {
    b"SSACC": "saccade",
    b"SFIX": "fixation",
    b"SBLINK": "blink",
}
END_KEYWORDS: dict[bytes, EventKind] = {
    b"ESACC": "saccade",
    b"EFIX": "fixation",
    b"EBLINK": "blink",
}
_EYES: dict[bytes, Eye] = {b"L": "L", b"R": "R"}
_N_WORDS = {"saccade": 11, "fixation": 8, "blink": 4}
_MAX_TIME_DIGITS = 13
_MISSING_CODE = -32768.0
_MISSING_FROM = 1e8
"""What the tracker's library writes where it has no position."""


def text_of(line: bytes) -> str:
    """Decode a line: UTF-8 where it is, else Latin-1, in which every byte is a character."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def time_us(word: bytes) -> int | None:
    """Read a time in ms, with decimals or without."""
    if word.isdigit():
        return int(word) * 1000 if len(word) <= _MAX_TIME_DIGITS else None
    whole, _, decimals = word.partition(b".")
    if not whole.isdigit() or len(whole) > _MAX_TIME_DIGITS:
        return None
    if decimals and not decimals.isdigit():
        return None
    return int(whole) * 1000 + int(decimals[:3].ljust(3, b"0"))


def start_event(words: Sequence[bytes]) -> tuple[EventKind, Eye, int] | None:
    """Read SFIX, SSACC or SBLINK: the kind, the eye and the start in µs."""
    if len(words) < 3 or words[0] not in START_KEYWORDS or words[1] not in _EYES:
        return None
    start_us = time_us(words[2])
    return None if start_us is None else (START_KEYWORDS[words[0]], _EYES[words[1]], start_us)


def end_event(words: Sequence[bytes], prescaler: float) -> TrackerEvent | None:
    """Read EFIX, ESACC or EBLINK; positions are divided by `prescaler`."""
    kind = END_KEYWORDS.get(words[0])
    if kind is None or len(words) < _N_WORDS[kind] or words[1] not in _EYES:
        return None
    start_us, end_us = time_us(words[2]), time_us(words[3])
    if start_us is None or end_us is None or end_us < start_us:
        return None
    numbers = [_number(word) for word in words[5 : _N_WORDS[kind]]]
    if any(number is None for number in numbers):
        return None
    known = [None if math.isnan(number) else number for number in cast("list[float]", numbers)]
    eye = _EYES[words[1]]
    if kind == "saccade":
        places = [None if place is None else place / prescaler for place in known[:4]]
        return TrackerEvent(
            kind=kind,
            eye=eye,
            start_us=start_us,
            end_us=end_us,
            start_x=places[0],
            start_y=places[1],
            end_x=places[2],
            end_y=places[3],
            amplitude_deg=known[4],
            peak_velocity_deg_s=known[5],
        )
    if kind == "fixation":
        places = [None if place is None else place / prescaler for place in known[:2]]
        return TrackerEvent(
            kind=kind,
            eye=eye,
            start_us=start_us,
            end_us=end_us,
            mean_x=places[0],
            mean_y=places[1],
            mean_pupil=known[2],
        )
    return TrackerEvent(kind=kind, eye=eye, start_us=start_us, end_us=end_us)


def input_signal(words: Sequence[bytes]) -> Signal | None:
    """Read INPUT: the port's new value."""
    if len(words) < 3 or words[0] != b"INPUT":
        return None
    return _signal("input", words[1], b"0", words[2])


def button_signal(words: Sequence[bytes]) -> Signal | None:
    """Read BUTTON: its number and whether it is pressed."""
    if len(words) < 4 or words[0] != b"BUTTON":
        return None
    return _signal("button", words[1], words[2], words[3])


def rate_hz(words: Sequence[str]) -> float | None:
    """Return the sampling rate that a SAMPLES or EVENTS line gives after RATE."""
    if "RATE" not in words[:-1]:
        return None
    return plausible_rate_hz(words[words.index("RATE") + 1])


def plausible_rate_hz(word: str) -> float | None:
    """Read a sampling rate, if it is one."""
    rate = _number(word.encode(errors="replace"))
    return rate if rate is not None and 1 <= rate <= 20_000 else None


def resolution(words: Sequence[str], *, whole_line: bool) -> tuple[float, float] | None:
    """Return the px per degree that an END line gives after RES.

    Where the file stops in this very line, the last number may lack digits, so it must have
    both of the decimals that it is written with.
    """
    if "RES" not in words[:-2]:
        return None
    at = words.index("RES")
    x, y = (_number(word.encode(errors="replace")) for word in words[at + 1 : at + 3])
    if x is None or y is None or not (x > 0 and y > 0):
        return None
    if not whole_line and words[at + 2][-3:-2] != ".":
        return None
    return x, y


def prescaler(words: Sequence[bytes]) -> float | None:
    """Read PRESCALER or VPRESCALER."""
    value = _number(words[1]) if len(words) > 1 else None
    return value if value is not None and value >= 1 else None


def _signal(
    kind: Literal["input", "button"], time: bytes, number: bytes, value: bytes
) -> Signal | None:
    at_us = time_us(time)
    if at_us is None or not (number.isdigit() and value.isdigit()):
        return None
    if len(number) > 3 or len(value) > 10:
        return None
    return Signal(at_us, kind, int(number), int(value))


def _number(word: bytes) -> float | None:
    """Read a number: NaN where it is missing, None where it is none."""
    if word in (b".", b"MISSING_DATA"):
        return math.nan
    try:
        value = float(word)
    except ValueError:
        return None
    if value == _MISSING_CODE or abs(value) >= _MISSING_FROM:
        return math.nan
    return None if math.isnan(value) else value
