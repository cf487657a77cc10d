"""`gazelive record` refuses what cannot work before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from gazelive.cli.app import app
from gazelive.errors import ConfigError
from gazelive.recordings.session_folder import SessionManifest, SessionWriter


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DISPLAY", raising=False)
    path = tmp_path / "lab.toml"
    path.write_text('[tracker]\ndevice = "simulated"\n[output]\nfolder = "sessions"\n')
    return path


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--device", "simulatd"], 'tracker.device: .* did you mean "simulated"'),
        (["--device", "replay:"], "tracker.device"),
        (["--seconds", "5000"], "trial.image_s: 5000 s cannot be"),
        (["--viewer", "a/b"], "--viewer: Use letters"),
        (["--viewer", "anna", "--eye", "both"], "--eye: must be L, R or LR, not 'BOTH'"),
        ([], "--viewer: Enter the viewer's id"),
        (["--mode", "identify"], "--model: to identify somebody a model is needed"),
        (
            ["--viewer", "anna", "--session", "1"],
            "--session: Session 1 of anna is there already; 2",
        ),
        (
            ["--viewer", "x", "--device", "replay:a.asc", "--simulate-as", "y"],
            "--simulate-as: needs",
        ),
    ],
)
def test_what_cannot_work_is_told(toml: Path, options: list[str], told: str) -> None:
    manifest = SessionManifest(
        viewer="anna", session="1", device="d", mode="enrol", started_at="2026-01-01T00:00:00+00:00"
    )
    SessionWriter.create(toml.parent / "sessions" / "anna-01", manifest).close()
    with pytest.raises(ConfigError, match=told):
        CliRunner().invoke(app, ["record", str(toml), *options], catch_exceptions=False)
    assert [path.name for path in (toml.parent / "sessions").iterdir()] == ["anna-01"]


@pytest.mark.skipif("sys.platform != 'linux'")
def test_without_a_screen_it_says_how_to_go_on(toml: Path) -> None:
    with pytest.raises(ConfigError, match=r"no screen .* xvfb-run|PsychoPy is not installed"):
        CliRunner().invoke(app, ["record", str(toml), "--viewer", "anna"], catch_exceptions=False)
    assert not (toml.parent / "sessions").exists()


def test_a_file_that_is_wrong_or_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="config init"):
        CliRunner().invoke(app, ["record", str(tmp_path / "no.toml")], catch_exceptions=False)
