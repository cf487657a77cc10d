"""A session's processes."""

from __future__ import annotations

from pathlib import Path

from gazelive.experiment.launch import _is_over
from gazelive.recordings.session_folder import MANIFEST_NAME, SessionManifest, SessionWriter


def test_a_description_that_cannot_be_read_just_now_ends_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    assert not _is_over(folder)
    manifest = SessionManifest(
        viewer="anna", session="1", device="d", mode="enrol", started_at="2026-01-01T00:00:00+00:00"
    )
    with SessionWriter.create(folder, manifest):
        assert not _is_over(folder)
    assert _is_over(folder)
    (folder / MANIFEST_NAME).write_bytes(b"{")
    assert not _is_over(folder)
