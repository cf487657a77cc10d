"""Session folder: one writer, in order; every intact record is read."""

import itertools
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Chunk, Message
from gazelive.recordings.session.journal_reader import JournalFollower
from gazelive.recordings.session.manifest import (
    JOURNAL_NAME,
    MANIFEST_NAME,
    is_session_folder,
    read_manifest,
)
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter
from gazelive.recordings.trials import TrialPatterns

from .session_folders import (
    MANIFEST,
    STREAM,
    bytes_of,
    make_chunk,
    make_samples,
    replace_rate,
    snapshot,
    texts,
)

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "session-folder.md"


class TestWritingAndReading:
    def test_appended_chunks_are_read(self, folder):
        chunks = [make_chunk(n, block=n // 3) for n in range(6)]
        with SessionWriter.create(folder, MANIFEST) as writer:
            for chunk in chunks:
                if chunk.number % 3 == 0:
                    assert writer.start_block(STREAM) == chunk.block
                writer.append(chunk)
        recording = read_session(folder)
        assert recording.format == "session"
        assert recording.path == folder
        assert (recording.viewer, recording.session) == ("anna", "2")
        assert recording.screen == PAPER_SCREEN
        assert recording.screen_px == (1920, 1080)
        assert [block.stream for block in recording.blocks] == [STREAM, STREAM]
        assert [(b.start_us, b.end_us) for b in recording.blocks] == [(0, 29_000), (30_000, 59_000)]
        assert bytes_of(recording.blocks) == b"".join(c.samples.tobytes() for c in chunks)
        assert recording.messages == tuple(m for chunk in chunks for m in chunk.messages)
        assert recording.problems == ()
        assert sorted(snapshot(folder)) == [JOURNAL_NAME, MANIFEST_NAME]

    @given(cuts=st.lists(st.integers(0, 300), max_size=30))
    def test_the_recording_does_not_depend_on_how_it_was_cut(self, tmp_path_factory, cuts):
        samples = make_samples(300)
        folder = tmp_path_factory.mktemp("cut") / "session"
        bounds = [0, *sorted(cuts), 300]
        with SessionWriter.create(folder, MANIFEST, sync_interval_s=None) as writer:
            block = writer.start_block(STREAM)
            for number, (start, stop) in enumerate(itertools.pairwise(bounds)):
                writer.append(Chunk(number, block, samples[start:stop]))
        assert bytes_of(read_session(folder).blocks) == samples.tobytes()

    def test_samples_that_are_not_contiguous_are_written_right(self, folder, writer):
        samples = make_samples(10)[::-1].copy()
        writer.append(Chunk(0, writer.start_block(STREAM), samples[::-2]))
        writer.close()
        assert bytes_of(read_session(folder).blocks) == samples[::-2].tobytes()

    def test_samples_out_of_order_are_skipped_and_reported(self, folder, writer):
        chunks = [make_chunk(number) for number in range(3)]
        times = chunks[1].samples["tracker_time_us"]
        times[4] = times[3]  # twice, back, and far ahead
        chunks[2].samples["tracker_time_us"][[2, 5]] = 0, 10**12
        writer.start_block(STREAM)
        for chunk in chunks:
            writer.append(chunk)
        writer.close()
        recording = read_session(folder)
        (block,) = recording.blocks
        everything = np.concatenate([chunk.samples for chunk in chunks])
        expected = np.delete(everything, [14, 22, 25])
        assert block.samples.tobytes() == expected.tobytes()
        assert texts(recording) == ["3 samples of block 1 were skipped to keep times increasing"]

    def test_custom_patterns_find_other_trials(self, folder):
        samples = make_samples(10)
        messages = (
            Message(0, "TRIALID 1"),
            Message(2000, "go now"),
            Message(6000, "halt"),
            Message(9000, "TRIAL_RESULT 0"),
        )
        with SessionWriter.create(folder, MANIFEST) as writer:
            writer.append(Chunk(0, writer.start_block(STREAM), samples, messages))
        patterns = TrialPatterns(start="go", stop="halt")
        (trial,) = read_session(folder, trial_patterns=patterns).trials
        assert (trial.name, trial.start_us, trial.end_us) == ("now", 2000, 6000)

    def test_a_session_that_runs_can_be_read_and_followed(self, folder, writer):
        writer.start_block(STREAM)
        writer.append(make_chunk(0))
        recording = read_session(folder)
        assert recording.n_samples == 10
        assert texts(recording) == [
            "the session has no end: it is still being recorded, or its process was killed"
        ]
        stream, chunk = JournalFollower(folder / JOURNAL_NAME).poll()
        assert stream == STREAM
        assert chunk.samples.tobytes() == make_chunk(0).samples.tobytes()
        assert list(JournalFollower(folder / JOURNAL_NAME, from_chunk=1).poll()) == []

    def test_a_session_without_samples_is_a_recording_without_samples(self, folder):
        SessionWriter.create(folder, MANIFEST).close()
        assert read_session(folder).blocks == ()
        (folder / JOURNAL_NAME).unlink()
        assert texts(read_session(folder)) == [
            "gaze.journal is missing: the session has no samples"
        ]

    def test_a_long_block_survives_the_loss_of_its_first_description(self, folder, writer):
        block = writer.start_block(STREAM)
        first_record_bytes = (folder / JOURNAL_NAME).stat().st_size
        for number in range(10):
            writer.append(make_chunk(number, 300, block))
        writer.close()
        damaged = bytearray((folder / JOURNAL_NAME).read_bytes())
        damaged[:first_record_bytes] = bytes(first_record_bytes)
        (folder / JOURNAL_NAME).write_bytes(damaged)
        recording = read_session(folder)
        assert recording.n_samples == 3000
        assert recording.blocks[0].stream == STREAM
        assert texts(recording) == [
            f"{first_record_bytes} bytes from byte 0 on are damaged; no chunk is missing"
        ]

    def test_progress_goes_up_to_the_end(self, folder, writer):
        for number in range(3):
            writer.append(make_chunk(number, 20_000, writer.start_block(STREAM)))
        writer.close()
        fractions: list[float] = []
        read_session(folder, progress=fractions.append)
        assert len(fractions) > 1
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0

    def test_the_documented_reader_reads_it(self, folder, writer):
        writer.start_block(STREAM)
        for number in range(3):
            writer.append(make_chunk(number))
        writer.close()
        (code,) = re.findall(r"```python\n(.*?)```", DOCUMENTATION.read_text("utf-8"), re.DOTALL)
        namespace: dict = {}
        exec(code, namespace)
        records = list(namespace["read_records"](folder / JOURNAL_NAME))
        assert [kind for kind, *_ in records] == [1, 2, 2, 2]
        samples, additions = namespace["read_chunk"](records[2][3])
        assert samples.tobytes() == make_chunk(1).samples.tobytes()
        assert additions == {"messages": [{"tracker_time_us": 10_000, "text": "MARK 1"}]}


class TestRules:
    def test_chunks_must_come_in_order(self, writer):
        with pytest.raises(ValueError, match="block None is open"):
            writer.append(make_chunk(0))
        writer.start_block(STREAM)
        writer.append(make_chunk(0))
        for wrong in (0, 2):
            with pytest.raises(ValueError, match=f"got chunk {wrong}"):
                writer.append(make_chunk(wrong))
        with pytest.raises(ValueError, match=r"block 1 .*block 0"):
            writer.append(make_chunk(1, block=1))
        writer.append(make_chunk(1))
        writer.close()
        with pytest.raises(ValueError, match="closed"):
            writer.append(make_chunk(2))
        with pytest.raises(ValueError, match="closed"):
            writer.update(viewer="bert")

    def test_a_folder_with_something_in_it_is_refused_and_left_alone(self, folder):
        folder.mkdir()
        (folder / "thesis.txt").write_text("precious")
        with pytest.raises(RecordingError, match=r"session: .*not empty.*thesis\.txt"):
            SessionWriter.create(folder, MANIFEST)
        assert snapshot(folder) == {"thesis.txt": b"precious"}

    def test_a_session_is_not_overwritten(self, folder):
        SessionWriter.create(folder, MANIFEST).close()
        before = snapshot(folder)
        with pytest.raises(RecordingError, match="not empty"):
            SessionWriter.create(folder, MANIFEST)
        assert snapshot(folder) == before

    def test_an_empty_folder_is_taken(self, folder):
        folder.mkdir()
        SessionWriter.create(folder, MANIFEST).close()
        assert is_session_folder(folder)

    def test_a_file_in_the_way_is_named(self, tmp_path):
        file = tmp_path / "file"
        file.write_text("x")
        with pytest.raises(RecordingError, match="file: is a file"):
            SessionWriter.create(file, MANIFEST)
        with pytest.raises(RecordingError, match=r"written \(Not a directory\)"):
            SessionWriter.create(file / "session", MANIFEST)
        assert file.read_text() == "x"

    def test_there_is_one_writer(self, folder, writer):
        with pytest.raises(RecordingError, match=rf"\(number {os.getpid()}\) is writing"):
            SessionWriter.resume(folder)
        script = (
            "import sys, pathlib\n"
            "from gazelive.recordings.session.writer import SessionWriter\n"
            "SessionWriter.resume(pathlib.Path(sys.argv[1]))\n"
        )
        other = subprocess.run(
            [sys.executable, "-c", script, folder], capture_output=True, text=True, check=False
        )
        assert "another process" in other.stderr
        writer.start_block(STREAM)
        writer.append(make_chunk(0))
        writer.close()
        SessionWriter.resume(folder).close()

    def test_an_abandoned_lock_file_does_not_matter(self, folder):
        SessionWriter.create(folder, MANIFEST).close()
        (folder / "writer.lock").write_text("99999999")
        SessionWriter.resume(folder).close()
        assert not (folder / "writer.lock").exists()


class TestEnd:
    def test_closing_stores_the_reason_and_may_be_repeated(self, folder, writer):
        writer.close("enough images")
        first = snapshot(folder)
        writer.close("again")
        assert snapshot(folder) == first
        manifest = read_manifest(folder)
        assert manifest.stop_reason == "enough images"
        assert manifest.finished_at is not None

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (ConfigError("no such screen"), "no such screen"),
            (KeyboardInterrupt(), "stopped by the user"),
            (ZeroDivisionError("oh"), "ZeroDivisionError: oh"),
        ],
    )
    def test_an_exception_is_the_reason(self, folder, error, reason):
        with (
            pytest.raises(type(error)),
            SessionWriter.create(folder, MANIFEST) as writer,
        ):
            writer.append(make_chunk(0, block=writer.start_block(STREAM)))
            raise error
        assert read_manifest(folder).stop_reason == reason
        assert read_session(folder).n_samples == 10

    def test_nothing_is_left_running(self, folder):
        with SessionWriter.create(folder, MANIFEST) as writer:
            assert "journal-sync" in {thread.name for thread in threading.enumerate()}
            writer.start_block(STREAM)
        assert "journal-sync" not in {thread.name for thread in threading.enumerate()}


