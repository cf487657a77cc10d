"""`gazelive simulate` as a user runs it."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SMALL = ["--viewers", "1", "--images", "1", "--pool", "2", "--seconds", "0.5", "--rate", "250"]


def test_it_prints_paths_and_next_steps(gazelive: Run, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    exit_code, out, err = gazelive("simulate", corpus, *SMALL)
    assert (exit_code, out) == (0, "")
    assert "Wrote 1 recording of 1 viewer" in err
    assert f"gazelive info {corpus / 'v001_s1'}" in err
    assert (corpus / "corpus.csv").read_text().startswith("recording,viewer,session,screen_px")
    assert (corpus / "truth" / "v001_s1.csv").is_file()
    exit_code, out, _ = gazelive("info", corpus / "v001_s1", "--json")
    assert json.loads(out)["trials"] == 1


def test_newcomers_are_the_people_of_a_larger_corpus(gazelive: Run, tmp_path: Path) -> None:
    options = [*SMALL, "--format", "asc", "--seed", "3", "-q"]
    gazelive("simulate", tmp_path / "all", *options, "--viewers", "4")
    gazelive("simulate", tmp_path / "new", *options, "--viewers", "2", "--first", "3")
    made = sorted(path.relative_to(tmp_path / "new") for path in (tmp_path / "new").rglob("v*"))
    assert [str(path.stem) for path in made] == 2 * ["v003_s1", "v004_s1"]
    for path in made:
        assert (tmp_path / "new" / path).read_bytes() == (tmp_path / "all" / path).read_bytes()
    recordings = {path.read_bytes() for path in (tmp_path / "all").glob("*.asc")}
    assert len(recordings) == 4


def test_quiet_is_quiet(gazelive: Run, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    assert gazelive("simulate", corpus, *SMALL, "-q") == (0, "", "")
    assert "Next:" in gazelive("info", corpus).out
    assert "Next:" not in gazelive("info", corpus, "-q").out


def test_json_is_for_scripts(gazelive: Run, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    _, out, _ = gazelive(
        "simulate", corpus, *SMALL, "--format", "asc", "--eyes", "LR", "--json", "-q"
    )
    facts = json.loads(out)
    assert facts["recordings"] == facts["trials"] == 1
    assert facts["duration_s"] == pytest.approx(1.6, abs=0.3)
    assert facts["bytes"] == (corpus / "v001_s1.asc").stat().st_size


def test_an_existing_folder_is_not_overwritten(gazelive: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    exit_code, _, err = gazelive("simulate", tmp_path, *SMALL)
    assert exit_code == 2
    assert "not empty" in err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_more_images_than_the_pool_has_is_a_clear_error(gazelive: Run, tmp_path: Path) -> None:
    exit_code, _, err = gazelive("simulate", tmp_path / "c", "--images", "9", "--pool", "3")
    assert exit_code == 2
    assert "pool of 3" in err
    assert not (tmp_path / "c").exists()


def test_a_full_disk_is_one_sentence_with_the_path(
    gazelive: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "Error writing bytes to file")  # as Arrow does, without a path

    monkeypatch.setattr("gazelive.simulation.write_corpus", refuse)
    exit_code, _, err = gazelive("simulate", tmp_path / "corpus", "-q")
    assert exit_code == 1
    assert err.startswith(f"error: {tmp_path / 'corpus'}: the disk is full")
    assert err.count("\n") == 1
