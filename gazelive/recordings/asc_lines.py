"""What stands in the rarer lines of an ASC file: times, rates, resolution, signals.

What cannot be read is None, and the reader says so; nothing here raises on any bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from gazelive.recordings.recording import Signal

_MAX_TIME_DIGITS = 13


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
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