class TestResume:
    def test_a_torn_tail_is_cut_and_the_session_goes_on(self, folder, writer):
        writer.start_block(STREAM)
        for number in range(4):
            writer.append(make_chunk(number))
        writer.close("crash")
        journal = folder / JOURNAL_NAME
        journal.write_bytes(journal.read_bytes()[:-7])
        (folder / f".{MANIFEST_NAME}.abc.part.json").write_text("{")
        with SessionWriter.resume(folder) as resumed:
            assert read_manifest(folder).finished_at is None
            assert resumed.next_chunk == 3
            assert resumed.block is None
            with pytest.raises(ValueError, match="block None is open"):
                resumed.append(make_chunk(3))
            assert resumed.start_block(replace_rate(STREAM, 500.0)) == 1
            resumed.append(make_chunk(3, block=1))
        recording = read_session(folder)
        assert [block.stream.sampling_rate_hz for block in recording.blocks] == [1000.0, 500.0]
        assert bytes_of(recording.blocks) == b"".join(
            make_chunk(number).samples.tobytes() for number in range(4)
        )
        assert len(texts(recording)) == 1
        assert re.match(r"the process died: \d+ bytes .* before chunk 3$", texts(recording)[0])
        assert sorted(snapshot(folder)) == [JOURNAL_NAME, MANIFEST_NAME]

    def test_a_session_that_died_before_its_journal_was_made(self, folder):
        SessionWriter.create(folder, MANIFEST).close()
        (folder / JOURNAL_NAME).unlink()
        with SessionWriter.resume(folder) as writer:
            writer.append(make_chunk(0, block=writer.start_block(STREAM)))
        assert read_session(folder).n_samples == 10

    def test_a_follower_goes_on_over_it(self, folder, writer):
        writer.append(make_chunk(0, block=writer.start_block(STREAM)))
        writer.close()
        with (folder / JOURNAL_NAME).open("ab") as file:
            file.write(b"GZJ1 torn")
        follower = JournalFollower(folder / JOURNAL_NAME)
        assert len(list(follower.poll())) == 2
        with SessionWriter.resume(folder) as resumed:
            resumed.append(make_chunk(1, block=resumed.start_block(STREAM)))
        stream, chunk = follower.poll()
        assert (stream, chunk.number, chunk.block) == (STREAM, 1, 1)
        assert follower.problems == []
