"""Numbers as people read them: percent, durations, counts, with their units."""

from __future__ import annotations

THIN = "\u202f"
"""The narrow space between a number and its unit, which never breaks."""


def percent(fraction: float) -> str:
    """Return the fraction in percent; near certainty is never rounded up to certainty."""
    if fraction <= 0:
        return f"0{THIN}%"
    if fraction < 0.001:
        return f"<{THIN}0.1{THIN}%"
    if fraction >= 1:
        return f"100{THIN}%"
    if fraction > 0.999:
        return f">{THIN}99.9{THIN}%"
    return f"{100 * fraction:.1f}{THIN}%"


def clock_time(seconds: float) -> str:
    """Return minutes and seconds, and hours where there are some."""
    whole = max(int(seconds), 0)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def counted(n: int, thing: str) -> str:
    """Return `n` of `thing`, in the plural where it is due, thousands apart."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def speed_words(speed: float | None) -> str:
    """Return how fast a playback goes; None is as fast as possible."""
    return "max" if speed is None else f"{speed:g}×"
