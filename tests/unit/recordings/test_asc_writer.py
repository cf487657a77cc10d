from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings

from gazelive.errors import RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import Coordinates, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.asc.writer import asc_losses, write_asc
from gazelive.recordings.recording import (
    Block,
    Calibration,
    DriftCorrection,
    Recording,
    Signal,
    Trial,
)

from .asc_recordings import recordings

GOLDEN = Path(__file__).parents[2] / "golden" / "asc"
TRACKER_WORDS = ("RECCFG", "ELCLCFG", "GAZE_COORDS")
STREAM = StreamDescription(
    device="simulated", sampling_rate_hz=1000, eyes="R", screen_px=(1024, 768)
)


def make_block(n: int = 4, start_us: int = 5_000_000) -> Block:
    samples = empty_samples(n)
    samples["tracker_time_us"] = start_us + 1000 * np.arange(n)
    samples["right_x"] = 512 + np.arange(n) / 8
    samples["right_y"] = -0.04
    samples["right_pupil"] = 1000
    if n > 2:
        samples["right_x"][2] = samples["right_y"][2] = samples["right_pupil"][2] = np.nan
        samples["status"][2] = 8
    return Block(STREAM, samples, start_us, start_us + 1000 * n)


def make_recording(**changes: object) -> Recording:
    recording = Recording(path=Path("made_up"), format="session", blocks=(make_block(),))
    return dataclasses.replace(recording, **changes)  # type: ignore[arg-type]


def round_trip(recording: Recording, tmp_path: Path) -> Recording:
    path = tmp_path / "written.asc"
    write_asc(recording, path, resolution=True)
    again = read_asc(path)
    assert again.problems == ()
    return again


def test_the_text(tmp_path: Path) -> None:
    path = tmp_path / "written.asc"
    recording = make_recording(
        header=("TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED", "SOURCE: simulated"),
        messages=(
            Message(4_990_000, "DISPLAY_COORDS 0 0 1023 767"),
            Message(5_001_000, "image_onset"),
            Message(5_003_500, "3 apples"),
            Message(6_000_000, "TRIAL_RESULT 0"),
        ),
        tracker_events=(
            TrackerEvent(
                kind="fixation",
                eye="R",
                start_us=5_000_000,
                end_us=5_001_000,
                mean_x=512.06,
                mean_y=-0.04,
                mean_pupil=1000,
            ),
            TrackerEvent(kind="blink", eye="R", start_us=5_002_000, end_us=5_002_000),
            TrackerEvent(
                kind="saccade",
                eye="R",
                start_us=5_002_000,
                end_us=5_003_000,
                start_x=512.0,
                start_y=0.0,
                amplitude_deg=14.8,
                peak_velocity_deg_s=487,
            ),
        ),
        signals=(Signal(5_000_000, "input", 0, 127), Signal(5_003_000, "button", 5, 1)),
    )
    write_asc(recording, path)
    assert path.read_text() == (GOLDEN / "written" / "mono_right_1000.txt").read_text()


@settings(max_examples=100)
@given(recording=recordings())
def test_a_round_trip_is_lossless(
    recording: Recording, tmp_path_factory: pytest.TempPathFactory
) -> None:
    again = round_trip(recording, tmp_path_factory.mktemp("law"))
    for block, read in zip(recording.blocks, again.blocks, strict=True):
        assert read.stream == block.stream
        assert (read.start_us, read.end_us) == (block.start_us, block.end_us)
        for field in block.samples.dtype.names:
            np.testing.assert_array_equal(read.samples[field], block.samples[field])
        assert list(read.extras) == list(block.extras)
        for name, extra in block.extras.items():
            np.testing.assert_array_equal(read.extras[name], extra)
    told = [m for m in again.messages if not m.text.startswith(TRACKER_WORDS)]
    assert told == list(recording.messages)
    assert sorted(again.tracker_events, key=repr) == sorted(recording.tracker_events, key=repr)
    assert again.signals == recording.signals
    assert again.trials == recording.trials
    assert again.screen_px == recording.screen_px
    # once it has been an ASC file, nothing changes any more
    once_more = round_trip(again, tmp_path_factory.mktemp("law"))
    assert once_more.messages == again.messages
    assert once_more.header == again.header


@pytest.mark.parametrize(
    "name", ["mono_right_1000", "bino_all_columns_500", "remote_left_500", "left_2000_decimal"]
)
def test_golden_files_survive(name: str, tmp_path: Path) -> None:
    recording = read_asc(GOLDEN / f"{name}.asc")
    again = round_trip(recording, tmp_path)
    for block, read in zip(recording.blocks, again.blocks, strict=True):
        assert read.samples.tobytes() == block.samples.tobytes()
        assert read.stream == block.stream
    assert again.trials == recording.trials
    assert again.tracker_events == recording.tracker_events
    assert again.signals == recording.signals


