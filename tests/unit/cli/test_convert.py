"""`gazelive convert` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.open import read_recording
from gazelive.recordings.recording import Recording

Run = Callable[..., tuple[int, str]]
FLAGS = ("--screen", "1920x1080", "--size-mm", "535x301", "--distance-mm", "600")


@pytest.fixture
def run(gazelive: Callable[..., Any]) -> Run:
    """Convert; return the exit code and standard error."""

    def run_it(*arguments: object) -> tuple[int, str]:
        exit_code, out, err = gazelive("convert", *arguments)
        assert out == ""
        return exit_code, err

    return run_it


@pytest.fixture
def asc(tmp_path: Path) -> Path:
    path = tmp_path / "some.asc"
    path.write_text(
        "** DATE: Wed Dec  3 05:40:16 2025\n**\n"
        "MSG\t990 DISPLAY_COORDS 0 0 1919 1079\n"
        "MSG\t999 TRIALID 1\n"
        "START\t1000 \tLEFT\tRIGHT\tSAMPLES\tEVENTS\n"
        "PRESCALER\t1\nVPRESCALER\t1\nPUPIL\tAREA\n"
        "EVENTS\tGAZE\tLEFT\tRIGHT\tRATE\t 500.00\tTRACKING\tCR\tFILTER\t2\n"
        "SAMPLES\tGAZE\tLEFT\tRIGHT\tRATE\t 500.00\tTRACKING\tCR\tFILTER\t2\n"
        "SFIX L   1000\n"
        "1000\t  752.1\t  712.9\t 1142.0\t  750.0\t  710.0\t 1100.0\t.....\n"
        "1002\t  752.2\t  712.8\t 1143.0\t  750.5\t  710.5\t 1101.0\t.....\n"
        "1004\t   .\t   .\t    0.0\t  751.0\t  711.0\t 1102.0\t.C...\n"
        "EFIX L   1000\t1004\t6\t  752.2\t  712.9\t   1143\n"
        "END\t1006 \tSAMPLES\tEVENTS\tRES\t  33.00\t  34.00\n"
        "MSG\t1010 TRIAL_RESULT 0\n"
    )
    return path


def assert_same_gaze(found: Recording, expected: Recording) -> None:
    assert len(found.blocks) == len(expected.blocks)
    for block, other in zip(found.blocks, expected.blocks, strict=True):
        assert (block.start_us, block.end_us) == (other.start_us, other.end_us)
        assert block.stream.eyes == other.stream.eyes
        assert block.stream.px_per_deg == other.stream.px_per_deg
        for field in ("tracker_time_us", "left_x", "left_y", "left_pupil", "right_x"):
            np.testing.assert_array_equal(block.samples[field], other.samples[field])
    # an ASC file gets the messages that others look for
    assert [m for m in found.messages if m in expected.messages] == list(expected.messages)
    assert found.trials == expected.trials
    assert found.screen_px == expected.screen_px


@pytest.mark.parametrize("target", ["b.csv", "b.csv.gz", "b.parquet", "b", "b.d/", "b.asc"])
def test_there_and_back_again(run: Run, asc: Path, tmp_path: Path, target: str) -> None:
    # a string, since a path would lose the slash that asks for a folder
    exit_code, said = run(asc, f"{tmp_path}/{target}")
    assert exit_code == 0
    path = tmp_path / target
    assert f"Wrote {path}: 3 samples in 1 block, 3 messages, 1 trial." in said
    assert f"gazelive info {path}" in said
    assert_same_gaze(read_recording(path), read_recording(asc))
    assert run(path, tmp_path / "back.asc")[0] == 0
    assert_same_gaze(read_recording(tmp_path / "back.asc"), read_recording(asc))


def test_content_lost_in_a_table_is_named(run: Run, asc: Path, tmp_path: Path) -> None:
    _, said = run(asc, tmp_path / "b.csv", "--quiet")
    assert said.splitlines() == [
        "warning: b.csv cannot hold the events of the tracker's own parser",
        "warning: b.csv cannot hold the file's header",
        "warning: b.csv cannot hold the status flags of the samples",
    ]


def test_a_session_holds_everything(run: Run, asc: Path, tmp_path: Path) -> None:
    assert run(asc, tmp_path / "b", "-q") == (0, "")
    manifest = json.loads((tmp_path / "b" / "session.json").read_text())
    assert manifest["started_at"].startswith("2025-12-03T05:40:16")
    found, expected = read_recording(tmp_path / "b"), read_recording(asc)
    assert found.tracker_events == expected.tracker_events
    assert found.header == expected.header


def test_geometry_is_stored(run: Run, asc: Path, tmp_path: Path) -> None:
    assert run(asc, tmp_path / "b.csv", *FLAGS)[0] == 0
    found = read_recording(tmp_path / "b.csv")
    assert found.screen == PAPER_SCREEN
    assert found.blocks[0].stream.screen == PAPER_SCREEN
    exit_code, said = run(asc, tmp_path / "c.asc", *FLAGS)
    assert exit_code == 0
    assert "c.asc cannot hold the screen's size in mm and its distance" in said


class TestRefusals:
    def refused(self, run: Run, *arguments: object) -> str:
        exit_code, said = run(*arguments)
        assert exit_code == 2
        assert said.startswith("error: ")
        assert said.count("\n") == 1
        return said

    @pytest.mark.parametrize("target", ["b.csv", "b.asc", "b"])
    def test_an_existing_target(self, run: Run, asc: Path, tmp_path: Path, target: str) -> None:
        path = tmp_path / target
        assert run(asc, path)[0] == 0
        assert "already exists" in self.refused(run, asc, path)
        assert run(asc, path, "--replace")[0] == 0
        assert read_recording(path).n_samples == 3

    def test_a_folder_with_other_files_even_by_force(
        self, run: Run, asc: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "b"
        assert run(asc, folder)[0] == 0
        (folder / "anna.edf").write_text("precious")
        assert "anna.edf" in self.refused(run, asc, folder, "--replace")
        assert (folder / "anna.edf").read_text() == "precious"
        assert read_recording(folder).n_samples == 3

    @pytest.mark.parametrize(
        ("target", "says"),
        [
            ("b.edf", "only the tracker can write EDF"),
            ("b.xlsx", "choose a target whose name ends in .asc"),
            ("some.asc", "IN and OUT are the same"),
            ("nowhere/b.csv", "no such folder"),
        ],
    )
    def test_a_target_that_cannot_be(
        self, run: Run, asc: Path, tmp_path: Path, target: str, says: str
    ) -> None:
        assert says in self.refused(run, asc, tmp_path / target)

    @pytest.mark.parametrize(
        ("flags", "says"),
        [
            (("--screen", "1920*1080"), "--screen: must be width x height, such as 1920x1080"),
            (("--size-mm", "535x301"), "--distance-mm missing"),
            (("--distance-mm", "60cm"), "--distance-mm: must be millimetres"),
        ],
    )
    def test_wrong_flags(
        self, run: Run, asc: Path, tmp_path: Path, flags: tuple[str, ...], says: str
    ) -> None:
        assert says in self.refused(run, asc, tmp_path / "b.csv", *flags)
        assert not (tmp_path / "b.csv").exists()

    @pytest.mark.parametrize("name", ["missing.asc", "garbage.asc", "."])
    def test_a_source_that_cannot_be_read(self, run: Run, tmp_path: Path, name: str) -> None:
        (tmp_path / "garbage.asc").write_bytes(b"\x00\xff" * 1000)
        self.refused(run, tmp_path / name, tmp_path / "b.csv")
        assert [path.name for path in tmp_path.iterdir()] == ["garbage.asc"]


@pytest.fixture(scope="module")
def real_edf(real_file: Callable[[str], Path]) -> Recording:
    return read_recording(real_file("test_raw.edf"))


@pytest.mark.parametrize("target", ["b.csv", "b.parquet", "b/", "b.asc"])
def test_a_real_edf_file_in_every_format(
    run: Run, real_edf: Recording, tmp_path: Path, target: str
) -> None:
    assert run(real_edf.path, f"{tmp_path}/{target}")[0] == 0
    found = read_recording(tmp_path / target)
    if target == "b.asc":  # which has two digits of the pixels per degree
        for block, expected in zip(found.blocks, real_edf.blocks, strict=True):
            assert block.stream.px_per_deg == pytest.approx(expected.stream.px_per_deg, abs=0.005)
        streams = [block.stream for block in found.blocks]
        blocks = zip(real_edf.blocks, streams, strict=True)
        real_edf = replace(real_edf, blocks=tuple(replace(b, stream=s) for b, s in blocks))
    assert_same_gaze(found, real_edf)


class TestResolution:
    """RES is written on request only: pymovements cannot read files with it."""

    @pytest.fixture
    def with_resolution(self, tmp_path: Path) -> Path:
        path = tmp_path / "res.asc"
        path.write_text(
            "START\t1000 \tLEFT\tSAMPLES\n"
            "SAMPLES\tGAZE\tLEFT\tRES\tRATE\t 500.00\tTRACKING\tCR\tFILTER\t2\n"
            "1000\t  752.1\t  712.9\t 1142.0\t  33.0\t  34.0\t...\n"
            "1002\t  752.2\t  712.8\t 1143.0\t  33.1\t  34.1\t...\n"
            "END\t1004 \tSAMPLES\tRES\t  33.00\t  34.00\n"
        )
        return path

    def test_left_out(self, run: Run, with_resolution: Path, tmp_path: Path) -> None:
        exit_code, said = run(with_resolution, tmp_path / "out.asc")
        assert exit_code == 0
        assert "Left out the resolution of each sample (RES)" in said
        written = (tmp_path / "out.asc").read_text()
        assert "SAMPLES\tGAZE\tLEFT\tRATE" in written
        assert "1000\t  752.1\t  712.9\t 1142.0\t...\n" in written
        assert read_recording(tmp_path / "out.asc").blocks[0].stream.px_per_deg == (33, 34)

    def test_kept(self, run: Run, with_resolution: Path, tmp_path: Path) -> None:
        exit_code, said = run(with_resolution, tmp_path / "out.asc", "--resolution")
        assert exit_code == 0
        assert "Left out" not in said
        assert "SAMPLES\tGAZE\tLEFT\tRES\tRATE" in (tmp_path / "out.asc").read_text()


def test_a_session_that_was_converted_is_called_so(
    gazelive: Callable[..., Any], asc: Path, tmp_path: Path
) -> None:
    """Nobody recorded it to identify a viewer."""
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    gazelive("convert", asc, sessions / "one")
    shown = gazelive("session", "show", sessions / "one").out
    assert "(converted)" in shown
    assert "identify" not in shown
    (listed,) = json.loads(gazelive("session", "list", sessions, "--json").out)
    assert listed["mode"] == "converted"
    (skipped,) = json.loads(gazelive("info", sessions, "--json").out)["skipped"]
    assert skipped["reason"].startswith("converted from some.asc, which names no viewer")
