import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gazelive.gaze import StreamDescription
from gazelive.live.engine.documents_file import DocumentsFile
from gazelive.models.storage import write_arrays
from gazelive.recordings import SessionManifest, SessionWriter
from gazelive.system import files as atomic
from gazelive.system.files import (
    SHARED_VARIABLE,
    name_problem,
    replace_file,
    replacing,
    scratch_folder,
    write_bytes,
)

MANIFEST = SessionManifest(session="1", device="x", mode="enrol", started_at="2026-11-16T10:00:00")
STREAM = StreamDescription(device="x", sampling_rate_hz=1000, eyes="R")


def test_a_file_is_replaced_completely(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    write_bytes(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_keeps_the_old_file(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="boom"), replacing(target) as aside:
        aside.write_text("half")
        assert aside.suffix == ".csv"
        raise RuntimeError("boom")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("waits", [True, False])
def test_on_windows_replacing_waits_for_a_reader(tmp_path, monkeypatch, waits):
    (tmp_path / "aside").write_text("new")
    replace, refusals = Path.replace, [PermissionError("somebody reads it")] * 3

    def refused(self, target):
        if refusals:
            raise refusals.pop()
        return replace(self, target)

    slept = []
    monkeypatch.setattr(Path, "replace", refused)
    monkeypatch.setattr(atomic.time, "sleep", slept.append)
    monkeypatch.setattr(atomic, "WAITS", waits)
    if not waits:
        with pytest.raises(PermissionError):
            replace_file(tmp_path / "aside", tmp_path / "out")
        return
    replace_file(tmp_path / "aside", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "new"
    assert slept == [atomic.RETRY_S] * 3


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes: files inherit their folder's")
@pytest.mark.parametrize(("shared", "file", "folder"), [("", 0o600, 0o700), ("1", 0o640, 0o750)])
def test_sessions_and_models_are_their_owners(tmp_path, monkeypatch, shared, file, folder):
    monkeypatch.setenv(SHARED_VARIABLE, shared)
    before = os.umask(0o027)
    try:
        session = tmp_path / "sessions" / "s1"
        with SessionWriter.create(session, MANIFEST, sync_interval_s=None) as writer:
            writer.start_block(STREAM)
        documents = DocumentsFile(session)
        documents.close()
        write_arrays(tmp_path / "a.model", {}, {})
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in session.iterdir()}
    assert modes == dict.fromkeys(("session.json", "gaze.journal", "events.jsonl"), file)
    assert session.stat().st_mode & 0o777 == folder
    assert (tmp_path / "a.model").stat().st_mode & 0o777 == file
    assert session.parent.stat().st_mode & 0o777 == 0o750, "other folders are as always"


@pytest.mark.parametrize("name", ["v001", "a.b", "console", "com", "com10", "ä-1", "con_1"])
def test_names_for_every_system(name):
    assert name_problem(name) is None


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "a.", "a ", " a", ".a", "con", "NUL", "com1", "lpt9.txt", "Con.x"),
        *("a/b", "a\\b", "a:b", "a\nb", "a\0", 'a"', "a?"),
    ],
)
def test_names_that_some_system_refuses(name):
    assert name_problem(name)


def test_the_scratch_folder_of_a_killed_process_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import sys, time; from pathlib import Path; from gazelive.system import scratch_folder\n"
        "with scratch_folder('gazelive-edf-') as folder:\n"
        "    (folder / 'half').write_bytes(b'x'); print(folder, flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "TEMP": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        os.utime(left, (0, 0))
        with scratch_folder("gazelive-edf-"):
            assert (left / "half").exists(), "another process uses it"
        process.kill()
    with scratch_folder("gazelive-edf-") as folder:
        assert not left.exists()
        assert folder.exists()
    assert not list(tmp_path.iterdir())
