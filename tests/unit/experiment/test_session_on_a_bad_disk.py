"""A whole session on a disk that stalls, refuses or is gone: a named end, and nothing lost."""

from __future__ import annotations

import errno
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from gazelive.clock import MonotonicClock
from gazelive.devices.simulated import SimulatedDevice
from gazelive.errors import GazeliveError, StorageError
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.experiment.process.owner import reason_of
from gazelive.experiment.process.saving import save
from gazelive.experiment.scene_viewing import scene_viewing
from gazelive.gaze.documents import Quality
from gazelive.live.engine.model import EngineModel
from gazelive.live.engine.session_run import SessionRun
from gazelive.live.settings import LiveSettings
from gazelive.recordings.session.manifest import JOURNAL_NAME, read_manifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

from ...support.document_list import DocumentList
from ...support.failing_disk import Effect, FailingDisk, fails_at
from ...support.manual_clock import ManualClock
from .lab import Lab, texts
from .test_device_thread import MANIFEST

AT = 100
"""Write of the journal at which the disk fails."""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "s", n_images=2)


@pytest.fixture
def disk(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> FailingDisk:
    return FailingDisk(lab.folder / JOURNAL_NAME, monkeypatch)


def run(lab: Lab) -> tuple[BaseException | None, list[Exception]]:
    """Run and save a session as `record` does; return what ended it and what was not saved."""
    error: BaseException | None = None
    try:
        scene_viewing(lab.session)
    except BaseException as failure:
        error = failure
    reason = lab.session.report.reason if error is None else reason_of(error)
    thread = lab.device_thread
    writer = thread._recorder._writer
    failures = save(thread, writer, reason, {}, show=lambda _: None, say=lab.console.append)
    thread.device.close()
    return error, failures


def reports(folder: Path) -> list[tuple[str, str]]:
    """Return what an engine says of the data."""
    said = DocumentList()
    settings = LiveSettings(folder=folder)
    engine = SessionRun(settings, EngineModel(), sinks=[said], clock=ManualClock())
    engine.finish("over")
    engine.close()
    return [(d.kind, d.text) for d in said.documents if isinstance(d, Quality)]


def steps_us(folder: Path) -> set[int]:
    """Return the steps between samples of the same block."""
    blocks = read_session(folder).blocks
    return set(np.concatenate([np.diff(b.samples["tracker_time_us"]) for b in blocks]).tolist())


def test_a_write_that_stalls_loses_nothing_and_is_named(lab: Lab, disk: FailingDisk) -> None:
    def stall(number: int) -> None:
        if number == AT:
            lab.clock.advance_s(5.0)

    disk.before_write = stall
    assert run(lab) == (None, [])
    assert steps_us(lab.folder) == {1000}, "what came meanwhile waited in the tracker's queue"
    assert len(read_session(lab.folder).trials) == 2
    (report,) = reports(lab.folder)
    assert report[0] == "disk"
    assert "took 5.0 s" in report[1]


def wait_for_sync(number: int) -> None:
    """Let the thread that syncs find out before the next write goes on."""
    if number == 2:
        for thread in threading.enumerate():
            if thread.name == "journal-sync":
                thread.join(60)


@pytest.mark.parametrize(
    ("write", "sync", "says"),
    [
        (fails_at(AT, errno.EIO), None, "cannot be written (Input/output error)"),
        (fails_at(AT, errno.ENOSPC), None, "the disk is full"),
        (fails_at(AT, errno.EROFS), None, "no permission to write"),
        (wait_for_sync, fails_at(1, errno.EIO), "cannot be written (Input/output error)"),
    ],
    ids=["EIO", "full", "read-only", "fsync"],
)
def test_a_disk_that_fails_ends_the_session_with_all_that_it_took(
    lab: Lab, disk: FailingDisk, write: Effect, sync: Effect | None, says: str
) -> None:
    disk.before_write = write
    if sync is not None:
        disk.before_sync = sync
    taken: list[int] = []
    append = SessionWriter.append

    def counting(writer: SessionWriter, chunk: object, **options: object) -> None:
        append(writer, chunk, **options)  # type: ignore[arg-type]
        taken.append(len(chunk.samples))  # type: ignore[attr-defined]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SessionWriter, "append", counting)
        error, failures = run(lab)
    assert isinstance(error, StorageError)
    assert says in str(error)
    assert all(isinstance(failure, GazeliveError) for failure in failures)
    manifest = read_manifest(lab.folder)
    assert manifest.finished_at is not None
    assert says in str(manifest.stop_reason)
    assert read_session(lab.folder).n_samples == sum(taken)
    assert reports(lab.folder) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps folders of open files")
def test_a_folder_that_moves_ends_the_session_and_has_all_of_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = lab.folder / JOURNAL_NAME
    moved = lab.folder.with_name("moved")
    writer = lab.device_thread._recorder._writer
    append = SessionWriter.append

    def append_and_move(writer: SessionWriter, *chunk: object) -> None:
        append(writer, *chunk)  # type: ignore[arg-type]
        if writer.next_chunk == AT:
            lab.folder.rename(moved)
            writer._journal.sync_soon()
            wait_for_sync(2)

    monkeypatch.setattr(SessionWriter, "append", append_and_move)
    error, failures = run(lab)
    assert "was moved or deleted" in str(error)
    assert all(isinstance(failure, GazeliveError) for failure in failures)
    assert not journal.exists()
    assert writer.next_chunk == AT
    assert read_session(moved).blocks[0].samples.size
    assert steps_us(moved) == {1000}


def test_the_experiment_does_not_wait_for_a_blocked_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = MonotonicClock()
    device = SimulatedDevice("anna", seed=1, session=1, clock=clock)
    writer = SessionWriter.create(tmp_path / "s", MANIFEST)
    disk = FailingDisk(tmp_path / "s" / JOURNAL_NAME, monkeypatch)
    blocked, released = threading.Event(), threading.Event()

    def block(number: int) -> None:
        if number == 5:
            blocked.set()
            assert released.wait(60)

    disk.before_write = block
    thread = DeviceThread(device, writer, clock=clock)
    thread.open()
    thread.start_block()
    assert blocked.wait(60)
    thread.say("while the disk was blocked")
    thread.hide()
    thread.check()
    assert not released.is_set(), "none of these waited"
    released.set()
    thread.stop_block("after it")
    thread.close("done")
    device.close()
    assert texts(read_session(tmp_path / "s")) == ["while the disk was blocked", "after it"]
    assert steps_us(tmp_path / "s") == {1000}
