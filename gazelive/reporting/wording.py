"""Numbers as a person reads them; what is not known is a dash."""

from __future__ import annotations

from datetime import datetime
from pathlib import PureWindowsPath

NOTHING = "–"
EYE_WORDS = {"L": "left", "R": "right", "LR": "both"}


def percent(fraction: float | None, digits: int = 1) -> str:
    """Return `1.3 %`."""
    return NOTHING if fraction is None else f"{100 * fraction:.{digits}f} %"


def degrees(value: float | None, digits: int = 2) -> str:
    """Return `0.35°`."""
    return NOTHING if value is None else f"{value:.{digits}f}°"


def count(value: int | None) -> str:
    """Return `1,234`."""
    return NOTHING if value is None else f"{value:,}"


def clock(seconds: float) -> str:
    """Return a time within the session as minutes and seconds, `-0:33` or `12:05`."""
    sign = "-" if seconds < -0.5 else ""
    minutes, rest_s = divmod(round(abs(seconds)), 60)
    return f"{sign}{minutes}:{rest_s:02}"


def duration(seconds: float) -> str:
    """Return `19.6 s` or `12 min 5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest_s = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest_s} s"
    return f"{minutes // 60} h {minutes % 60} min"


def moment(iso: str | None) -> str:
    """Return `2026-11-16 15:25` of an ISO time."""
    if iso is None:
        return NOTHING
    try:
        return datetime.fromisoformat(iso).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return iso


def image_name(image: str | None) -> str:
    """Return the last part of an image's path, whichever slashes it has."""
    return NOTHING if image is None else PureWindowsPath(image).name or image
