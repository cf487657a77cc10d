"""What a window showed: OpenGL, the screens there are, and how steadily frames come."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from gazelive.config.schema import Screen
from gazelive.experiment.doctor.finding import Finding, Level, Situation
from gazelive.experiment.doctor.window_probe import WindowSeen
from gazelive.experiment.frames import summarise_intervals

SOFTWARE = re.compile("llvmpipe|softpipe|swrast|swiftshader|gdi generic|basic render", re.I)
LEAST_OPENGL = 2.0
SAME_RATE = 0.02
STEADY = 0.1
"""Frames that a screen holds back differ by less than this part of a frame."""
MANY_DROPPED = 0.01


def opengl(seen: WindowSeen, situation: Situation) -> Finding:
    """Say what draws."""
    text = f"{seen.opengl}, {seen.renderer}"
    found = re.match(r"\d+\.\d+", seen.opengl)
    if found is not None and float(found.group()) < LEAST_OPENGL:
        return Finding("OpenGL", situation.serious, text, "install the graphics card's own driver")
    if SOFTWARE.search(seen.renderer):
        return Finding(
            "OpenGL",
            "warn",
            f"{text}: drawn by the processor, not by a graphics card",
            "good enough for a trial run; for a session install the graphics card's own driver",
        )
    return Finding("OpenGL", "ok", text)


def screens(seen: WindowSeen, situation: Situation) -> Iterator[Finding]:
    """Compare the screens with those that the experiment wants."""
    n = len(seen.screens_px)
    sizes = ", ".join(f"{i}: {w} × {h} px" for i, (w, h) in enumerate(seen.screens_px))
    text = f"{n} ({sizes})"
    if situation.examined is None:
        yield Finding("screens", "ok", text)
        return
    screen, dashboard = situation.config.screen, situation.config.dashboard
    if screen.number >= n:
        yield Finding(
            "screens",
            "fail",
            f"{text}, but screen.number is {screen.number}",
            "connect it, or set screen.number (counted from 0)",
        )
    elif dashboard.open and n == 1:
        yield Finding(
            "screens",
            "warn",
            f"{text}: the dashboard has none of its own",
            "connect a second one for the experimenter, or set dashboard.open = false",
        )
    elif dashboard.open and dashboard.screen_number == screen.number:
        yield Finding(
            "screens",
            "warn",
            f"{text}: the dashboard would cover the participant's",
            "set dashboard.screen_number to the experimenter's",
        )
    else:
        yield Finding("screens", "ok", text)
    yield from _resolution(seen, screen)


def _resolution(seen: WindowSeen, screen: Screen) -> Iterator[Finding]:
    if screen.number >= len(seen.screens_px):
        return
    width_px, height_px = seen.screens_px[screen.number]
    wanted = f"{screen.width_px} × {screen.height_px} px"
    if (width_px, height_px) == (screen.width_px, screen.height_px):
        yield Finding("resolution", "ok", f"{wanted}, as the TOML says")
    elif not screen.full_screen:
        yield Finding(
            "resolution", "ok", f"a window stands for {wanted} (screen.full_screen = false)"
        )
    else:
        yield Finding(
            "resolution",
            "fail",
            f"the screen has {width_px} × {height_px} px, the TOML says {wanted}",
            "set the screen to its native resolution without scaling, or correct screen.width_px "
            "and screen.height_px",
        )


def refresh_rate(seen: WindowSeen, situation: Situation) -> Finding:
    """Say how often frames come, whether the screen paces them, and how many were late."""
    intervals_s = np.asarray(seen.flips_s)
    median_s = float(np.median(intervals_s))
    rate_hz = 1 / median_s
    wanted_hz = situation.config.screen.refresh_rate_hz
    paced_by = [wanted_hz, *([seen.system_rate_hz] if seen.system_rate_hz else [])]
    if not _is_paced(intervals_s, max(paced_by)):
        return Finding(
            "refresh rate",
            "warn",
            f"{rate_hz:.0f} flips a second: they do not wait for the screen (no vsync)",
            "switch on vertical synchronisation in the graphics driver; on a virtual screen this "
            "is normal, and frames are paced by the clock",
        )
    frames = summarise_intervals(seen.flips_s, median_s)
    text = (
        f"{rate_hz:.2f} Hz measured, {frames.dropped} of {frames.n} frames late, longest "
        f"{frames.worst_ms:.1f} ms"
    )
    if situation.examined and abs(rate_hz / wanted_hz - 1) > SAME_RATE:
        return Finding(
            "refresh rate",
            "fail",
            f"{text}; the TOML says {wanted_hz:g} Hz",
            f"set the screen to {wanted_hz:g} Hz, or screen.refresh_rate_hz to {rate_hz:.0f}",
        )
    level: Level = "warn" if frames.dropped > MANY_DROPPED * frames.n else "ok"
    remedy = "close other programs, switch off desktop effects" if level == "warn" else ""
    return Finding("refresh rate", level, text, remedy)


def _is_paced(intervals_s: np.ndarray[tuple[int], np.dtype[np.float64]], rate_hz: float) -> bool:
    """Say whether flips wait for the screen.

    A free run is faster than any screen here, or as uneven as drawing is; late frames (one in ten
    at most) are left out of that.
    """
    median_s = float(np.median(intervals_s))
    if abs(median_s * rate_hz - 1) <= STEADY:
        return True
    usual = np.percentile(intervals_s, [5, 90])
    steady = (usual[1] - usual[0]) / median_s < STEADY
    return bool(steady and median_s * rate_hz > 0.2)


def monitor_size(
    monitors: list[dict[str, object]], screen: Screen, *, guessed_dpi: float | None
) -> Finding | None:
    """Compare the TOML's millimetres with those that the monitor tells; None if it does not.

    Where X11 knows nothing it makes a size up from `guessed_dpi`.
    """
    same_px = [
        (monitor["width_mm"], monitor["height_mm"])
        for monitor in monitors
        if (monitor["width_px"], monitor["height_px"]) == (screen.width_px, screen.height_px)
    ]
    sizes = [(w, h) for w, h in same_px if isinstance(w, float) and isinstance(h, float)]
    known = [
        (w, h)
        for w, h in sizes
        if w > 0
        and h > 0
        and not (guessed_dpi and abs(screen.width_px / (w / 25.4) / guessed_dpi - 1) < 0.01)
    ]
    if not known:
        return None
    width_mm, height_mm = min(known, key=lambda size: abs(size[0] - screen.width_mm))
    said = f"{screen.width_mm:g} × {screen.height_mm:g} mm"
    if abs(width_mm / screen.width_mm - 1) < 0.05 and abs(height_mm / screen.height_mm - 1) < 0.05:
        return Finding("screen size", "ok", f"{said}, as the monitor tells")
    return Finding(
        "screen size",
        "warn",
        f"the monitor tells {width_mm:g} × {height_mm:g} mm, the TOML says {said}",
        "measure the picture with a ruler and correct screen.width_mm and screen.height_mm",
    )
