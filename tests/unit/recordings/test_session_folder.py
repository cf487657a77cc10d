"""The session folder: written once, in order, by one; read whole, whatever happened."""

import errno
import itertools
import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.journal_writer import JournalWriter
from gazelive.recordings.recording import (
    Block,
    Calibration,
    DriftCorrection,
    Recording,
    Signal,
    Trial,
)
from gazelive.recordings.session_folder import (
    JOURNAL_NAME,
    MANIFEST_NAME,
    ClockFit,
    JournalFollower,
    SessionManifest,
    SessionWriter,
    follow,
    is_session_folder,
    manifest_of,
    read_manifest,
    read_session,
    what_is_lost,
    write_session,
)
from gazelive.recordings.storage_errors import storage_error
from gazelive.recordings.trials import TrialPatterns

MANIFEST = SessionManifest(
    viewer="anna",
    session="2",
    device="simulated",
    mode="enrol",
    started_at="2024-05-06T07:08:09+02:00",
    screen=PAPER_SCREEN,
    sampling_rate_hz=1000.0,
    config={"trials": {"seconds": 8}},
)
STREAM = StreamDescription(device="simulated", sampling_rate_hz=1000.0, eyes="L")
DOCUMENTATION = Path(__file__).parents[3] / "docs" / "session-folder.md"


def make_samples(n: int, start_ms: int = 0, seed: int = 0) -> np.ndarray:
    samples = empty_samples(n)
    samples["tracker_time_us"] = 1000 * (start_ms + np.arange(n))
    random = np.random.default_rng(seed)
    samples["left_x"], samples["left_y"] = random.normal(500, 100, (2, n))
    return samples


def make_chunk(number: int, n_samples: int = 10, block: int = 0) -> Chunk:
    samples = make_samples(n_samples, start_ms=n_samples * number, seed=number)
    messages = (Message(10_000 * number, f"MARK {number}"),) if number % 2 else ()
    return Chunk(number, block, samples, messages, arrival_s=float(number))


def bytes_of(blocks) -> bytes:
    return b"".join(block.samples.tobytes() for block in blocks)


def texts(recording: Recording) -> list[str]:
    return [problem.text for problem in recording.problems]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "session"


@pytest.fixture
def writer(folder):
    with SessionWriter.create(folder, MANIFEST) as writer:
        yield writer


