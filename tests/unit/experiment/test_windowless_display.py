"""What the display without a window refuses; what it does is in tests/contract/test_display.py."""

from __future__ import annotations

import pytest

from gazelive.clock import ManualClock
from gazelive.config.schema import ExperimentConfig, Screen, Tracker
from gazelive.errors import ConfigError, DeviceUnavailableError
from gazelive.experiment.display import Participant
from gazelive.experiment.spec import RunSpec
from gazelive.experiment.windowless_display import WindowlessDisplay, open_windowless


def spec_with(device: str) -> RunSpec:
    return RunSpec(
        config=ExperimentConfig(tracker=Tracker(device=device)),
        config_path="demo.toml",
        participant=Participant(viewer=None, session=1, eyes="R", mode="identify"),
        folder="session",
        window_px=(320, 180),
    )


def test_a_simulated_viewer_needs_no_window() -> None:
    display = open_windowless(spec_with("simulated"), ManualClock())
    assert not display.is_synced
    assert display.frame_s == pytest.approx(1 / 60)


@pytest.mark.parametrize("device", ["eyelink", "replay:anna.asc"])
def test_people_need_something_to_look_at(device: str) -> None:
    with pytest.raises(ConfigError, match="only a simulated viewer"):
        open_windowless(spec_with(device), ManualClock())


def test_no_tracker_is_calibrated_without_a_window() -> None:
    with pytest.raises(DeviceUnavailableError, match="without a window"):
        WindowlessDisplay(Screen(), clock=ManualClock()).calibration_graphics()
