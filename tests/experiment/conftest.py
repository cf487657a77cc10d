"""A screen of our own, and real PsychoPy windows on it, each in a process of its own.

PsychoPy and X11 keep what they opened until their process ends, so that windows in the process
of the tests would not be apart from each other, nor from Qt's.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gazelive.system.screen import virtual_display

from .recorded_lab import CONFIG

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

REAL_WINDOW = Path(__file__).with_name("real_window.py")
InWindow = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def screen_environment() -> Iterator[dict[str, str]]:
    """The environment of a process that is to open windows, on a screen of 1920x1080."""
    with virtual_display() as display:
        if display is None:
            pytest.skip("Xvfb is not installed, or does not start")
        environment = {**os.environ, "DISPLAY": display}
        environment.pop("QT_QPA_PLATFORM", None)
        yield environment


@pytest.fixture(scope="session")
def in_window(screen_environment: dict[str, str]) -> InWindow:
    """Return what runs a function of `real_window.py` on the screen, warnings being errors."""
    if importlib.util.find_spec("psychopy") is None:
        pytest.skip("PsychoPy is not installed (extra `experiment`)")

    def run(function: str, **arguments: Any) -> dict[str, Any]:
        ran = subprocess.run(
            [sys.executable, "-W", "error", str(REAL_WINDOW), function, json.dumps(arguments)],
            env=screen_environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stderr == "", "PsychoPy said something"
        # before it pylink's native library may complain, of a network that is not there
        answer: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
        return answer

    return run


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A folder with the configuration of an experiment."""
    (tmp_path / "lab.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path
