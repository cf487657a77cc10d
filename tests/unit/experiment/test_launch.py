"""A session's processes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.experiment.display.display import Participant
from gazelive.experiment.process.launch import RUN_FLAG, RunSpec, launch
from gazelive.live.session import SessionResult
from gazelive.live.settings import DashboardSettings, LiveSettings
from gazelive.live.wire.addresses import free_addresses
from gazelive.observer import Observer
from gazelive.recordings.session.manifest import MANIFEST_NAME, SessionManifest, is_closed
from gazelive.recordings.session.writer import SessionWriter


def launched(folder: Path, script: str) -> SessionResult:
    """Launch a session whose experiment is `script`."""
    path = folder / "experiment.py"
    path.write_text(script, encoding="utf-8")
    spec = RunSpec(
        config=ExperimentConfig(),
        config_path=folder / "lab.toml",
        participant=Participant(viewer="anna", session=1, eyes="R", mode="enrol"),
        live=LiveSettings(
            folder=folder / "session", address=str(free_addresses()), dashboard=DashboardSettings()
        ),
    )
    return launch(spec, path, Observer())


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to this process alone")
@pytest.mark.parametrize("child", ["gazelive.live.engine", "dashboard", RUN_FLAG])
def test_ctrl_c_while_a_child_is_started_ends_the_session(
    child: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = subprocess.Popen
    interrupted = []

    def start_interrupted(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        if child in command:
            signal.raise_signal(signal.SIGINT)
            interrupted.append(command)
        return start(command, **options)

    monkeypatch.setattr(subprocess, "Popen", start_interrupted)
    ended = launched(tmp_path, "import time; time.sleep(600)")
    assert interrupted
    assert ended.was_interrupted
    assert ended.exit_code == -signal.SIGTERM
    assert ended.manifest is None


def test_a_description_that_cannot_be_read_just_now_ends_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    assert not is_closed(folder)
    manifest = SessionManifest(
        viewer="anna", session="1", device="d", mode="enrol", started_at="2026-01-01T00:00:00+00:00"
    )
    with SessionWriter.create(folder, manifest):
        assert not is_closed(folder)
    assert is_closed(folder)
    (folder / MANIFEST_NAME).write_bytes(b"{")
    assert not is_closed(folder)
