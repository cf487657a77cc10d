"""Sample tables of other programs: read as intended, with reports of oddities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.samples import Coordinates
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.intervals import viewing_intervals
from gazelive.recordings.recording import Trial
from gazelive.recordings.tables.sample_writer import write_sample_table
from gazelive.recordings.tables.samples import read_sample_table
from gazelive.recordings.tables.sidecar import Sidecar, TableMessage, sidecar_path, write_sidecar

from .sample_tables import problems_of, write


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

    def test_the_trackers_code_is_missing(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n0,1,2\n2,-32768,-32768\n4,5,6\n")
        (block,) = read_sample_table(path).blocks
        np.testing.assert_array_equal(block.samples["right_x"], [1, np.nan, 5])

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
            "1 row had no time or one out of order; it was interpolated (first: row 3, t_ms 2)"
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
            "1 row was skipped: its time is repeated or out of order (first: row 22, t_ms 40)"
        ]

    def test_time_that_restarts_with_every_trial(self, tmp_path: Path) -> None:
        rows = [f"{2 * k},{k},1,{trial}\n" for trial in "abc" for k in range(40)]
        recording = read_sample_table(write(tmp_path, "t_ms,x_px,y_px,trial\n" + "".join(rows)))
        assert [len(block.samples) for block in recording.blocks] == [40, 40, 40]
        assert [(trial.name, trial.block) for trial in recording.trials] == [
            ("a", 0),
            ("b", 1),
            ("c", 2),
        ]
        (problem,) = problems_of(recording)
        assert "t_ms restarts 2 times, first in row 41" in problem

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

    def test_a_rate_that_contradicts_the_times_is_reported(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n" + "".join(f"{k},1,1\n" for k in range(50)))
        write_sidecar(Sidecar(sampling_rate_hz=250), path)
        recording = read_sample_table(path)
        assert recording.blocks[0].stream.sampling_rate_hz == 250
        (problem,) = problems_of(recording)
        assert "gives 250 Hz, but t_ms advances at 1000 Hz" in problem

    def test_a_misspelt_key_of_the_sidecar_is_reported(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n0,1,1\n1,1,1\n")
        sidecar_path(path).write_text('{"sampling_rate": 1000, "mood": "fine"}')
        misspelt, unknown = problems_of(read_sample_table(path))
        assert "'sampling_rate' is unknown" in misspelt
        assert "did you mean sampling_rate_hz" in misspelt
        assert unknown == "samples.csv.meta.json: key 'mood' is unknown and ignored"

    @pytest.mark.parametrize("sidecar", [b'{"mood": ' + b"[" * 5000, b'{"m\xf6od": 1}'])
    def test_a_crafted_sidecar_is_refused(self, tmp_path: Path, sidecar: bytes) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n0,1,1\n1,1,1\n")
        sidecar_path(path).write_bytes(sidecar)
        with pytest.raises(RecordingError, match="not a description"):
            read_sample_table(path)

    def test_no_times_but_a_rate(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n,1,1\n,2,2\n")
        with pytest.raises(RecordingError, match=r"sampling rate.*samples\.csv\.meta\.json"):
            read_sample_table(path)
        write_sidecar(Sidecar(sampling_rate_hz=500, screen=PAPER_SCREEN), path)
        recording = read_sample_table(path)
        assert list(recording.blocks[0].samples["tracker_time_us"]) == [0, 2000]
        assert recording.screen == PAPER_SCREEN
        assert recording.screen_px == (1920, 1080)

    def test_other_columns_and_short_rows_are_reported(self, tmp_path: Path) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px,mood\n0,1,1,a\n1,1,1,b\n2,1\n3,1,1,\n4,1")
        recording = read_sample_table(path)
        assert recording.n_samples == 3
        assert [(problem.line, problem.text) for problem in recording.problems] == [
            (4, "row of 2 cells instead of 4 skipped"),
            (6, "row of 2 cells instead of 4 skipped"),
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