class TestWritingAndReading:
    def test_what_is_appended_is_read(self, folder):
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

    def test_samples_out_of_order_are_left_out_and_told(self, folder, writer):
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
        assert texts(recording) == ["3 samples of block 1 were left out so that its times increase"]

    def test_patterns_of_ones_own_find_other_trials(self, folder):
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
            "the session has no end: it is still being recorded, or its process died"
        ]
        stream, chunk = follow(folder)
        assert stream == STREAM
        assert chunk.samples.tobytes() == make_chunk(0).samples.tobytes()
        assert list(follow(folder, from_chunk=1)) == []

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
            with pytest.raises(ValueError, match=f"chunk {wrong} where chunk 1 must come"):
                writer.append(make_chunk(wrong))
        with pytest.raises(ValueError, match="block 1 while block 0"):
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
        with pytest.raises(RecordingError, match=r"session: the folder is not empty.*thesis\.txt"):
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
        with pytest.raises(RecordingError, match="file: is a file, not a folder"):
            SessionWriter.create(file, MANIFEST)
        with pytest.raises(RecordingError, match=r"cannot be written \(Not a directory\)"):
            SessionWriter.create(file / "session", MANIFEST)
        assert file.read_text() == "x"

    def test_there_is_one_writer(self, folder, writer):
        with pytest.raises(RecordingError, match=rf"\(number {os.getpid()}\) is writing"):
            SessionWriter.resume(folder)
        script = (
            "import sys, pathlib\n"
            "from gazelive.recordings.session_writer import SessionWriter\n"
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

    def test_a_lock_that_nobody_holds_does_not_matter(self, folder):
        SessionWriter.create(folder, MANIFEST).close()
        (folder / "writer.lock").write_text("99999999")
        SessionWriter.resume(folder).close()
        assert not (folder / "writer.lock").exists()


class TestManifest:
    def test_it_is_kept(self, folder, writer):
        assert read_manifest(folder) == MANIFEST
        fit = ClockFit(
            host_reference_s=1.5,
            tracker_reference_us=2e6,
            tracker_us_per_host_s=1e6 + 3.25,
            residual_us=12.5,
            n_queries=40,
        )
        writer.update(clock_fit=fit, config={"a": [1, None, "ä"]})
        manifest = read_manifest(folder)
        assert manifest.clock_fit == fit
        assert manifest.config == {"a": [1, None, "ä"]}
        assert manifest.finished_at is None

    def test_what_cannot_be_read_again_is_not_written(self, folder, writer):
        before = snapshot(folder)
        with pytest.raises(RecordingError, match=r"session\.json.*mode"):
            writer.update(mode="play")
        with pytest.raises(TypeError):
            writer.update(colour="blue")
        assert snapshot(folder) == before
        assert writer.manifest == MANIFEST

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda text: "", "not a session description"),
            (lambda text: "\0\xff", "not a session description"),
            (lambda text: text.replace('"schema_version": 1', '"schema_version": 2'), "newer"),
            (lambda text: text.replace("1920", "-1920"), "width_px: must be a positive"),
            (lambda text: text.replace('"device"', '"gadget"'), "device"),
        ],
    )
    def test_damage_is_a_clear_error(self, folder, change, complaint):
        SessionWriter.create(folder, MANIFEST).close()
        path = folder / MANIFEST_NAME
        path.write_text(change(path.read_text("utf-8")), "latin-1")
        with pytest.raises(RecordingError, match=rf"session\.json: .*{complaint}"):
            read_session(folder)

    def test_any_other_folder_is_none(self, tmp_path):
        with pytest.raises(RecordingError, match="not a session folder"):
            read_session(tmp_path)
        with pytest.raises(RecordingError, match="not a session folder"):
            SessionWriter.resume(tmp_path / "nowhere")
        assert not is_session_folder(tmp_path)

    def test_what_calibration_found_is_in_the_recording(self, folder, writer):
        found = Calibration(tracker_time_us=5, kind="validation", eye="L", mean_error_deg=0.4)
        drift = DriftCorrection(
            tracker_time_us=6,
            eye="L",
            target_x_px=960,
            target_y_px=540,
            offset_deg=0.3,
            offset_x_px=4,
            offset_y_px=-3,
        )
        writer.update(calibrations=(found,), drift_corrections=(drift,))
        recording = read_session(folder)
        assert recording.calibrations == (found,)
        assert recording.drift_corrections == (drift,)

    def test_what_the_messages_tell_is_in_the_recording_once(self, folder, writer):
        told = (
            "DISPLAY_COORDS 0 0 1279 1023",
            "!CAL VALIDATION HV9 L LEFT GOOD ERROR 0.40 avg. 0.80 max OFFSET 0.1 deg. 1.0,2.0 pix.",
            "TRIALID 3",
            "!V IMGLOAD CENTER forest.jpg 640 512",
            "TRIAL_RESULT 0",
        )
        messages = tuple(Message(1000 * at, text) for at, text in enumerate(told))
        block = writer.start_block(STREAM)
        writer.append(Chunk(0, block, make_samples(10), messages))
        found = read_session(folder)
        assert [(trial.name, trial.image) for trial in found.trials] == [("3", "forest.jpg")]
        assert [item.mean_error_deg for item in found.calibrations] == [0.4]
        assert found.screen_px == (1920, 1080)  # session.json goes before the messages
        writer.update(calibrations=found.calibrations, screen=None)
        again = read_session(folder)
        assert again.calibrations == found.calibrations
        assert again.screen_px == (1280, 1024)


class TestEnd:
    def test_closing_says_why_and_twice_is_fine(self, folder, writer):
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


def replace_rate(stream: StreamDescription, rate_hz: float) -> StreamDescription:
    return StreamDescription(device=stream.device, sampling_rate_hz=rate_hz, eyes=stream.eyes)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"may not mount a small disk here: {error}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


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
            pytest.raises(RecordingError, match=r"gaze\.journal: the disk is full") as caught,
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
        if manifest.finished_at is None:  # no room even for a new session.json
            assert "could not be closed" in caught.value.__notes__[0]
            assert texts(recording) == [
                "the session has no end: it is still being recorded, or its process died"
            ]
        else:
            assert "the disk is full" in manifest.stop_reason
            assert texts(recording) == []
        subprocess.run(["mount", "-o", "remount,size=2m", str(small_disk)], check=True)
        with SessionWriter.resume(folder) as writer:
            writer.append(make_chunk(n_acknowledged, 10, writer.start_block(STREAM)))
        assert read_session(folder).n_samples == 1000 * n_acknowledged + 10

    def test_a_read_only_disk_is_a_clear_error(self, small_disk):
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        with pytest.raises(RecordingError, match=r"may not be written.*choose another folder"):
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
            with pytest.raises(RecordingError, match=r"cannot be written \(File too large\)"):
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
            (errno.EROFS, "may not be written"),
            (errno.EACCES, "may not be written"),
            (errno.EIO, "cannot be written"),
        ],
    )
    def test_refusals_are_told_apart(self, number, text):
        error = storage_error(OSError(number, os.strerror(number)), Path("here"))
        assert str(error).startswith(f"here: {text} ({os.strerror(number)})")

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

    def test_a_disk_that_fails_in_the_background_is_said_at_the_next_append(
        self, tmp_path, monkeypatch
    ):
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


