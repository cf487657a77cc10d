"""`experiments/gaze_contingent.py`: changes that fall into saccades."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import gazelive
from gazelive.experiment.process import owner
from gazelive.recordings.session.reader import read_session

from .lockstep import LockstepClock, LockstepDeviceThread

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore:the recording is noisy"),
]
SCRIPT = Path(__file__).parents[2] / "experiments" / "gaze_contingent.py"
FRAME_S = 1 / 240


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gaze_contingent", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(importlib.util.find_spec("psychopy") is None, reason="needs PsychoPy")
def test_it_runs_in_a_window_and_reports_what_it_recorded(
    script: ModuleType, screen_environment: dict[str, str], tmp_path: Path
) -> None:
    """How many flips are in time depends on the machine; what is said of them does not."""
    ran = subprocess.run(
        [
            *(sys.executable, str(SCRIPT), "--trials", "3", "--windowed", "--json"),
            *("--out", str(tmp_path)),
        ],
        env=screen_environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    folder = Path(told["session"])
    assert told == script.report(folder)
    assert told["trials"] == 3
    assert 1 <= told["changes"] <= 3
    assert 0 <= told["inside_saccade"] <= told["changes"]
    assert told["trigger_to_flip_ms"]["min"] > 0
    for trial in read_session(folder).trials:
        assert (trial.result, trial.variables["evidence"]) == ("0", "1")
        assert trial.image_onset_us is not None
        assert trial.image_offset_us is not None


def test_changes_in_time_fall_into_saccades(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock that waits for both threads, so that no flip is late on any machine."""
    monkeypatch.setattr(owner, "DeviceThread", LockstepDeviceThread)
    clock = LockstepClock()
    with gazelive.Tracker(
        "simulated", out=tmp_path, viewer="v001", quiet=True, clock=clock
    ) as tracker:
        for number in range(1, 13):
            with tracker.trial(number, image=f"{number}", rectangle_px=(210, 40, 1500, 1000)) as t:
                t.shown()
                watch = t.triggers.saccade_onset(min_amplitude_deg=2.0)
                saccade = None
                while saccade is None:
                    clock.sleep_until_s(clock.now_s() + FRAME_S)
                    saccade = watch.poll()
                clock.sleep_until_s(clock.now_s() + FRAME_S)
                t.message(f"mirrored {saccade.tracker_time_us}")
                clock.sleep_until_s(clock.now_s() + 0.3)
    found = script.report(tracker.folder)
    assert (found["trials"], found["changes"]) == (12, 12)
    # the others are saccades that were over by then, and lids that close
    assert found["inside_saccade"] >= 8
    assert found["trigger_to_flip_ms"]["min"] >= 1000 * FRAME_S - 1
    assert found["trigger_to_flip_ms"]["max"] <= 2000 * FRAME_S + 2
    assert "12 changes in 12 trials" in script.in_words(found)
