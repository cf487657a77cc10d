"""Numbers, durations, lists and paths as text, for terminal, report and dashboard.

An unknown value is a dash.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path, PureWindowsPath

NOTHING = "–"
THIN = "\u202f"
"""Narrow no-break space between a number and its unit."""
EYE_WORDS = {"L": "left", "R": "right", "LR": "both"}
EYE_NAMES = {"L": "left eye", "R": "right eye", "LR": "both eyes"}


_UNPRINTABLE = {
    code: ascii(chr(code))[1:-1]
    for code in (
        *range(0x09),
        *range(0x0B, 0x20),
        *range(0x7F, 0xA0),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    )
}
"""Control characters but tab and newline, and marks that turn the direction of writing."""


def printable(text: str) -> str:
    """Return a text with its control characters spelt out: data must not steer the terminal."""
    return text.translate(_UNPRINTABLE)


def shortened(text: str, most: int = 24) -> str:
    """Return a text cut to `most` characters, with … where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def count(value: int | None) -> str:
    """Return `1,234`."""
    return NOTHING if value is None else f"{value:,}"


def counted(n: int, noun: str) -> str:
    """Return `1 trial`, `2 trials`, `1,000 trials`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def percent(fraction: float | None, digits: int = 1) -> str:
    """Return `1.3 %`."""
    return NOTHING if fraction is None else f"{100 * fraction:.{digits}f} %"


def bounded_percent(fraction: float, space: str = " ") -> str:
    """Return `< 0.1 %`, `12.3 %` or `> 99.9 %`: a probability is never certain."""
    if fraction < 0.001:
        return f"<{space}0.1{space}%"
    if fraction > 0.999:
        return f">{space}99.9{space}%"
    return f"{100 * fraction:.1f}{space}%"


def degrees(value: float | None, digits: int = 2) -> str:
    """Return `0.35°`."""
    return NOTHING if value is None else f"{value:.{digits}f}°"


def duration(seconds: float) -> str:
    """Return `7.5 s`, `3 min 20 s`, `1 h 0 min 5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest_s = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest_s} s"
    return f"{minutes // 60} h {minutes % 60} min {rest_s} s"


def clock_time(seconds: float) -> str:
    """Return a time within a session: `-0:33`, `12:05`, `1:02:05`."""
    sign = "-" if seconds <= -1 else ""
    minutes, rest_s = divmod(int(abs(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}:{minutes:02}:{rest_s:02}" if hours else f"{sign}{minutes}:{rest_s:02}"


def date_time(iso: str | None) -> str:
    """Return `2026-11-16 15:25` of an ISO time."""
    if iso is None:
        return NOTHING
    try:
        return datetime.fromisoformat(iso).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return iso


def speed_words(speed: float | None) -> str:
    """Return `2×`; None is as fast as possible, `max`."""
    return "max" if speed is None else f"{speed:g}×"


def listed(words: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), *words[-1:]] if words[1:] else words)


def file_name(path: str | None) -> str:
    """Return the last part of a path written on any system."""
    return NOTHING if path is None else PureWindowsPath(path).name or path


def quoted(path: Path | str) -> str:
    """Return a path as typed into a command, on any system."""
    text = str(path)
    return f'"{text}"' if " " in text else text


def shell_quoted(text: str) -> str:
    """Return a text as typed into this system's shell, with nothing in it replaced."""
    return f'"{text}"' if sys.platform == "win32" else shlex.quote(text)


def called_as() -> str:
    """Return what to type for this program: its name, or its path if the name is not found.

    After `make demo` the virtual environment is not active yet.
    """
    called = Path(sys.argv[0])
    if called.stem == "__main__":
        return f"{quoted(sys.executable)} -m gazelive"
    found = shutil.which("gazelive")
    is_known = found is not None and Path(found).resolve() == called.resolve()
    return "gazelive" if is_known or called.stem != "gazelive" else quoted(called)
