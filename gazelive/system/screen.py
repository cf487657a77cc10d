"""Virtual display (Xvfb), for tests and for the demo on a server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WINDOW_SHARE = 0.28
"""Share of a screen's width for an experiment's window with the dashboard beside it."""
START_S = 20.0
END_S = 5.0


def has_screen() -> bool:
    """Return whether windows can be opened: on Linux with an X display, elsewhere always."""
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY"))


@contextmanager
def virtual_display(size_px: tuple[int, int] = (1920, 1080)) -> Iterator[str | None]:
    """Yield the name of a screen (for the variable DISPLAY) that exists during the block.

    Yields None if Xvfb is not installed or does not start. The environment is not changed: pass
    the name to the processes that use it.
    """
    program = shutil.which("Xvfb") if sys.platform.startswith("linux") else None
    if program is None:
        yield None
        return
    reading, writing = os.pipe()
    command = [
        *(program, "-displayfd", str(writing), "-screen", "0", f"{size_px[0]}x{size_px[1]}x24"),
        *("-nolisten", "tcp", "-noreset", "+extension", "GLX"),
    ]
    if (setpriv := shutil.which("setpriv")) is not None:
        # the screen ends with this process, even if it is killed
        command = [setpriv, "--pdeathsig", "TERM", *command]
    try:
        process = subprocess.Popen(
            command,
            pass_fds=(writing,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is meant for the programs that draw on it
        )
    except OSError:
        os.close(reading)
        os.close(writing)
        yield None
        return
    os.close(writing)
    try:
        yield _display_name(reading)
    finally:
        _end(process)


def _display_name(reading: int) -> str | None:
    """Return the display that Xvfb chose, once it accepts clients; close `reading`."""
    import select

    said = b""
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while not said.endswith(b"\n"):
            if not select.select([pipe], [], [], START_S)[0]:
                return None
            part = pipe.read(64)
            if not part:  # it ended
                return None
            said += part
    return f":{int(said)}"


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(END_S)
