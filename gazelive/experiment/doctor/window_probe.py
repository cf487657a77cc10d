"""Window probe: opens a PsychoPy window and flips it for two seconds (`… RESULT SCREEN-JSON`)."""

from __future__ import annotations

import itertools
import sys
import time

import msgspec

from gazelive.errors import GazeliveError
from gazelive.experiment.config.schema import Screen

N_WARM, N_FLIPS, LIMIT_S = 30, 600, 2.0


class WindowSeen(msgspec.Struct):
    """Screens, OpenGL and flips of a window."""

    error: str = ""
    screens_px: list[tuple[int, int]] = []
    number: int = 0
    """The window's screen."""
    system_rate_hz: float | None = None
    """Refresh rate reported by the system."""
    opengl: str = ""
    renderer: str = ""
    flips_s: list[float] = []
    """Intervals between flips."""
    calibration_error: str = ""
    """Error of the vendor's calibration graphics; empty if they do or are missing."""


def look(screen: Screen) -> WindowSeen:
    """Open the window like the experiment, at the screen's actual size."""
    from gazelive.experiment.display.psychopy_window import (
        desktop_size_px,
        import_psychopy,
        known_rates_hz,
        open_window,
    )

    seen = WindowSeen()
    try:
        import_psychopy()
        seen.screens_px = _screens_px()
        # `screens` reports a missing screen
        seen.number = screen.number if screen.number < len(seen.screens_px) else 0
        width_px, height_px = desktop_size_px(seen.number)
        here = msgspec.structs.replace(
            screen, number=seen.number, width_px=width_px, height_px=height_px
        )
        window = open_window(here)
    except GazeliveError as error:
        seen.error = str(error)
        return seen
    from pyglet.gl import gl_info

    seen.opengl, seen.renderer = str(gl_info.get_version()), str(gl_info.get_renderer())
    seen.system_rate_hz = next(iter(known_rates_hz(window, 0.0)[1:]), None)
    for _ in range(N_WARM):
        window.flip()
    times_s = [time.perf_counter()]
    while len(times_s) <= N_FLIPS and times_s[-1] - times_s[0] < LIMIT_S:
        window.flip()
        times_s.append(time.perf_counter())
    seen.flips_s = [later - earlier for earlier, later in itertools.pairwise(times_s)]
    seen.calibration_error = _calibration_error()
    window.close()
    return seen


def _screens_px() -> list[tuple[int, int]]:
    import pyglet

    screens = pyglet.canvas.get_display().get_screens()
    return [(int(screen.width), int(screen.height)) for screen in screens]


def _calibration_error() -> str:
    import importlib.util

    if importlib.util.find_spec("EyeLinkCoreGraphicsPsychoPy") is None:
        return ""
    try:
        import EyeLinkCoreGraphicsPsychoPy  # noqa: F401
    except Exception as error:  # whatever the vendor's module raises
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    from gazelive.experiment.doctor.probe_process import write_result

    write_result(look(msgspec.json.decode(sys.argv[2], type=Screen)))
