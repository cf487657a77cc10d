"""Fixtures: a session folder with its writer, and a small disk."""

import subprocess
from pathlib import Path

import pytest

from gazelive.recordings.session import writer as session_writer
from gazelive.recordings.session.writer import SessionWriter

from .session_folders import MANIFEST


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "session"


@pytest.fixture
def writer(folder):
    with SessionWriter.create(folder, MANIFEST) as writer:
        yield writer


@pytest.fixture
def small_disk(tmp_path, monkeypatch):
    """A file system of one megabyte."""
    monkeypatch.setattr(session_writer, "LEAST_FREE_BYTES", 0)
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"may not mount a small disk here: {error}")
    yield place
    subprocess.run(["umount", str(place)], check=True)
