"""The display: is there one, and what does a real window do on it?"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from gazelive.experiment.doctor import graphics
from gazelive.experiment.doctor.children import ProbeFailedError, probe
from gazelive.experiment.doctor.finding import Finding, Situation
from gazelive.experiment.doctor.window_probe import WindowSeen
from gazelive.experiment.virtual_display import has_screen

WINDOW_PROBE = "gazelive.experiment.doctor.window_probe"
MONITOR_PROBE = "gazelive.dashboard.monitor_probe"
WINDOW_S, MONITOR_S = 60.0, 30.0
X11_DPI = 96.0


def display(situation: Situation) -> Iterator[Finding]:
    """Open a window as the experiment would, and look at it."""
    if not has_screen():
        yield Finding(
            "display",
            situation.serious,
            "there is none (the variable DISPLAY is not set)",
            "run this at the desktop of the computer, not over ssh; to try things out without one: "
            "`xvfb-run -s '-screen 0 1920x1080x24' gazelive doctor`",
        )
        return
    yield _desktop()
    if importlib.util.find_spec("psychopy") is None:
        return  # of the missing package `packages` tells
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
    yield graphics.opengl(seen, situation)
    yield from graphics.screens(seen, situation)
    yield graphics.refresh_rate(seen, situation)
    if seen.calibration_error:
        yield Finding(
            "calibration",
            situation.serious,
            f"the EyeLink's calibration graphics do not load ({seen.calibration_error})",
            "pip install --force-reinstall psychopy-eyelink-coregraphics",
        )


def screen_size(situation: Situation) -> Iterator[Finding]:
    """Compare the TOML's millimetres with what the monitor tells of itself."""
    if situation.examined is None or not has_screen() or importlib.util.find_spec("PyQt6") is None:
        return
    try:
        monitors = probe(MONITOR_PROBE, expect=list[dict[str, Any]], timeout_s=MONITOR_S)
    except ProbeFailedError:
        monitors = []  # the dashboard's own start tells why Qt has no screen
    guessed_dpi = X11_DPI if sys.platform.startswith("linux") else None
    screen = situation.config.screen
    yield graphics.monitor_size(monitors, screen, guessed_dpi=guessed_dpi) or Finding(
        "screen size",
        "ok",
        f"{screen.width_mm:g} × {screen.height_mm:g} mm by the TOML (the monitor does not tell)",
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
            f"{name}, a guest of Wayland, which delays frames",
            "log out and choose an X11 session (“… on Xorg”) for recording",
        )
    return Finding("display", "ok", f"X11 {name}")
