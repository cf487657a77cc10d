from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.samples import Coordinates
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.open import kind_of
from gazelive.recordings.tables.fixations import read_fixation_table
from gazelive.recordings.tables.sidecar import Sidecar, write_sidecar

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


def test_damaged_rows_are_skipped_and_reported(tmp_path: Path) -> None:
    text = GOOD + "bert,a.jpg,1,,2,300\nbert,a.jpg\nbert,a.jpg,2,5,5,0\nbert,a.jpg,0,9,9,100\n"
    table = read_fixation_table(write(tmp_path, text))
    assert len(table) == 4
    texts = [problem.text for problem in table.problems]
    assert any("2 cells instead of 6" in text for text in texts)
    assert "2 rows are incomplete: skipped" in texts
    assert "1 row is for a viewer, session, image and fixation of another row: all count" in texts


def test_rows_that_are_there_twice_count_once(tmp_path: Path) -> None:
    head, *rows = GOOD.splitlines()
    text = "\n".join([head, *rows, *rows[:2], rows[0], "bert,a.jpg,0,9,9,100"]) + "\n"
    table = read_fixation_table(write(tmp_path, text))
    once = read_fixation_table(write(tmp_path, GOOD, "once.csv"))
    assert len(table) == 4
    for name in ("viewer", "image", "session", "fixation", "x", "y", "duration_ms"):
        np.testing.assert_array_equal(getattr(table, name)[:3], getattr(once, name))
    assert [problem.text for problem in table.problems] == [
        "3 rows are repeated: skipped",
        "1 row is for a viewer, session, image and fixation of another row: all count",
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(",0,", ",0.0,").replace(",1,30", ",1.0,30"),
        lambda text: text.replace("viewer,image,fixation,x_px", "Viewer,IMAGE,Fixation,X_PX"),
        lambda text: text.replace("duration_ms", '"Duration_ms"'),
    ],
    ids=["pandas", "upper case", "quoted"],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables_as_others_write_them(
    tmp_path: Path, change: Callable[[str], str], suffix: str
) -> None:
    path = write(tmp_path, change(GOOD))
    if suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(path), path.with_suffix(suffix))
        path = path.with_suffix(suffix)
    assert kind_of(path) == "fixation table"
    table = read_fixation_table(path)
    np.testing.assert_array_equal(table.fixation, [0, 1, 0])
    assert table.fixation.dtype == np.int64
    np.testing.assert_array_equal(table.x, [10.5, 30, 1])
    assert table.viewer_names == ("anna", "bert")
    assert not table.problems


def test_a_row_with_a_missing_number_is_incomplete(tmp_path: Path) -> None:
    table = read_fixation_table(write(tmp_path, GOOD.replace("a.jpg,1,", "a.jpg,,")))
    np.testing.assert_array_equal(table.fixation, [0, 0])
    assert [problem.text for problem in table.problems] == ["1 row is incomplete: skipped"]


def test_unknown_columns_are_reported(tmp_path: Path) -> None:
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
        ("", "is empty"),
        (GOOD.replace("jpg,1,", "jpg,1.5,"), r"column fixation: 1\.5"),
        (GOOD.replace("image,", "image,Image,", 1), "two columns .* are called image: remove one"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RecordingError, match=says):
        read_fixation_table(write(tmp_path, text))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("packed", [False, True])
def test_another_encoding_is_named(tmp_path: Path, encoding: str, packed: bool) -> None:
    content = GOOD.encode(encoding)
    path = tmp_path / ("fixations.csv.gz" if packed else "fixations.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(RecordingError, match=r"in UTF-16: .*“CSV UTF-8"):
        kind_of(path)


def test_names_in_a_windows_code_page(tmp_path: Path) -> None:
    path = tmp_path / "fixations.csv"
    path.write_bytes(GOOD.replace("viewer", "viewer,größe", 1).encode("cp1252"))
    with pytest.raises(RecordingError, match=r"not UTF-8: .*save"):
        read_fixation_table(path)


def test_the_osie_fixations(shared_data: Path) -> None:
    table = read_fixation_table(shared_data / "identity" / "osie_fixations.csv.gz")
    assert len(table) == 70132
    assert len(table.viewer_names) == 15
    assert len(table.image_names) == 500
    assert not table.problems
    assert 150 < np.median(table.duration_ms) < 350
