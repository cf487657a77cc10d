"""Sessions that the tests of reports share."""

from __future__ import annotations

from pathlib import Path

import pytest

from gazelive.recordings.recording import Recording
from gazelive.recordings.session.conversion import write_session
from gazelive.recordings.session.reader import read_session

from .sessions import documents, manifest, simulated, write_documents


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sessions: identified, enrolled (no engine), nested, and two damaged ones."""
    root = tmp_path_factory.mktemp("sessions")
    recording = simulated()
    write_session(recording, root / "identified", manifest("identify"))
    write_documents(root / "identified", documents(recording))
    write_session(recording, root / "enrolled", manifest())
    write_session(recording, root / "v001" / "again", manifest())
    (root / "no description").mkdir()
    (root / "no description" / "gaze.journal").write_bytes(b"")
    (root / "bad description").mkdir()
    (root / "bad description" / "session.json").write_text("{")
    return root


@pytest.fixture(scope="session")
def recording(made: Path) -> Recording:
    return read_session(made / "identified")
