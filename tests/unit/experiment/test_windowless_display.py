"""Errors of the windowless display; its contract is in tests/contract/test_display.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from gazelive.errors import ConfigError, DeviceUnavailableError
from gazelive.experiment.config.schema import ExperimentConfig, Screen, Tracker
from gazelive.experiment.display.display import Participant
from gazelive.experiment.display.windowless_display import WindowlessDisplay, open_windowless
from gazelive.experiment.process.launch import RunSpec
from gazelive.live.settings import LiveSettings

from ...support.manual_clock import ManualClock


def spec_with(device: str) -> RunSpec:
    return RunSpec(
        config=ExperimentConfig(tracker=Tracker(device=device)),
        config_path=Path("demo.toml"),
        participant=Participant(viewer=None, session=1, eyes="R", mode="identify"),
        live=LiveSettings(folder=Path("session"), address=None),
        window_px=(320, 180),
    )


def test_a_simulated_viewer_needs_no_window() -> None:
    display = open_windowless(spec_with("simulated"), ManualClock())
    assert not display.is_synced
    assert display.frame_s == pytest.approx(1 / 60)


@pytest.mark.parametrize("device", ["eyelink", "replay:anna.asc"])
def test_a_participant_needs_a_window(device: str) -> None:
    with pytest.raises(ConfigError, match="only a simulated viewer"):
        open_windowless(spec_with(device), ManualClock())


def test_calibration_needs_a_window() -> None:
    with pytest.raises(DeviceUnavailableError, match="needs a window"):
        WindowlessDisplay(Screen(), clock=ManualClock()).calibration_graphics()
