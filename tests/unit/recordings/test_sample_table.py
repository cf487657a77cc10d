from __future__ import annotations

import contextlib
import gzip
import tempfile
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazelive.errors import RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import EYE_FIELDS, Coordinates, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.intervals import viewing_intervals
from gazelive.recordings.recording import Block, Recording, Trial
from gazelive.recordings.sample_table import read_sample_table
from gazelive.recordings.sample_table_writer import what_a_table_loses, write_sample_table
from gazelive.recordings.table_sidecar import Sidecar, TableMessage, sidecar_path, write_sidecar

SUFFIXES = (".csv", ".csv.gz", ".parquet")
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
def test_what_is_written_is_read(recording: Recording, suffix: str) -> None:
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
    assert what_a_table_loses(recording) == []


def write(folder: Path, text: str, name: str = "samples.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(recording: Recording) -> list[str]:
    return [problem.text for problem in recording.problems]


class TestForeignTables:
    def test_one_eye_in_degrees(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_deg,y_deg\n100,1,2\n102,3.5,\n104,nan,5\n106,7,-8\n")
        recording = read_sample_table(path)
        (block,) = recording.blocks
        assert block.stream == StreamDescription(
            device="table",
            sampling_rate_hz=500,
            eyes="R",
            coordinates=Coordinates.DEGREES,
        )
        assert (block.start_us, block.end_us) == (100_000, 106_000)
        np.testing.assert_array_equal(block.samples["right_x"], [1, np.nan, np.nan, 7])
        np.testing.assert_array_equal(block.samples["right_y"], [2, np.nan, np.nan, -8])
        assert np.isnan(block.samples["left_x"]).all()
        assert recording.problems == ()

    def test_eye_valid_and_pupil(self, tmp_path: Path) -> None:
        path = write(
            tmp_path,
            "t_ms,eye,x_px,y_px,valid,pupil\n0,Left,1,2,1,900\n1,left,0,0,0,0.5\n2,L,5,6,true,\n",
        )
        (block,) = read_sample_table(path).blocks
        assert block.stream.eyes == "L"
        assert block.stream.coordinates is Coordinates.SCREEN_PX
        np.testing.assert_array_equal(block.samples["left_x"], [1, np.nan, 5])
        np.testing.assert_array_equal(block.samples["left_pupil"], [900, 0.5, np.nan])

    def test_two_eyes(self, tmp_path: Path) -> None:
        path = write(
            tmp_path,
            "t_ms,left_x_px,left_y_px,left_pupil,right_x_px,right_y_px\n0,1,2,3,4,5\n4,6,7,8,,\n",
        )
        (block,) = read_sample_table(path).blocks
        assert (block.stream.eyes, block.stream.sampling_rate_hz) == ("LR", 250)
        np.testing.assert_array_equal(block.samples["left_pupil"], [3, 8])
        np.testing.assert_array_equal(block.samples["right_x"], [4, np.nan])
        assert np.isnan(block.samples["right_pupil"]).all()

    def test_an_eye_without_any_cell_was_not_recorded(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,left_x_px,left_y_px,right_x_px,right_y_px\n0,,,4,5\n1,,,6,7\n")
        assert read_sample_table(path).blocks[0].stream.eyes == "R"

    def test_blocks_and_their_rates(self, tmp_path: Path) -> None:
        path = write(
            tmp_path,
            "t_ms,block,eye,x_px,y_px\n0,1,L,1,1\n1,1,L,1,1\n2,1,L,1,1\n"
            "90,2,R,1,1\n92,2,R,1,1\n94,2,R,1,1\n",
        )
        blocks = read_sample_table(path).blocks
        assert [(b.stream.eyes, b.stream.sampling_rate_hz) for b in blocks] == [
            ("L", 1000),
            ("R", 500),
        ]

    def test_trials_and_images(self, tmp_path: Path) -> None:
        path = write(
            tmp_path,
            "t_ms,x_px,y_px,trial,image\n0,1,1,,\n1,1,1,1,\n2,1,1,1,a.jpg\n3,1,1,1,a.jpg\n"
            "4,1,1,1,NA\n5,1,1,2,b.jpg\n6,1,1,NA,\n",
        )
        recording = read_sample_table(path)
        assert recording.trials == (
            Trial(
                name="1",
                start_us=1000,
                end_us=5000,
                block=0,
                image="a.jpg",
                image_onset_us=2000,
                image_offset_us=4000,
            ),
            Trial(
                name="2",
                start_us=5000,
                end_us=6000,
                block=0,
                image="b.jpg",
                image_onset_us=5000,
                image_offset_us=6000,
            ),
        )

    @pytest.mark.parametrize("last", [",", "8,1,1,,\n"])
    def test_the_last_sample_of_a_trial_is_searched(self, tmp_path: Path, last: str) -> None:
        path = write(
            tmp_path,
            "t_ms,x_px,y_px,trial,image\n0,1,1,t,a\n2,1,1,t,a\n4,1,1,u,b\n6,1,1,u,b\n"
            + last.removeprefix(","),
        )
        recording = read_sample_table(path)
        times_us = recording.blocks[0].samples["tracker_time_us"]
        searched = [
            times_us[(times_us >= i.start_us) & (times_us < i.end_us)].tolist()
            for i in viewing_intervals(recording)
        ]
        assert searched == [[0, 2000], [4000, 6000]]

    def test_images_alone_are_trials(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px,image\n0,1,1,a\n1,1,1,a\n2,1,1,b\n3,1,1,a\n")
        trials = read_sample_table(path).trials
        assert [(trial.name, trial.image) for trial in trials] == [
            ("0", "a"),
            ("1", "b"),
            ("2", "a"),
        ]

    def test_messages_in_the_sidecar_mark_trials(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n0,1,1\n1,1,1\n2,1,1\n3,1,1\n")
        messages = (TableMessage(1, "TRIALID 7"), TableMessage(3, "TRIAL_RESULT 0"))
        write_sidecar(Sidecar(messages=messages), path)
        (trial,) = read_sample_table(path).trials
        assert (trial.name, trial.start_us, trial.end_us) == ("7", 1000, 3000)

    def test_times_that_do_not_advance(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n0,1,1\n2,1,1\n2,1,1\n6,1,1\n8,1,1\n10,1,1\n")
        recording = read_sample_table(path)
        (block,) = recording.blocks
        assert list(block.samples["tracker_time_us"]) == [0, 2000, 4000, 6000, 8000, 10000]
        assert problems_of(recording) == [
            "1 row had no time, or one out of order, and got the time of its place (first: row 3, "
            "t_ms 2)"
        ]

    def test_one_wild_time_moves_nothing_else(self, tmp_path: Path) -> None:
        rows = [f"{2 * k},{k},1,{'ab'[k > 30]}\n" for k in range(60)]
        rows[20] = rows[20].replace("40,", "987654321,")
        recording = read_sample_table(write(tmp_path, "t_ms,x_px,y_px,trial\n" + "".join(rows)))
        (block,) = recording.blocks
        assert block.samples["tracker_time_us"].tolist() == list(range(0, 120_000, 2000))
        assert block.samples["right_x"].tolist() == list(range(60))
        assert [trial.name for trial in recording.trials] == ["a", "b"]
        assert len(recording.problems) == 1

    def test_a_row_that_is_there_twice_is_left_out(self, tmp_path: Path) -> None:
        rows = [f"{2 * k},{k},1,{'ab'[k >= 30]}\n" for k in range(60)]
        rows.insert(20, rows[20])
        recording = read_sample_table(write(tmp_path, "t_ms,x_px,y_px,trial\n" + "".join(rows)))
        (block,) = recording.blocks
        assert block.samples["right_x"].tolist() == list(range(60))
        assert recording.trials[1].start_us == 60_000
        assert problems_of(recording) == [
            "1 row was left out: its time repeats another's or is out of order (first: row 22, "
            "t_ms 40)"
        ]

    def test_time_that_begins_anew_with_every_trial(self, tmp_path: Path) -> None:
        rows = [f"{2 * k},{k},1,{trial}\n" for trial in "abc" for k in range(40)]
        recording = read_sample_table(write(tmp_path, "t_ms,x_px,y_px,trial\n" + "".join(rows)))
        assert [len(block.samples) for block in recording.blocks] == [40, 40, 40]
        assert [(trial.name, trial.block) for trial in recording.trials] == [
            ("a", 0),
            ("b", 1),
            ("c", 2),
        ]
        assert problems_of(recording) == [
            "t_ms begins anew 2 times, first in row 41: every such row starts a new block"
        ]

    @pytest.mark.parametrize(
        ("factor", "says"),
        [
            (0.001, "seems to be in seconds and not in milliseconds: multiply it by 1000"),
            (1000, "seems to be in microseconds and not in milliseconds: divide it by 1000"),
            (1e6, "seems to be in nanoseconds and not in milliseconds: divide it by 1e\\+06"),
        ],
    )
    @pytest.mark.parametrize("rate_hz", [60, 250, 1000, 2000])
    def test_times_in_another_unit(
        self, tmp_path: Path, factor: float, says: str, rate_hz: float
    ) -> None:
        rows = [f"{k * 1000 / rate_hz * factor:.7f},1,1\n" for k in range(50)]
        path = write(tmp_path, "t_ms,x_px,y_px\n" + "".join(rows))
        with pytest.raises(RecordingError, match=rf"samples\.csv: column t_ms.*{says}"):
            read_sample_table(path)

    def test_a_rate_that_contradicts_the_times_is_told(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n" + "".join(f"{k},1,1\n" for k in range(50)))
        write_sidecar(Sidecar(sampling_rate_hz=250), path)
        recording = read_sample_table(path)
        assert recording.blocks[0].stream.sampling_rate_hz == 250
        assert problems_of(recording) == [
            "samples.csv.meta.json says 250 Hz, but t_ms advances as at 1000 Hz: one of them is "
            "wrong; 250 Hz is believed"
        ]

    def test_a_misspelt_key_of_the_sidecar_is_told(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n0,1,1\n1,1,1\n")
        sidecar_path(path).write_text('{"sampling_rate": 1000, "mood": "fine"}')
        assert problems_of(read_sample_table(path)) == [
            "samples.csv.meta.json: key 'sampling_rate' is unknown and ignored; is "
            "sampling_rate_hz meant?",
            "samples.csv.meta.json: key 'mood' is unknown and ignored",
        ]

    def test_no_times_but_a_rate(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n,1,1\n,2,2\n")
        with pytest.raises(RecordingError, match=r"sampling rate.*samples\.csv\.meta\.json"):
            read_sample_table(path)
        write_sidecar(Sidecar(sampling_rate_hz=500, screen=PAPER_SCREEN), path)
        recording = read_sample_table(path)
        assert list(recording.blocks[0].samples["tracker_time_us"]) == [0, 2000]
        assert recording.screen == PAPER_SCREEN
        assert recording.screen_px == (1920, 1080)

    def test_other_columns_and_short_rows_are_told(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px,mood\n0,1,1,a\n1,1,1,b\n2,1\n3,1,1,\n4,1")
        recording = read_sample_table(path)
        assert recording.n_samples == 3
        assert [(problem.line, problem.text) for problem in recording.problems] == [
            (4, "row of 2 cells instead of 4 left out"),
            (6, "row of 2 cells instead of 4 left out"),
            (None, "columns ignored: mood"),
        ]

    def test_a_short_row_of_any_bytes(self, tmp_path: Path) -> None:
        path = tmp_path / "samples.csv"
        path.write_bytes(b"t_ms,x_px,y_px,trial\n0,1,1,a\n1,\xff\n2,1,1,b\xc3\xa9\n4,1,1,c\n")
        recording = read_sample_table(path)
        assert [trial.name for trial in recording.trials] == ["a", "bé", "c"]
        assert [problem.line for problem in recording.problems] == [3]

    def test_a_header_alone_is_an_empty_recording(self, tmp_path: Path) -> None:
        assert read_sample_table(write(tmp_path, "t_ms,x_px,y_px\n")).blocks == ()

    def test_excel_and_pandas(self, tmp_path: Path) -> None:
        path = tmp_path / "samples.csv"
        path.write_bytes(b'\xef\xbb\xbf"t_ms","x_px","y_px"\r\n0,"1",1\r\n1,2,2\r\n2,3,3\r\n')
        assert read_sample_table(path).n_samples == 3

    def test_parquet_of_other_types(self, tmp_path: Path) -> None:
        path = tmp_path / "samples.parquet"
        table = pa.table(
            {
                "t_ms": pa.array([0, 1, 2], pa.int64()),
                "x_px": pa.array([1.5, None, 2.5], pa.float64()),
                "y_px": pa.array([1, 2, 3], pa.int32()),
                "valid": pa.array([1, 1, 0], pa.int8()),
                "trial": pa.array([7, 7, 8], pa.int64()),
            }
        )
        pyarrow.parquet.write_table(table, path)
        recording = read_sample_table(path)
        np.testing.assert_array_equal(
            recording.blocks[0].samples["right_x"], np.float32([1.5, np.nan, np.nan])
        )
        assert [trial.name for trial in recording.trials] == ["7", "8"]

    def test_another_tables_sidecar_is_not_believed(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n0,1,1\n1,1,1\n2,1,1\n")
        write_sample_table(read_sample_table(path), path)
        path.write_text("t_ms,x_px,y_px\n0,1,1\n1,1,1\n")
        recording = read_sample_table(path)
        assert recording.n_samples == 2
        assert problems_of(recording) == [
            "samples.csv.meta.json describes 3 rows, not 2: its blocks are ignored"
        ]


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("x_px,y_px\n1,2\n", "needs t_ms .* has x_px, y_px"),
            ("t_ms,x_px\n1,2\n", "has t_ms, x_px"),
            ("t_ms;x_px;y_px\n0;1;2\n", "semicolons: save it with commas"),
            ("t_ms\tx_px\ty_px\n0\t1\t2\n", "tabs"),
            ("t_ms,x_px,x_px,y_px\n0,1,1,2\n", "same name"),
            (
                "t_ms,x_px,y_px\n0,1,1\n1,one,1\n",
                r"samples\.csv:3: column x_px: invalid value 'one'",
            ),
            ("t_ms,eye,x_px,y_px\n0,L,1,1\n0,R,1,1\n1,L,1,1\n", "column eye says L, R"),
            ("t_ms,eye,x_px,y_px\n0,middle,1,1\n1,middle,1,1\n", "column eye says MIDDLE"),
            ("", "no columns"),
            (
                "t_ms,x_px,y_px\n" + "".join(f"{100 - k},1,1\n" for k in range(50)),
                "not in the order of column t_ms: sort the table",
            ),
            (
                "t_ms,x_px,y_px\n" + "".join(f"{k * 37 % 101},1,1\n" for k in range(101)),
                "not in the order of column t_ms: sort the table",
            ),
            ("\0\1\2\xff" * 50, "needs t_ms"),
        ],
    )
    def test_are_one_sentence(self, tmp_path: Path, text: str, says: str) -> None:
        with pytest.raises(RecordingError, match=says):
            read_sample_table(write(tmp_path, text))

    def test_another_encoding(self, tmp_path: Path) -> None:
        path = tmp_path / "samples.csv"
        path.write_bytes("t_ms,x_px,y_px,trial\n0,1,1,é\n1,1,1,é\n".encode("latin-1"))
        with pytest.raises(RecordingError, match=r"column trial is not in UTF-8: save"):
            read_sample_table(path)

    @settings(max_examples=60)
    @given(
        st.sampled_from(SUFFIXES),
        st.lists(st.tuples(st.floats(0, 1), st.integers(0, 8), st.binary(max_size=4)), max_size=4),
    )
    def test_are_the_only_thing_that_damage_does(
        self, suffix: str, damages: list[tuple[float, int, bytes]]
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder), "t_ms,x_px,y_px,trial\n0,1,1,a\n1,,,a\n2,1,1,\n", "a.csv")
            damaged = Path(folder) / f"damaged{suffix}"
            write_sample_table(read_sample_table(path), damaged)
            content = bytearray(damaged.read_bytes())
            for where, n_removed, inserted in damages:
                at = int(where * len(content))
                content[at : at + n_removed] = inserted
            damaged.write_bytes(content)
            with contextlib.suppress(RecordingError):
                assert read_sample_table(damaged).n_samples <= 3 + sum(
                    bytes_.count(b"\n") + bytes_.count(b"\r") for *_, bytes_ in damages
                )

    def test_a_packed_table_cut_off(self, tmp_path: Path) -> None:
        rows = "".join(f"{t},{t % 977},{t % 911}\n" for t in range(20_000))
        packed = gzip.compress(b"t_ms,x_px,y_px\n" + rows.encode())
        path = tmp_path / "samples.csv.gz"
        path.write_bytes(packed[: len(packed) // 2])
        with pytest.raises(RecordingError, match="damaged"):
            read_sample_table(path)

    def test_a_parquet_cut_off(self, tmp_path: Path) -> None:
        path = tmp_path / "samples.parquet"
        pyarrow.parquet.write_table(pa.table({"t_ms": [0.0], "x_px": [1.0], "y_px": [1.0]}), path)
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(RecordingError, match="damaged"):
            read_sample_table(path)

    @pytest.mark.parametrize(
        ("sidecar", "says"),
        [
            ("{", "not a description"),
            ('{"sampling_rate_hz": "fast"}', "sampling_rate_hz"),
            ('{"sampling_rate_hz": -5}', "positive"),
            ('{"version": 99}', "newer"),
            ('{"screen": {"width_px": 0}}', "not a description"),
            ('{"sampling_rate_hz": 1e300}', "sampling_rate_hz must be"),
            ('{"px_per_deg": [0, 30]}', "px_per_deg must be two positive"),
            ('{"screen_px": [-1, 5]}', "screen_px must be two positive"),
            ('{"messages": [[1e200, "TRIALID 1"]]}', r"messages\[0\] has the time 1e\+200"),
            ('{"trials": [{"name": "a", "start_us": 5, "end_us": 1}]}', r"trials\[0\] \(a\) ends"),
            ("[1, 2]", "not a description"),
        ],
    )
    def test_in_the_sidecar_name_it(self, tmp_path: Path, sidecar: str, says: str) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n0,1,1\n1,1,1\n")
        sidecar_path(path).write_text(sidecar)
        with pytest.raises(RecordingError, match=rf"samples\.csv\.meta\.json: .*{says}"):
            read_sample_table(path)


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
        assert what_a_table_loses(in_href) == ["HREF coordinates (written as degrees)"]
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
        assert what_a_table_loses(rich) == [
            "the events of the tracker's own parser",
            "the file's header",
            "the status flags of the samples",
            "the columns input_port",
        ]
