"""Checks of the display: OpenGL, screens, resolution, refresh rate, size in millimetres."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from gazelive.experiment.config.schema import Screen
from gazelive.experiment.display.frames import summarise_intervals
from gazelive.experiment.doctor.finding import Finding, Level, Situation
from gazelive.experiment.doctor.probe_process import ProbeFailedError, probe
from gazelive.experiment.doctor.window_probe import WindowSeen
from gazelive.gaze import Floats
from gazelive.system import has_screen

WINDOW_PROBE = "gazelive.experiment.doctor.window_probe"
MONITOR_PROBE = "gazelive.dashboard.window.monitor_probe"
WINDOW_S, MONITOR_S = 60.0, 30.0
X11_DPI = 96.0


def display(situation: Situation) -> Iterator[Finding]:
    """Open a window like the experiment and check it."""
    if not has_screen():
        yield Finding(
            "display",
            situation.serious,
            "none (the variable DISPLAY is not set)",
            "run this on the computer's desktop, not over ssh; to try it without a display: "
            "`xvfb-run -s '-screen 0 1920x1080x24' gazelive doctor`",
        )
        return
    yield _desktop()
    if importlib.util.find_spec("psychopy") is None:
        return  # `packages` reports the missing package
    screen = situation.config.screen
    try:
        seen = probe(
            WINDOW_PROBE,
            msgspec.json.encode(screen).decode(),
            expect=WindowSeen,
            timeout_s=WINDOW_S,
        )
    except ProbeFailedError as error:
        yield Finding(
            "window",
            situation.serious,
            f"PsychoPy's window {error}",
            "install the graphics card's own driver",
        )
        return
    if seen.error:
        what, _, remedy = seen.error.partition(": ")
        yield Finding("window", situation.serious, what, remedy)
        return
    yield opengl(seen, situation)
    yield from screens(seen, situation)
    yield refresh_rate(seen, situation)
    if seen.calibration_error:
        yield Finding(
            "calibration",
            situation.serious,
            f"the EyeLink's calibration graphics do not load ({seen.calibration_error})",
            "pip install --force-reinstall psychopy-eyelink-coregraphics",
        )


def screen_size(situation: Situation) -> Iterator[Finding]:
    """Compare the TOML's millimetres with those that the monitor reports."""
    if situation.examined is None or not has_screen() or importlib.util.find_spec("PyQt6") is None:
        return
    try:
        monitors = probe(MONITOR_PROBE, expect=list[dict[str, Any]], timeout_s=MONITOR_S)
    except ProbeFailedError:
        monitors = []  # starting the dashboard reports why Qt has no screen
    guessed_dpi = X11_DPI if sys.platform.startswith("linux") else None
    screen = situation.config.screen
    yield monitor_size(monitors, screen, guessed_dpi=guessed_dpi) or Finding(
        "screen size",
        "ok",
        f"{screen.width_mm:g} × {screen.height_mm:g} mm in the TOML (the monitor reports no size)",
    )


def _desktop() -> Finding:
    if not sys.platform.startswith("linux"):
        return Finding(
            "display", "ok", {"win32": "Windows", "darwin": "macOS"}.get(sys.platform, "")
        )
    name = os.environ.get("DISPLAY", "")
    if os.environ.get("WAYLAND_DISPLAY") or os.environ.get("XDG_SESSION_TYPE") == "wayland":
        return Finding(
            "display",
            "warn",
            f"{name} under Wayland, which delays frames",
            "log out and choose an X11 session (“… on Xorg”) for recording",
        )
    return Finding("display", "ok", f"X11 {name}")


SOFTWARE = re.compile("llvmpipe|softpipe|swrast|swiftshader|gdi generic|basic render", re.I)
LEAST_OPENGL = 2.0
SAME_RATE = 0.02
STEADY = 0.1
"""Synchronised frames differ by less than this fraction of a frame."""
MANY_DROPPED = 0.01


def opengl(seen: WindowSeen, situation: Situation) -> Finding:
    """Check the OpenGL version and renderer."""
    text = f"{seen.opengl}, {seen.renderer}"
    found = re.match(r"\d+\.\d+", seen.opengl)
    if found is not None and float(found.group()) < LEAST_OPENGL:
        return Finding("OpenGL", situation.serious, text, "install the graphics card's own driver")
    if SOFTWARE.search(seen.renderer):
        return Finding(
            "OpenGL",
            "warn",
            f"{text}: software rendering, no graphics card",
            "good enough for a test; for sessions install the graphics card's own driver",
        )
    return Finding("OpenGL", "ok", text)


def screens(seen: WindowSeen, situation: Situation) -> Iterator[Finding]:
    """Compare the screens with the configured ones."""
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
            f"{text}: no second screen for the dashboard",
            "connect one for the experimenter, or set dashboard.open = false",
        )
    elif dashboard.open and dashboard.screen_number == screen.number:
        yield Finding(
            "screens",
            "warn",
            f"{text}: the dashboard would cover the participant's screen",
            "set dashboard.screen_number to the experimenter's screen",
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
        yield Finding("resolution", "ok", f"{wanted}, as in the TOML")
    elif not screen.full_screen:
        yield Finding(
            "resolution", "ok", f"{wanted} shown in a window (screen.full_screen = false)"
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
    """Check the refresh rate, synchronisation and late frames."""
    intervals_s = np.asarray(seen.flips_s)
    median_s = float(np.median(intervals_s))
    rate_hz = 1 / median_s
    wanted_hz = situation.config.screen.refresh_rate_hz
    paced_by = [wanted_hz, *([seen.system_rate_hz] if seen.system_rate_hz else [])]
    if not _is_paced(intervals_s, max(paced_by)):
        return Finding(
            "refresh rate",
            "warn",
            f"{rate_hz:.0f} flips per second: they do not wait for the screen (no vsync)",
            "turn on vertical synchronisation in the graphics driver; on a virtual screen this is "
            "normal, and the clock paces the frames",
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
    remedy = "close other programs, turn off desktop effects" if level == "warn" else ""
    return Finding("refresh rate", level, text, remedy)


def _is_paced(intervals_s: Floats, rate_hz: float) -> bool:
    """Return whether flips wait for the screen.

    Free flips are faster than any screen, or irregular; up to one late frame in ten is ignored.
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
    """Compare the TOML's millimetres with the monitor's; None if it reports none.

    If X11 does not know the size, it makes one up from `guessed_dpi`.
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
    configured = f"{screen.width_mm:g} × {screen.height_mm:g} mm"
    if abs(width_mm / screen.width_mm - 1) < 0.05 and abs(height_mm / screen.height_mm - 1) < 0.05:
        return Finding("screen size", "ok", f"{configured}, as the monitor reports")
    return Finding(
        "screen size",
        "warn",
        f"the monitor reports {width_mm:g} × {height_mm:g} mm, the TOML says {configured}",
        "measure the picture with a ruler and correct screen.width_mm and screen.height_mm",
    )
