"""A user's `random.py` in the working directory is not imported in the place of Python's own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gazelive.experiment.config.schema import ExperimentConfig, Stimuli, Tracker, Trial
from gazelive.experiment.display.display import Participant
from gazelive.experiment.process.launch import RunSpec, launch
from gazelive.live import session as session_module
from gazelive.live.settings import DashboardSettings, LiveSettings
from gazelive.live.wire.addresses import free_addresses
from gazelive.observer import Observer
from gazelive.system.children import python_module

from .recorded_lab import ROOT

pytestmark = pytest.mark.slow
STIMULI = ROOT / "stimuli"
SCRIPT = """
import beside
from gazelive.experiment.run import main
from gazelive.experiment.scene_viewing import scene_viewing
from gazelive.experiment.display.windowless_display import open_windowless

if __name__ == "__main__":
    main(scene_viewing, beside.opens(open_windowless))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("random", "queue", "pickle"):
        text = f"raise ImportError('this is the user\\'s own {name}.py')\n"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def told(folder: Path, *arguments: object) -> Any:
    """Run a command in the folder; return the JSON it prints."""
    done = subprocess.run(
        python_module("gazelive", *map(str, arguments), "--json", "-q"),
        cwd=folder, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_replay(folder: Path) -> None:
    made = ("--viewers", 2, "--images", 1, "--pool", 1, "--seconds", 2, "--jobs", 2)
    told(folder, "simulate", "corpus", *made)
    said = told(folder, "replay", "corpus/v001_s1", "--speed", "max", "--no-dashboard")
    assert said["intervals"] == 1


def test_record_with_dashboard_and_a_script_that_imports_its_neighbour(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("PyQt6")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(session_module, "DASHBOARD_END_S", 240.0)
    (folder / "beside.py").write_text("opens = lambda display: display\n", encoding="utf-8")
    (folder / "experiment.py").write_text(SCRIPT, encoding="utf-8")
    spec = RunSpec(
        config=ExperimentConfig(
            tracker=Tracker(device="simulated"),
            stimuli=Stimuli(folder=str(STIMULI), n_images=1),
            trial=Trial(image_s=0.5, blank_s=0.1),
        ),
        config_path=folder / "lab.toml",
        participant=Participant(viewer="anna", session=1, eyes="R", mode="enrol"),
        live=LiveSettings(
            folder=folder / "session",
            address=str(free_addresses()),
            images=(STIMULI,),
            dashboard=DashboardSettings(save=folder / "dashboard.png"),
        ),
        simulate_as="anna",
        quiet=True,
    )
    launched = launch(spec, Path("experiment.py"), Observer())
    assert capfd.readouterr().err == ""
    assert launched.exit_code == 0
    assert launched.manifest is not None
    assert launched.manifest.stop_reason == "all images were shown"
    assert (folder / "dashboard.png").is_file()
