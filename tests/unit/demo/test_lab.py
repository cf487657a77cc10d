"""The demo's folder: an earlier demo is removed if asked for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from gazelive.demo.lab import prepare_folder
from gazelive.demo.session import DEMO_KEY
from gazelive.errors import ConfigError
from gazelive.recordings.session.manifest import SessionManifest
from gazelive.recordings.session.writer import SessionWriter


def session(folder: Path, *, demo: bool) -> Path:
    manifest = SessionManifest(
        session="2",
        device="simulated EyeLink",
        mode="identify",
        started_at="2026-01-01T00:00:00+00:00",
        config={DEMO_KEY: True} if demo else {},
    )
    with SessionWriter.create(folder, manifest):
        return folder


def test_an_earlier_demo_is_removed_with_its_pictures(tmp_path: Path) -> None:
    viewer = session(tmp_path / "viewer", demo=True)
    (tmp_path / "window-viewer").mkdir()
    (tmp_path / "dashboard-viewer.png").write_bytes(b"")
    mine = tmp_path / "notes.txt"
    mine.write_text("mine")
    prepare_folder(tmp_path, replace=True)
    assert list(tmp_path.iterdir()) == [mine]
    assert not viewer.exists()


def test_a_folder_that_is_no_demo_is_kept(tmp_path: Path) -> None:
    viewer = session(tmp_path / "viewer", demo=True)
    stranger = session(tmp_path / "stranger", demo=False)
    with pytest.raises(ConfigError, match=r"stranger.*is no demo"):
        prepare_folder(tmp_path, replace=True)
    assert viewer.is_dir()
    assert stranger.is_dir()


@pytest.mark.parametrize("name", ["viewer", "stranger", "people.model"])
def test_an_earlier_demo_is_kept_without_replace(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(ConfigError, match=f"holds {name} already: add --replace"):
        prepare_folder(tmp_path, replace=False)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("mine")
    with pytest.raises(ConfigError, match="is a file"):
        prepare_folder(tmp_path / "demo", replace=True)