RECORDING = Recording(
    path=Path("anna_2.asc"),
    format="asc",
    blocks=(
        Block(
            stream=STREAM,
            samples=make_samples(2500, 1000),
            start_us=998_000,
            end_us=3_700_000,
            extras={"velocity_x": np.linspace(-1, 1, 2500, dtype=np.float32)},
        ),
        Block(
            stream=replace_rate(STREAM, 500.0),
            samples=make_samples(3, 9000),
            start_us=9_000_000,
            end_us=9_004_000,
        ),
    ),
    messages=tuple(
        Message(time_us, text)
        for time_us, text in [
            (100, "before everything"),
            (1_000_000, "at the first sample"),
            (1_999_000, "at the end of a chunk"),
            (1_500_000, "out of order"),
            (5_000_000, "between blocks"),
            (9_900_000, "after everything"),
        ]
    ),
    tracker_events=(
        TrackerEvent(kind="saccade", eye="L", start_us=1_200_000, end_us=1_230_000, start_x=1.5),
        TrackerEvent(kind="blink", eye="L", start_us=2_000_000, end_us=2_100_000),
    ),
    signals=(Signal(1_100_000, "button", 3, 1),),
    trials=(
        Trial(name="7", start_us=1_000_000, end_us=2_000_000, block=0, variables={"side": "l"}),
    ),
    calibrations=(Calibration(tracker_time_us=5, kind="calibration", eye="L", result="GOOD"),),
    header=("** CONVERTED FROM anna.edf",),
    screen_px=(1280, 1024),
    viewer="anna",
    session="2",
)


class TestConversion:
    def test_a_recording_comes_back_as_it_was(self, folder):
        manifest = manifest_of(RECORDING, started_at="2024-05-06T07:08:09+02:00")
        fractions: list[float] = []
        write_session(RECORDING, folder, manifest, progress=fractions.append)
        found = read_session(folder)
        assert bytes_of(found.blocks) == bytes_of(RECORDING.blocks)
        for block, expected in zip(found.blocks, RECORDING.blocks, strict=True):
            assert block.extras.keys() == expected.extras.keys()
            for name, column in expected.extras.items():
                np.testing.assert_array_equal(block.extras[name], column)
        expected = replace(RECORDING, path=folder, format="session", blocks=found.blocks)
        assert found == expected
        assert [(b.start_us, b.end_us) for b in found.blocks] == [
            (b.start_us, b.end_us) for b in RECORDING.blocks
        ]
        assert fractions[-1] == 1.0
        assert what_is_lost(RECORDING) == []

    def test_messages_are_in_the_chunk_that_they_came_with(self, folder):
        manifest = manifest_of(RECORDING, started_at="")
        write_session(RECORDING, folder, manifest, chunk_s=1.0)
        chunks = [item for item in follow(folder) if isinstance(item, Chunk)]
        assert [len(chunk.samples) for chunk in chunks] == [1000, 1000, 500, 3]
        assert [[m.text for m in chunk.messages] for chunk in chunks] == [
            ["before everything", "at the first sample", "at the end of a chunk", "out of order"],
            [],
            [],
            ["between blocks"],
        ]

    def test_a_recording_without_blocks_is_kept_too(self, folder):
        empty = replace(RECORDING, blocks=(), trials=())
        write_session(empty, folder, manifest_of(empty, started_at=""))
        found = read_session(folder)
        assert found.messages == empty.messages
        assert found.tracker_events == empty.tracker_events

    def test_it_appears_whole_or_not_at_all(self, tmp_path):
        def interrupt(fraction: float) -> None:
            raise KeyboardInterrupt

        manifest = manifest_of(RECORDING, started_at="")
        with pytest.raises(KeyboardInterrupt):
            write_session(RECORDING, tmp_path / "s", manifest, progress=interrupt)
        assert list(tmp_path.iterdir()) == []

    def test_it_takes_an_empty_folder_and_no_other(self, folder):
        manifest = manifest_of(RECORDING, started_at="")
        folder.mkdir()
        write_session(RECORDING, folder, manifest)
        before = snapshot(folder)
        with pytest.raises(RecordingError, match="not empty"):
            write_session(RECORDING, folder, manifest)
        assert snapshot(folder) == before
        assert list(folder.parent.iterdir()) == [folder]

    def test_a_full_disk_leaves_nothing(self, small_disk):
        long = replace(
            RECORDING,
            blocks=(replace(RECORDING.blocks[0], samples=make_samples(40_000), extras={}),),
        )
        with pytest.raises(RecordingError, match="the disk is full"):
            write_session(long, small_disk / "s", manifest_of(long, started_at=""))
        assert list(small_disk.iterdir()) == []

    def test_a_recording_without_a_viewer_is_one_to_identify(self):
        manifest = manifest_of(replace(RECORDING, viewer=None, session=None), started_at="")
        assert (manifest.viewer, manifest.mode, manifest.session) == (None, "identify", "anna_2")
        assert manifest_of(RECORDING, started_at="").mode == "enrol"

    def test_undecodable_text_is_named_as_lost(self):
        odd = replace(RECORDING, messages=(Message(0, "caf\udce9"), Message(1, "café")))
        assert what_is_lost(odd) == [
            "undecodable bytes in 1 messages or header lines (written as escapes)"
        ]
