"""Disks that are full, read-only, or fail in the background."""

import errno
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gazelive.errors import RecordingError, StorageError
from gazelive.recordings.session import writer as session_writer
from gazelive.recordings.session.manifest import JOURNAL_NAME, read_manifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import JournalWriter, SessionWriter
from gazelive.system.files import storage_error

from .session_folders import (
    MANIFEST,
    STREAM,
    make_chunk,
    texts,
)


def open_journal(path: Path) -> tuple[JournalWriter, threading.Thread]:
    """Return a journal that is forced to the disk on demand, and the thread that does it."""
    before = set(threading.enumerate())
    journal = JournalWriter(path, sync_interval_s=1e6)
    (syncer,) = set(threading.enumerate()) - before
    return journal, syncer


class TestStorage:
    def test_a_full_disk_is_a_clear_error_and_nothing_acknowledged_is_lost(self, small_disk):
        folder = small_disk / "session"
        n_acknowledged = 0
        with (
            pytest.raises(RecordingError, match=r"gaze\.journal: .*disk is full"),
            SessionWriter.create(folder, MANIFEST) as writer,
        ):
            block = writer.start_block(STREAM)
            while True:
                writer.append(make_chunk(n_acknowledged, 1000, block))
                n_acknowledged += 1
        assert n_acknowledged > 10
        recording = read_session(folder)
        assert recording.n_samples == 1000 * n_acknowledged
        manifest = read_manifest(folder)
        assert manifest.finished_at is not None
        assert "the disk is full" in str(manifest.stop_reason)
        assert texts(recording) == []
        subprocess.run(["mount", "-o", "remount,size=2m", str(small_disk)], check=True)
        with SessionWriter.resume(folder) as writer:
            writer.append(make_chunk(n_acknowledged, 10, writer.start_block(STREAM)))
        assert read_session(folder).n_samples == 1000 * n_acknowledged + 10

    def test_a_read_only_disk_is_a_clear_error(self, small_disk):
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        with pytest.raises(RecordingError, match=r"permission to write.*another folder"):
            SessionWriter.create(small_disk / "session", MANIFEST)

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on file sizes")
    def test_a_half_written_record_is_taken_back(self, folder, writer):
        import resource

        writer.start_block(STREAM)
        writer.append(make_chunk(0, 100))
        size = (folder / JOURNAL_NAME).stat().st_size
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, limits[1]))
        try:
            with pytest.raises(RecordingError, match=r"written \(File too large\)"):
                writer.append(make_chunk(1, 100))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (folder / JOURNAL_NAME).stat().st_size == size
        with pytest.raises(RecordingError, match="File too large"):  # it stays so
            writer.append(make_chunk(1, 100))
        writer.close("the disk failed")
        assert read_session(folder).n_samples == 100
        assert read_manifest(folder).stop_reason == "the disk failed"

    @pytest.mark.parametrize(
        ("number", "text"),
        [
            (errno.ENOSPC, "the disk is full"),
            (errno.EDQUOT, "the disk is full"),
            (errno.EROFS, "no permission to write"),
            (errno.EACCES, "no permission to write"),
            (errno.EIO, "cannot be written"),
        ],
    )
    def test_refusals_are_distinguished(self, number, text):
        error = storage_error(OSError(number, os.strerror(number)), Path("here"))
        assert str(error).startswith(f"here: {text} ({os.strerror(number)})")
        assert error.exit_code == 1, "a failure, not a mistake of whoever typed the command"

    def test_bytes_are_forced_to_the_disk_by_another_thread(self, tmp_path, monkeypatch):
        journal, syncer = open_journal(tmp_path / "j")
        here = threading.current_thread()
        synced_by: list[threading.Thread] = []
        first = threading.Event()
        real = os.fsync

        def fsync(handle):
            if threading.current_thread() in (syncer, here):
                synced_by.append(threading.current_thread())
                first.set()
            real(handle)

        monkeypatch.setattr(os, "fsync", fsync)
        journal.append(b"record")
        journal.sync_soon()
        assert first.wait(timeout=60)
        journal.close()
        assert synced_by == [syncer, here]

    def test_a_background_disk_error_is_raised_at_the_next_append(self, tmp_path, monkeypatch):
        def fsync(handle):
            raise OSError(errno.EIO, "Input/output error")

        journal, syncer = open_journal(tmp_path / "j")
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fsync)
            journal.append(b"record")
            journal.sync_soon()
            syncer.join(timeout=60)
        with pytest.raises(RecordingError, match="Input/output error"):
            journal.append(b"more")
        journal.close()
        assert (tmp_path / "j").read_bytes() == b"record"

    def test_a_failing_fsync_is_the_reason_of_the_end(self, tmp_path, monkeypatch):
        refusals = [OSError(errno.EIO, "Input/output error")]
        real = os.fsync

        def fsync(handle):
            if refusals:
                raise refusals.pop()
            real(handle)

        folder = tmp_path / "session"
        writer = SessionWriter.create(folder, MANIFEST, sync_interval_s=None)
        writer.append(make_chunk(0, 10, writer.start_block(STREAM)))
        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(RecordingError, match="Input/output error"):
            writer.close()
        assert "Input/output error" in str(read_manifest(folder).stop_reason)
        assert read_session(folder).n_samples == 10

    @pytest.mark.parametrize("goes", [os.rename, lambda place, _to: shutil.rmtree(place)])
    @pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps folders of open files")
    def test_a_folder_that_goes_is_noticed_while_it_is_recorded(self, tmp_path, goes):
        place = tmp_path / "session"
        place.mkdir()
        journal, syncer = open_journal(place / "j")
        journal.append(b"record")
        goes(place, tmp_path / "elsewhere")
        journal.sync_soon()
        syncer.join(timeout=60)
        with pytest.raises(StorageError, match="session: was moved or deleted"):
            journal.append(b"more")
        journal.close()

    def test_a_session_does_not_begin_on_a_full_disk(self, tmp_path, monkeypatch):
        monkeypatch.setattr(session_writer, "LEAST_FREE_BYTES", 1 << 60)
        with pytest.raises(StorageError, match=r"has only .* MB left"):
            SessionWriter.create(tmp_path / "session", MANIFEST)
