"""Sample tables written by gazelive: round trips."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.errors import RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import EYE_FIELDS, Coordinates, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.recording import Block, Recording, Trial
from gazelive.recordings.tables.sample_writer import table_losses, write_sample_table
from gazelive.recordings.tables.samples import read_sample_table
from gazelive.recordings.tables.sidecar import sidecar_path

from .sample_tables import SUFFIXES, write

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1).filter(
    lambda name: name != "NA"
)
NUMBERS = st.floats(-5000, 5000, width=32)


@st.composite
def blocks(draw: st.DrawFn, coordinates: Coordinates, start_us: int) -> Block:
    """A block of some samples from `start_us` on."""
    rate_hz = draw(st.sampled_from([250.0, 500.0, 1000.0, 2000.0]))
    eyes = draw(st.sampled_from(["L", "R", "LR"]))
    n = draw(st.integers(0, 12))
    samples = empty_samples(n)
    steps = draw(st.lists(st.integers(1, 40), min_size=n, max_size=n))
    samples["tracker_time_us"] = start_us + np.cumsum(steps) * 500
    for eye in eyes:
        x, y, pupil = EYE_FIELDS[eye]
        samples[x] = draw(st.lists(NUMBERS, min_size=n, max_size=n))
        samples[y] = draw(st.lists(NUMBERS, min_size=n, max_size=n))
        samples[pupil] = draw(st.lists(NUMBERS, min_size=n, max_size=n))
        missing = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        for field in (x, y, pupil):
            samples[field][missing] = np.nan
    stream = StreamDescription(
        device="test",
        sampling_rate_hz=rate_hz,
        eyes=eyes,
        coordinates=coordinates,
        px_per_deg=draw(st.sampled_from([None, (30.5, 31.25)])),
        pupil=draw(st.sampled_from(["area", "diameter"])),
    )
    return Block(stream, samples, start_us, start_us + sum(steps) * 500 + 700)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """A recording with everything that a table and its sidecar can hold."""
    coordinates = draw(st.sampled_from([Coordinates.SCREEN_PX, Coordinates.DEGREES]))
    starts_us = [index * 10_000_000 for index in range(draw(st.integers(0, 3)))]
    made = tuple(draw(blocks(coordinates, start_us)) for start_us in starts_us)
    trials = tuple(
        Trial(
            name=f"{number}{draw(NAMES)}",
            start_us=block.start_us,
            end_us=block.end_us,
            block=number,
            image=draw(st.one_of(st.none(), NAMES)),
        )
        for number, block in enumerate(made)
    )
    texts = draw(st.lists(st.text(max_size=10), max_size=3))
    return Recording(
        path=Path("original"),
        format="table",
        blocks=made,
        messages=tuple(Message(index * 1500, f"said {text}") for index, text in enumerate(texts)),
        trials=draw(st.sampled_from([(), trials])),
        screen=draw(st.sampled_from([None, PAPER_SCREEN])),
        viewer=draw(st.one_of(st.none(), NAMES)),
        session=draw(st.one_of(st.none(), NAMES)),
    )


def assert_same_blocks(found: Recording, expected: Recording) -> None:
    assert len(found.blocks) == len(expected.blocks)
    for block, other in zip(found.blocks, expected.blocks, strict=True):
        assert block.stream == other.stream
        assert (block.start_us, block.end_us) == (other.start_us, other.end_us)
        for field in other.samples.dtype.names:
            np.testing.assert_array_equal(block.samples[field], other.samples[field], field)


@settings(max_examples=40)
@given(recordings(), st.sampled_from(SUFFIXES))
def test_a_round_trip_is_lossless(recording: Recording, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        write_sample_table(recording, path)
        found = read_sample_table(path)
    assert_same_blocks(found, recording)
    assert found.messages == recording.messages
    assert found.trials == recording.trials
    assert (found.screen, found.viewer, found.session) == (
        recording.screen,
        recording.viewer,
        recording.session,
    )
    assert found.problems == ()
    assert table_losses(recording) == []


class TestWriting:
    @pytest.fixture
    def recording(self, tmp_path: Path) -> Recording:
        path = write(tmp_path, "t_ms,x_px,y_px,pupil\n0,1.1,1,900\n1,,,\n2,3,3,901\n", "in.csv")
        return read_sample_table(path)

    def test_a_csv_is_plain(self, recording: Recording, tmp_path: Path) -> None:
        write_sample_table(recording, tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == (
            "t_ms,eye,x_px,y_px,pupil\n0,R,1.1,1,900\n1,R,,,\n2,R,3,3,901\n"
        )

    def test_href_becomes_degrees(self, recording: Recording, tmp_path: Path) -> None:
        (block,) = recording.blocks
        block.samples["right_x"] = [15000, 0, -15000]
        block.samples["right_y"] = 0
        stream = msgspec.structs.replace(block.stream, coordinates=Coordinates.HREF)
        in_href = replace(recording, blocks=(replace(block, stream=stream),))
        assert table_losses(in_href) == ["HREF coordinates (written as degrees)"]
        write_sample_table(in_href, tmp_path / "out.parquet")
        (found,) = read_sample_table(tmp_path / "out.parquet").blocks
        assert found.stream.coordinates is Coordinates.DEGREES
        np.testing.assert_allclose(found.samples["right_x"], [45, 0, -45])

    def test_raw_positions_are_refused(self, recording: Recording, tmp_path: Path) -> None:
        (block,) = recording.blocks
        stream = msgspec.structs.replace(block.stream, coordinates=Coordinates.RAW)
        raw = replace(recording, blocks=(replace(block, stream=stream),))
        with pytest.raises(RecordingError, match="no columns"):
            write_sample_table(raw, tmp_path / "out.csv")
        assert not (tmp_path / "out.csv").exists()
        assert not sidecar_path(tmp_path / "out.csv").exists()

    def test_losses_are_named(self, recording: Recording) -> None:
        (block,) = recording.blocks
        block.samples["status"][0] = 1
        rich = replace(
            recording,
            blocks=(replace(block, extras={"input_port": np.zeros(3, np.float32)}),),
            tracker_events=(TrackerEvent(kind="blink", eye="R", start_us=0, end_us=1000),),
            header=("** DATE: today",),
        )
        assert table_losses(rich) == [
            "the events of the tracker's own parser",
            "the file's header",
            "the status flags of the samples",
            "the columns input_port",
        ]
