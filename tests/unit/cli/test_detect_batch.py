"""`gazelive detect` with several recordings."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from gazelive.workflows import batch
from gazelive.workflows.batch import BatchJob, BatchSettings, detect_batch, plan_batch


@pytest.fixture
def folder(tmp_path, eye_steps):
    """Two recordings and one that is none."""
    times, x, y = eye_steps
    for name, n in (("anna.csv", len(x)), ("bert.csv", 1500)):
        rows = [f"{t / 1000},{a:.5f},{b:.5f}" for t, a, b in zip(times, x, y, strict=True)]
        (tmp_path / name).write_text("t_ms,x_deg,y_deg\n" + "\n".join(rows[:n]) + "\n")
    (tmp_path / "carl.asc").write_text("no recording\n")
    return tmp_path


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_has_its_table_and_the_failure_is_named(gazelive, folder, jobs, monkeypatch):
    monkeypatch.setattr(batch, "SMALLEST_PARALLEL_BYTES", 0)
    names = ("anna.csv", "carl.asc", "bert.csv")
    paths = [folder / name for name in names]
    out = folder / "tables"
    ended = gazelive("detect", *paths, "-o", out, "--fixations", out / "fixations", "--jobs", jobs)
    assert ended.exit_code == 1
    assert "carl.asc" in ended.err
    assert "1 of 3 recordings failed" in ended.err
    summary = rows_of(out / "summary.csv")
    assert [Path(row["recording"]).name for row in summary] == list(names)
    assert [row["saccades"] for row in summary] == ["6", "", "4"]
    assert [bool(row["error"]) for row in summary] == [False, True, False]
    assert summary[0]["sampling_rate_hz"] == "1000"
    assert float(summary[0]["lost_percent"]) == 0
    assert float(summary[0]["threshold_x_deg_s"]) > 0
    assert {path.name for path in out.iterdir()} == {
        *("anna.csv", "anna.csv.meta.json", "bert.csv", "bert.csv.meta.json"),
        *("summary.csv", "fixations"),
    }
    for name in ("anna", "bert"):
        alone = folder / "alone.csv"
        assert gazelive("detect", folder / f"{name}.csv", "-q", "-o", alone).exit_code == 0
        assert (out / f"{name}.csv").read_bytes() == alone.read_bytes()
        assert rows_of(out / "fixations" / f"{name}.csv")
    for words in ("anna.csv", "failed", "bert.csv"):
        assert words in ended.out


def test_one_recording_into_a_folder(gazelive, folder):
    (folder / "tables").mkdir()
    assert gazelive("detect", folder / "anna.csv", "-o", folder / "tables").exit_code == 0
    assert len(rows_of(folder / "tables" / "summary.csv")) == 1


def test_mistakes_are_named_before_anything_is_written(gazelive, folder):
    before = set(folder.iterdir())
    both = folder / "anna.csv", folder / "bert.csv"
    for arguments, says in (
        ((), "need a folder"),
        (("-o", folder / "carl.asc"), "must be a folder"),
        (("-o", folder), "would overwrite a recording"),
        (("-o", folder / "new", "--fixations", folder / "new"), "another output"),
        (("-o", folder / "new", "--plot", "a.png"), "one recording, not several"),
    ):
        ended = gazelive("detect", *both, *arguments)
        assert ended.exit_code == 2
        assert says in " ".join(ended.err.split())
    assert set(folder.iterdir()) == before


def test_equal_names_get_their_folders(tmp_path):
    paths = [tmp_path / "s1" / "run.edf", tmp_path / "s2" / "run.edf", tmp_path / "x.asc.gz"]
    names = [job.saccades.name for job in plan_batch(paths, tmp_path / "out")]
    assert names == ["s1_run.edf.csv", "s2_run.edf.csv", "x.csv"]


class Deadly(type(Path())):  # type: ignore[misc]
    """A recording that kills the process that gets it."""

    def __reduce__(self):
        return os._exit, (3,)


def test_a_process_that_dies_takes_no_other_recording_with_it(folder, monkeypatch):
    monkeypatch.setattr(batch, "SMALLEST_PARALLEL_BYTES", 0)
    jobs = [
        BatchJob(Deadly(folder / "carl.asc"), folder / "carl_out.csv"),
        BatchJob(folder / "anna.csv", folder / "anna_out.csv"),
    ]
    done = []
    rows = detect_batch(jobs, BatchSettings(), n_processes=2, progress=done.append)
    assert "died" in rows[0].error
    assert (rows[1].saccades, rows[1].error) == (6, None)
    assert done[-1] == 1
