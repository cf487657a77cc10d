"""PsychoPy window: opens it without console noise, with clear errors if it fails."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from gazelive.errors import ConfigError, DeviceUnavailableError
from gazelive.experiment.config.schema import Screen
from gazelive.system import WINDOW_SHARE

Window = Any
"""A `psychopy.visual.Window`; PsychoPy has no types."""

FITTING = 0.8
"""Fraction of the desktop for a window without a given size."""
ASPECT_TOLERANCE = 0.01


def import_psychopy() -> tuple[Any, Any, Any]:
    """Return PsychoPy's `visual`, `event` and `monitors`; loading takes a second or two."""
    os.environ.setdefault("PSYCHOPYNOPACKAGES", "1")  # no packages from elsewhere
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from psychopy import logging

            logging.console.setLevel(logging.CRITICAL)
            from psychopy import event, monitors, visual
    except ModuleNotFoundError as error:
        raise DeviceUnavailableError(
            f"PsychoPy is not installed ({error}): pip install 'gazelive[experiment]'"
        ) from error
    except Exception as error:
        if type(error).__name__ == "NoSuchDisplayException":
            raise DeviceUnavailableError(
                "no screen for the experiment: run it on a desktop, or under "
                "`xvfb-run -s '-screen 0 1920x1080x24'`"
            ) from error
        raise DeviceUnavailableError(f"PsychoPy cannot be used here ({error})") from error
    return visual, event, monitors


def open_window(
    screen: Screen,
    *,
    windowed: bool = False,
    size_px: tuple[int, int] | None = None,
    dashboard: int | None = None,
    title: str = "gazelive",
) -> Window:
    """Open a window in the background colour: full screen, or with a frame if `windowed`.

    A window with a given size is placed at the right edge, to leave room beside it; so is one on
    the screen of the dashboard, whose number is `dashboard`.
    """
    visual, _, monitors = import_psychopy()
    desktop_px = desktop_size_px(screen.number)
    pos_px: tuple[int, int] | None = None  # centred
    windowed = windowed or not screen.full_screen
    if size_px is None and dashboard is not None and _is_on(dashboard, screen.number):
        room_px = (WINDOW_SHARE * desktop_px[0], float(desktop_px[1]))
        size_px = _shrunk((screen.width_px, screen.height_px), room_px)
    if not windowed:
        check_aspect(screen, desktop_px)
        size_px = desktop_px
    elif size_px is None:
        room_px = (FITTING * desktop_px[0], FITTING * desktop_px[1])
        size_px = _shrunk((screen.width_px, screen.height_px), room_px)
    else:
        size_px = _shrunk(size_px, desktop_px)
        pos_px = (desktop_px[0] - size_px[0], (desktop_px[1] - size_px[1]) // 2)
    monitor = monitors.Monitor(
        "gazelive", width=screen.width_mm / 10, distance=screen.eye_distance_mm / 10, autoLog=False
    )
    monitor.setSizePix((screen.width_px, screen.height_px))
    try:
        with _native_noise() as output, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            window = visual.Window(
                size=size_px,
                pos=pos_px,
                fullscr=not windowed,
                screen=screen.number,
                units="pix",
                monitor=monitor,
                color=background_colour(screen.background_grey),
                colorSpace="rgb",
                allowGUI=windowed,
                waitBlanking=True,
                checkTiming=False,
                gammaErrorPolicy="ignore",
                autoLog=False,
            )
    except Exception as error:
        reason = " ".join(" ".join([str(error), *output]).split())
        raise DeviceUnavailableError(
            f"cannot open a window ({reason}): check the graphics driver (OpenGL 2 or later)"
        ) from error
    window.recordFrameIntervals = False
    window.mouseVisible = windowed
    window.winHandle.set_caption(title)
    return window


def background_colour(grey: int) -> tuple[float, float, float]:
    """Return a grey of 0 … 255 on PsychoPy's scale from -1 to 1."""
    level = grey / 127.5 - 1
    return (level, level, level)


def _is_on(dashboard: int, number: int) -> bool:
    """Return whether the dashboard, on the last screen if its own is missing, is on this one."""
    return min(dashboard, len(_screens()) - 1) == number


def _screens() -> Sequence[Any]:
    import pyglet

    return cast("Sequence[Any]", pyglet.canvas.get_display().get_screens())


def desktop_size_px(number: int) -> tuple[int, int]:
    """Return the size of screen `number`."""
    screens = _screens()
    if number >= len(screens):
        raise ConfigError(
            f"no screen {number}: this computer has {len(screens)}, counted from 0",
            key="screen.number",
        )
    return int(screens[number].width), int(screens[number].height)


def known_rates_hz(window: Window, configured_hz: float) -> Sequence[float]:
    """Return the possible rates of the screen: the configured one, and the system's if known."""
    try:
        with _native_noise():
            mode = window.winHandle.screen.get_mode()
    except Exception:  # a virtual screen has no modes; pyglet raises what the system says
        mode = None
    rate_hz = getattr(mode, "rate", None)
    return (configured_hz, float(rate_hz)) if rate_hz else (configured_hz,)


def fits_screen(screen: Screen) -> bool:
    """Return whether the actual screen has the aspect ratio of the configured one."""
    import_psychopy()
    return _same_shape(screen, desktop_size_px(screen.number))


def _same_shape(screen: Screen, desktop_px: tuple[int, int]) -> bool:
    wanted, actual = screen.width_px / screen.height_px, desktop_px[0] / desktop_px[1]
    return abs(wanted / actual - 1) <= ASPECT_TOLERANCE


def check_aspect(screen: Screen, desktop_px: tuple[int, int]) -> None:
    """Raise if the screen has another aspect ratio than configured: gaze would be wrong."""
    if not _same_shape(screen, desktop_px):
        raise ConfigError(
            f"screen {screen.number} has {desktop_px[0]}x{desktop_px[1]} px, but the configuration "
            f"says {screen.width_px}x{screen.height_px}: set screen.width_px and screen.height_px "
            "(and its size in mm), or use --windowed",
            key="screen",
        )


def _shrunk(size_px: tuple[int, int], room_px: tuple[float, float]) -> tuple[int, int]:
    """Return the size, shrunk to fit if necessary, with the same aspect ratio."""
    scale = min(1.0, room_px[0] / size_px[0], room_px[1] / size_px[1])
    return round(size_px[0] * scale), round(size_px[1] * scale)


@contextmanager
def _native_noise() -> Iterator[list[str]]:
    """Capture what native libraries (X11, Mesa) print on the console; fill the list at the end."""
    output: list[str] = []
    try:
        sys.stderr.flush()
        kept = os.dup(2)
    except (AttributeError, OSError, ValueError):  # no console
        yield output
        return
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield output
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            output += file.read().decode(errors="replace").splitlines()
