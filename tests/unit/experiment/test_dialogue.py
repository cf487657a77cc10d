from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from gazelive.errors import ConfigError
from gazelive.experiment.display.display import Participant
from gazelive.experiment.process.dialogue import (
    ExistingSessions,
    ask_participant,
    session_problem,
    viewer_problem,
)
from gazelive.recordings.session.manifest import SessionManifest, write_manifest


def recorded(folder: Path, name: str, viewer: str | None, session: str) -> None:
    (folder / name).mkdir(parents=True)
    write_manifest(
        folder / name,
        SessionManifest(
            viewer=viewer,
            session=session,
            device="simulated",
            mode="identify" if viewer is None else "enrol",
            started_at="2026-01-01T00:00:00+00:00",
        ),
    )


def test_the_next_free_session_of_a_viewer_is_proposed(tmp_path: Path) -> None:
    recorded(tmp_path, "a", "v01", "1")
    recorded(tmp_path, "b", "v01", "3")
    recorded(tmp_path, "c", "v02", "pilot")
    recorded(tmp_path, "d", None, "7")
    (tmp_path / "no session").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "session.json").write_text("{")
    taken = ExistingSessions.in_folder(tmp_path)
    assert taken.of("v01") == [1, 3]
    assert taken.next_free("v01") == 4
    assert taken.next_free("v02") == taken.next_free("somebody") == 1
    assert taken.next_free(None) == taken.next_free("") == 8
    assert ExistingSessions.in_folder(tmp_path / "not yet there").next_free("v01") == 1


@pytest.mark.parametrize("viewer", ["v01", "A", "anna-maria_2", "7"])
@pytest.mark.parametrize("mode", ["enrol", "identify"])
def test_a_good_name(viewer: str, mode: str) -> None:
    assert viewer_problem(viewer, mode) is None


@pytest.mark.parametrize(
    "viewer",
    [
        *("../x", "a/b", "a\\b", "a b", ".hidden", "-x", "ä", "a.b", "C:", "a\n", "a" * 41),
        *("con", "NUL", "Com1", "lpt9", "prn", "aux"),
    ],
)
@pytest.mark.parametrize("mode", ["enrol", "identify"])
def test_an_invalid_name_is_refused(viewer: str, mode: str) -> None:
    assert viewer_problem(viewer, mode)


def test_only_enrolment_needs_a_name() -> None:
    assert viewer_problem("", "enrol") == "Enter the viewer's id."
    assert viewer_problem("", "identify") is None


@given(st.text(max_size=50))
def test_a_name_that_may_be_used_is_one_folder(viewer: str) -> None:
    if viewer_problem(viewer, "enrol") is None:
        assert Path(viewer).name == viewer
        assert viewer.isascii()


def test_a_session_is_not_recorded_twice() -> None:
    taken = ExistingSessions({"v01": [1, 2], "": [1]})
    assert session_problem("v01", 3, taken) is None
    assert session_problem("v02", 1, taken) is None
    assert session_problem("v01", 2, taken) == "Session 2 of v01 is there already; 3 is free."
    assert session_problem("", 1, taken) == "Session 1 is there already; 2 is free."


def test_without_a_screen_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    defaults = Participant(viewer=None, session=1, eyes="R", mode="enrol")
    with pytest.raises(ConfigError, match="--viewer"):
        ask_participant(defaults, folder=tmp_path)


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        (b"", "it ended"),
        (b"Traceback (most recent call last):\n  File\nImportError: no PyQt6\n", "no PyQt6"),
        (b"qt.qpa.plugin: libxcb-cursor0 is needed\nThis application failed\n", "xcb-cursor0"),
    ],
)
def test_a_dialog_that_cannot_open_gives_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stderr: bytes, reason: str
) -> None:
    """Imitates the end of the process if Qt or one of its libraries is missing."""
    monkeypatch.setenv("DISPLAY", ":7")
    ended = subprocess.CompletedProcess([], returncode=1, stdout=b"", stderr=stderr)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    defaults = Participant(viewer=None, session=1, eyes="R", mode="enrol")
    with pytest.raises(ConfigError, match=rf"cannot be opened \(.*{reason}.*--viewer"):
        ask_participant(defaults, folder=tmp_path)
