"""Conversion of a recording to a session folder, and its losses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.stream import Chunk, Message
from gazelive.recordings.recording import (
    Block,
    Calibration,
    Recording,
    Signal,
    Trial,
)
from gazelive.recordings.session.conversion import manifest_of, session_losses, write_session
from gazelive.recordings.session.journal_reader import JournalFollower
from gazelive.recordings.session.manifest import JOURNAL_NAME
from gazelive.recordings.session.reader import read_session

from .session_folders import STREAM, bytes_of, make_samples, replace_rate, snapshot

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
    def test_a_recording_survives_a_round_trip(self, folder):
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
        assert session_losses(RECORDING) == []

    def test_messages_are_in_the_chunk_that_they_came_with(self, folder):
        manifest = manifest_of(RECORDING, started_at="")
        write_session(RECORDING, folder, manifest, chunk_s=1.0)
        chunks = [
            item
            for item in JournalFollower(folder / JOURNAL_NAME).poll()
            if isinstance(item, Chunk)
        ]
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

    def test_it_appears_atomically(self, tmp_path):
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
        assert session_losses(odd) == [
            "undecodable bytes in 1 messages or header lines (written as escapes)"
        ]
