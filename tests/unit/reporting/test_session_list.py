"""The sessions under a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gazelive.errors import RecordingError
from gazelive.reporting.session_list import find_sessions, list_sessions


def test_every_session_has_a_row_and_damaged_ones_a_reason(made: Path) -> None:
    rows = {Path(row.folder).relative_to(made).as_posix(): row for row in list_sessions(made)}
    assert set(rows) == {
        "identified",
        "enrolled",
        "v001/again",
        "no description",
        "bad description",
    }
    assert rows["no description"].damage is not None
    assert "session.json" in rows["no description"].damage
    assert "not a session description" in (rows["bad description"].damage or "")
    enrolled = rows["enrolled"]
    assert (enrolled.viewer, enrolled.session, enrolled.mode) == ("v001", "1", "enrol")
    assert enrolled.n_trials == 4
    assert enrolled.damage is None
    assert enrolled.minutes == pytest.approx(4 * 3.1 / 60, abs=0.05)
    assert enrolled.validation_mean_deg is not None
    assert enrolled.said_to_be is None
    assert rows["identified"].said_to_be.startswith("v001 99.4 %")
    assert rows["identified"].viewer is None


def test_a_session_itself_is_one_row(made: Path) -> None:
    assert find_sessions(made / "enrolled") == [made / "enrolled"]


def test_a_folder_without_sessions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no session"):
        find_sessions(tmp_path)
    with pytest.raises(RecordingError, match="no such folder"):
        find_sessions(tmp_path / "nowhere")
