"""Contract of `Display`, run on PsychoPy's window and on the windowless display."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gazelive.experiment.display.display import Display
from gazelive.experiment.display.windowless_display import WindowlessDisplay
from gazelive.system.screen import virtual_display

from ..support.manual_clock import ManualClock
from .display_checks import CHECKS, SCREEN, SIZE_PX

CHECKS_FILE = Path(__file__).with_name("display_checks.py")


@pytest.mark.parametrize("name", CHECKS)
def test_without_a_window(name: str, tmp_path: Path) -> None:
    display: Display = WindowlessDisplay(SCREEN, clock=ManualClock(5.0), size_px=SIZE_PX)
    CHECKS[name](display, tmp_path)
    display.close()


@pytest.fixture(scope="module")
def failures_of_a_window(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    if importlib.util.find_spec("psychopy") is None:
        pytest.skip("PsychoPy is not installed (extra `experiment`)")
    with virtual_display() as screen:
        if screen is None:
            pytest.skip("Xvfb is not installed, or does not start")
        ran = subprocess.run(
            [sys.executable, "-W", "error", str(CHECKS_FILE), str(tmp_path_factory.mktemp("w"))],
            env={**os.environ, "DISPLAY": screen},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    failures: dict[str, str] = json.loads(ran.stdout)
    return failures


@pytest.mark.parametrize("name", CHECKS)
def test_psychopys_window(name: str, failures_of_a_window: dict[str, str]) -> None:
    assert name not in failures_of_a_window, failures_of_a_window[name]
