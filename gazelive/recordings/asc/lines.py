"""Lines of an ASC file other than samples, parsed and formatted.

Parsing returns None for unreadable fields, which the reader reports; it never raises. Formatting
pads and separates fields as EDF2ASC does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from gazelive import __version__
from gazelive.gaze import Eyes, Message, TrackerEvent
from gazelive.recordings.asc.columns import DATA_TYPES, SampleColumns
from gazelive.recordings.messages import text_in_file
from gazelive.recordings.recording import Block, Signal

_MAX_TIME_DIGITS = 13
_MAX_PRESCALER = 1e6
"""Programs write 1, 10 or 100; by much larger ones single precision cannot be divided."""


def text_of(line: bytes) -> str:
    """Decode a line as UTF-8, else as Latin-1, in which every byte is a character."""
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
    """Read a sampling rate, or None if it is implausible."""
    rate = _number(word.encode(errors="replace"))
    return rate if rate is not None and 1 <= rate <= 20_000 else None


def resolution(words: Sequence[str], *, whole_line: bool) -> tuple[float, float] | None:
    """Return the px per degree that an END line gives after RES.

    If the file ends in this line, the last number may lack digits, so both of its decimals are
    required.
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
    return value if value is not None and 1 <= value <= _MAX_PRESCALER else None


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


_DATA_TYPE_OF = {coordinates: name for name, coordinates in DATA_TYPES.items()}
_EYE_WORDS: dict[Eyes, str] = {"L": "LEFT", "R": "RIGHT", "LR": "LEFT\tRIGHT"}
_KEYWORD_OF = {"saccade": "SACC", "fixation": "FIX", "blink": "BLINK"}
_CONTINUATION_STARTS = (" ", "\t", ">")


def milliseconds(time_us: int) -> str:
    """Return a time in ms as in ASC files, with decimals only if needed."""
    whole, rest = divmod(time_us, 1000)
    return f"{whole}.{rest:03d}".rstrip("0") if rest else str(whole)


def header_text(header: Sequence[str], *, source: str, device: str) -> str:
    """Return the preamble: the recording's own lines, else its source."""
    lines = list(header) or [
        f"CONVERTED FROM {source} using gazelive {__version__}",
        "TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED",
        "VERSION: EYELINK II 1",
        "EYELINK II CL v5.15 (the layout of this file)",
    ]
    if not any(line.startswith("SOURCE:") for line in lines):
        lines.append(f"SOURCE: {device}")
    return "".join(f"** {_one_line(line)}\n" for line in lines) + "**\n\n"


def start_text(block: Block, columns: SampleColumns) -> str:
    """Return the lines from START to SAMPLES."""
    tab = "\t"
    eyes = _EYE_WORDS[columns.eyes]
    data_type = _DATA_TYPE_OF[columns.coordinates]
    tracking = f"RATE\t{block.stream.sampling_rate_hz:7.2f}\tTRACKING\tCR\tFILTER\t2"
    options = [
        word
        for word, present in {
            "VEL": columns.velocity,
            "RES": columns.resolution,
            "HTARGET": columns.target,
        }.items()
        if present
    ]
    described = [data_type, eyes, *options, tracking, *(["INPUT"] if columns.input_port else [])]
    return (
        f"START\t{milliseconds(block.start_us)} \t{eyes}\tSAMPLES\tEVENTS\n"
        "PRESCALER\t1\n"
        "VPRESCALER\t1\n"
        f"PUPIL\t{block.stream.pupil.upper()}\n"
        f"EVENTS\t{data_type}\t{eyes}\t{tracking}\n"
        f"SAMPLES\t{tab.join(described)}\n"
    )


def end_text(end_us: int, px_per_deg: tuple[float, float] | None) -> str:
    """Return the END line, with the px per degree if known."""
    line = f"END\t{milliseconds(end_us)} \tSAMPLES\tEVENTS"
    if px_per_deg is not None:
        line += "\tRES\t{:7.2f}\t{:7.2f}".format(*px_per_deg)
    return line + "\n"


def message_text(message: Message) -> str:
    """Return the MSG line; further lines of the text are indented, as in EyeLink's files."""
    first, *others = text_in_file(message.text).split("\n")
    text = f"MSG\t{milliseconds(message.tracker_time_us)} {_one_line(first)}\n"
    for other in others:
        if other.strip():
            indent = "" if other.startswith(_CONTINUATION_STARTS) else "\t"
            text += f"{indent}{_one_line(other)}\n"
    return text


def signal_text(signal: Signal) -> str:
    """Return the INPUT or BUTTON line."""
    time = milliseconds(signal.tracker_time_us)
    if signal.kind == "input":
        return f"INPUT\t{time}\t{signal.value}\n"
    return f"BUTTON\t{time}\t{signal.number}\t{signal.value}\n"


def event_start_text(event: TrackerEvent) -> str:
    """Return the SFIX, SSACC or SBLINK line."""
    return f"{_event_word('S', event)}{milliseconds(event.start_us)}\n"


def event_end_text(event: TrackerEvent, sample_interval_us: float) -> str:
    """Return the EFIX, ESACC or EBLINK line; its duration includes the last sample's interval."""
    duration_ms = int((event.end_us - event.start_us + sample_interval_us) // 1000)
    fields = [milliseconds(event.start_us), milliseconds(event.end_us), str(duration_ms)]
    if event.kind == "fixation":
        fields += [_decimal(event.mean_x, 1), _decimal(event.mean_y, 1)]
        fields.append(_decimal(event.mean_pupil, 0))
    elif event.kind == "saccade":
        places = (event.start_x, event.start_y, event.end_x, event.end_y)
        fields += [_decimal(place, 1) for place in places]
        fields += [_decimal(event.amplitude_deg, 2), _decimal(event.peak_velocity_deg_s, 0)]
    return _event_word("E", event) + "\t".join(fields) + "\n"


def _event_word(letter: str, event: TrackerEvent) -> str:
    return f"{letter + _KEYWORD_OF[event.kind]} {event.eye} ".ljust(9)


def _decimal(value: float | None, n_decimals: int) -> str:
    return "      ." if value is None else f"{value:7.{n_decimals}f}"


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ").replace("\0", " ")
