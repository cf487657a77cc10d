from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.samples import Coordinates
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.fixation_table import read_fixation_table
from gazelive.recordings.table_sidecar import Sidecar, write_sidecar

GOOD = """viewer,image,fixation,x_px,y_px,duration_ms
anna,a.jpg,0,10.5,20,200
anna,a.jpg,1,30,40,250.5
bert,a.jpg,0,1,2,300
"""


def write(folder: Path, text: str, name: str = "fixations.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_become_arrays(tmp_path: Path) -> None:
    table = read_fixation_table(write(tmp_path, GOOD))
    assert len(table) == 3
    assert [table.viewer_names[code] for code in table.viewer] == ["anna", "anna", "bert"]
    assert table.image_names == ("a.jpg",)
    assert table.session_names == ("",)
    np.testing.assert_array_equal(table.fixation, [0, 1, 0])
    np.testing.assert_array_equal(table.x, [10.5, 30, 1])
    np.testing.assert_array_equal(table.duration_ms, [200, 250.5, 300])
    assert table.coordinates is Coordinates.SCREEN_PX
    assert not table.problems


def test_parquet_gives_the_same(tmp_path: Path) -> None:
    from_csv = read_fixation_table(write(tmp_path, GOOD))
    path = tmp_path / "fixations.parquet"
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(tmp_path / "fixations.csv"), path)
    from_parquet = read_fixation_table(path)
    assert from_parquet.viewer_names == from_csv.viewer_names
    np.testing.assert_array_equal(from_parquet.y, from_csv.y)
    np.testing.assert_array_equal(from_parquet.fixation, from_csv.fixation)


def test_sessions_degrees_and_screen(tmp_path: Path) -> None:
    text = "session,viewer,image,fixation,x_deg,y_deg,duration_ms\n2,007,a,0,-1.5,2,200\n"
    path = write(tmp_path, text)
    write_sidecar(Sidecar(screen=PAPER_SCREEN), path)
    table = read_fixation_table(path)
    assert table.session_names == ("2",)
    assert table.viewer_names == ("007",), "a name stays a name, whatever it looks like"
    assert table.coordinates is Coordinates.DEGREES
    assert table.screen == PAPER_SCREEN


def test_anybody_may_be_called_anything_but_nothing(tmp_path: Path) -> None:
    text = GOOD.replace("anna", "NA").replace("bert", "None") + ",a.jpg,5,1,2,300\n"
    table = read_fixation_table(write(tmp_path, text))
    assert table.viewer_names == ("NA", "None")
    assert len(table) == 3


def test_damaged_rows_are_left_out_and_told(tmp_path: Path) -> None:
    text = GOOD + "bert,a.jpg,1,,2,300\nbert,a.jpg\nbert,a.jpg,2,5,5,0\nbert,a.jpg,0,9,9,100\n"
    table = read_fixation_table(write(tmp_path, text))
    assert len(table) == 4
    texts = [problem.text for problem in table.problems]
    assert any("2 cells instead of 6" in text for text in texts)
    assert "2 rows that are not whole left out" in texts
    assert any(text.startswith("1 rows repeat") for text in texts)


def test_unknown_columns_are_told(tmp_path: Path) -> None:
    text = GOOD.replace("duration_ms\n", "duration_ms,mood\n").replace("200\n", "200,gay\n")
    text = text.replace("250.5\n", "250.5,\n").replace("300\n", "300,x\n")
    table = read_fixation_table(write(tmp_path, text))
    assert [problem.text for problem in table.problems] == ["columns ignored: mood"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("viewer,image\na,b\n", "has viewer, image"),
        (GOOD.replace(",", ";"), "semicolons"),
        (GOOD.replace("30,40", "thirty,40"), "thirty"),
        ("", "no columns"),
    ],
)
def test_what_is_none_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RecordingError, match=says):
        read_fixation_table(write(tmp_path, text))


def test_the_osie_fixations(shared_data: Path) -> None:
    table = read_fixation_table(shared_data / "identity" / "osie_fixations.csv.gz")
    assert len(table) == 70132
    assert len(table.viewer_names) == 15
    assert len(table.image_names) == 500
    assert not table.problems
    assert 150 < np.median(table.duration_ms) < 350