def test_gzip(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.asc", tmp_path / "a.asc.gz"
    write_asc(make_recording(), plain)
    write_asc(make_recording(), packed)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    first = packed.read_bytes()
    write_asc(make_recording(), packed)
    assert packed.read_bytes() == first


def test_positions_are_rounded_to_a_tenth(tmp_path: Path) -> None:
    x = read_back(tmp_path, [0.04, 0.06, -0.04, -0.06, 99999.94, 1e6, 0.25, 0.35])
    expected = [0.0, 0.1, 0.0, -0.1, 99999.9, 1e6, 0.2, 0.3]  # 0.35 is a little less in float32
    np.testing.assert_array_equal(x, np.array(expected, np.float32))


def test_non_finite_values_are_missing(tmp_path: Path) -> None:
    assert np.isnan(read_back(tmp_path, [np.inf, -np.inf, np.nan, 1e30])).all()


def read_back(tmp_path: Path, x: list[float]) -> np.ndarray:
    block = make_block(len(x))
    block.samples["right_x"] = x
    block.samples["right_y"] = x
    again = round_trip(make_recording(blocks=(block,)), tmp_path)
    return again.blocks[0].samples["right_x"]


def test_a_pupil_that_is_missing_is_zero_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.asc"
    write_asc(make_recording(), path)
    assert "5002\t   .\t   .\t    0.0\t.C.\n" in path.read_text()


def test_messages_of_several_lines(tmp_path: Path) -> None:
    messages = (Message(1_000, "!CAL\n>>> heading\n\t1 2\nplain"), Message(2_000, "one\r\0line"))
    again = round_trip(make_recording(messages=messages), tmp_path)
    assert [m.text for m in again.messages[:2]] == [
        "!CAL\n>>> heading\n\t1 2\n\tplain",
        "one  line",
    ]


def test_trials_without_messages_get_some(tmp_path: Path) -> None:
    trials = (
        Trial(
            name="forest",
            start_us=5_000_000,
            end_us=5_001_000,
            block=0,
            image="forest 1.png",
            image_onset_us=5_000_000,
            image_offset_us=5_001_000,
            variables={"mood": "calm"},
            result="3",
        ),
        Trial(name="2", start_us=5_001_000, end_us=5_003_000, block=0),
    )
    assert round_trip(make_recording(trials=trials), tmp_path).trials == trials


def test_calibrations_without_messages_get_some(tmp_path: Path) -> None:
    calibrations = (
        Calibration(tracker_time_us=1_000, kind="calibration", eye="R", model="HV9", result="GOOD"),
        Calibration(
            tracker_time_us=2_000,
            kind="validation",
            eye="L",
            model="HV13",
            result="FAIR",
            mean_error_deg=0.52,
            max_error_deg=1.25,
        ),
    )
    corrections = (
        DriftCorrection(
            tracker_time_us=3_000,
            eye="R",
            target_x_px=512,
            target_y_px=384.5,
            offset_deg=0.25,
            offset_x_px=-2.5,
            offset_y_px=8,
        ),
    )
    recording = make_recording(calibrations=calibrations, drift_corrections=corrections)
    again = round_trip(recording, tmp_path)
    assert again.calibrations == calibrations
    assert again.drift_corrections == corrections
    # and those that have messages are not told twice
    assert round_trip(again, tmp_path).calibrations == calibrations


def test_degrees_become_pixels(tmp_path: Path) -> None:
    block = make_block()
    block.samples["right_x"] = block.samples["right_y"] = 0.0
    stream = msgspec.structs.replace(STREAM, coordinates=Coordinates.DEGREES, screen_px=None)
    block = dataclasses.replace(block, stream=stream)
    with pytest.raises(RecordingError, match="degrees"):
        write_asc(make_recording(blocks=(block,)), tmp_path / "a.asc")
    recording = make_recording(blocks=(block,), screen=PAPER_SCREEN)
    assert asc_losses(recording) == [
        "the screen's size in mm and its distance",
        "degrees (written as pixels)",
    ]
    again = round_trip(recording, tmp_path)
    assert again.blocks[0].samples["right_x"].tolist() == [959.5] * 4
    assert again.screen_px == (1920, 1080)
    assert again.blocks[0].stream.px_per_deg == pytest.approx((37.58, 37.57), abs=0.02)


def test_losses_are_named() -> None:
    block = dataclasses.replace(make_block(), extras={"glow": np.zeros(4, np.float32)})
    recording = make_recording(blocks=(block,), viewer="anna", session="s1")
    assert asc_losses(recording) == [
        "the viewer's name",
        "the session's name",
        "the columns glow",
    ]
    assert asc_losses(make_recording()) == []
    trial = Trial(name="a", start_us=0, end_us=1, block=1)
    twice = make_recording(blocks=(make_block(), make_block()), trials=(trial,))
    assert asc_losses(twice) == ["the blocks of trials, since blocks overlap in time"]


def test_times_before_zero_are_refused(tmp_path: Path) -> None:
    recording = make_recording(blocks=(make_block(start_us=-2_000),))
    with pytest.raises(RecordingError, match="negative"):
        write_asc(recording, tmp_path / "a.asc")
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot be written"):
        write_asc(make_recording(), tmp_path / "nowhere" / "a.asc")


def test_without_blocks(tmp_path: Path) -> None:
    recording = make_recording(blocks=(), messages=(Message(1_000, "hello"),))
    assert round_trip(recording, tmp_path).messages == recording.messages


def test_progress(tmp_path: Path) -> None:
    fractions: list[float] = []
    write_asc(make_recording(), tmp_path / "a.asc", progress=fractions.append)
    assert fractions == [1.0]
