from __future__ import annotations

from pathlib import Path

import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.screen import PAPER_SCREEN, ScreenGeometry
from gazelive.recordings.corpus import (
    Corpus,
    CorpusEntry,
    is_corpus,
    read_corpus,
    write_corpus_csv,
)
from gazelive.recordings.session.manifest import SessionManifest, write_manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    for name in ("one.asc", "two.edf", "three"):
        (tmp_path / "data" / name).touch()
    return tmp_path


def write(folder: Path, *lines: str) -> None:
    (folder / "corpus.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_entries_and_their_screens(folder: Path) -> None:
    write(
        folder,
        "recording,viewer,session,screen_px,size_mm,distance_mm,remark",
        "data/one.asc, anna ,1,1920x1080,535x301,600,good",
        'data/two.edf,"Bert, the second",1,,,,',
        "data/three,,1,,,,to identify",
    )
    corpus = read_corpus(folder)
    assert corpus.entries == (
        CorpusEntry(folder / "data/one.asc", "anna", "1", PAPER_SCREEN),
        CorpusEntry(folder / "data/two.edf", "Bert, the second", "1"),
    )
    assert [(s.recording.name, s.reason) for s in corpus.skipped] == [
        ("three", "no viewer in line 4")
    ]
    assert corpus.viewers == ("Bert, the second", "anna")
    assert read_corpus(folder / "corpus.csv") == corpus
    assert is_corpus(folder)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["recording,viewer", "data/one.asc,a"], r"corpus\.csv:1: needs the columns"),
        (["recording;viewer;session"], "semicolons"),
        (["recording,viewer,session", "data/none.asc,a,1"], r"csv:2: recording data/none.asc does"),
        (["recording,viewer,session", "data/one.asc,a"], r"csv:2: has more or fewer cells"),
        (["recording,viewer,session", "data/one.asc,a,1,9"], r"csv:2: has more or fewer cells"),
        (["recording,viewer,session", ",a,1"], r"csv:2: recording is empty"),
        (["recording,viewer,session", "data/one.asc,a,"], r"csv:2: session is empty"),
        (
            ["recording,viewer,session", "data/one.asc,a,1", "data/one.asc,b,1"],
            r"csv:3: recording data/one.asc is already in line 2",
        ),
        (
            ["recording,viewer,session,screen_px", "data/one.asc,a,1,1920x1080"],
            r"csv:2: size_mm and distance_mm missing",
        ),
        (
            [
                "recording,viewer,session,screen_px,size_mm,distance_mm",
                "data/one.asc,a,1,1920*1080,535x301,600",
            ],
            r"csv:2: screen_px: must be width x height",
        ),
        (
            [
                "recording,viewer,session,screen_px,size_mm,distance_mm",
                "data/one.asc,a,1,1920x1080,535x301,0",
            ],
            r"csv:2: distance_mm: must be a positive number, not 0",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(folder: Path, lines: list[str], says: str) -> None:
    write(folder, *lines)
    with pytest.raises(RecordingError, match=says):
        read_corpus(folder)


def test_a_round_trip_is_lossless(folder: Path) -> None:
    wide = ScreenGeometry(
        width_px=1024, height_px=768, width_mm=380.5, height_mm=300, eye_distance_mm=670.25
    )
    entries = (
        CorpusEntry(folder / "data/one.asc", "anna", "1", wide),
        CorpusEntry(folder / "data/two.edf", 'Bert "B", x', "2"),
    )
    write_corpus_csv(entries, folder)
    assert read_corpus(folder) == Corpus(folder, entries)


def test_an_off_centre_eye_has_no_column(folder: Path) -> None:
    off_centre = ScreenGeometry(
        width_px=1920, height_px=1080, width_mm=535, height_mm=301, eye_distance_mm=600, eye_x_mm=9
    )
    entry = CorpusEntry(folder / "data/one.asc", "anna", "1", off_centre)
    with pytest.raises(RecordingError, match=r"no columns .*eye"):
        write_corpus_csv([entry], folder)
    assert not (folder / "corpus.csv").exists()


def test_a_folder_of_sessions(tmp_path: Path) -> None:
    for name, viewer in (("b", "bert"), ("a", "anna"), ("c", None)):
        (tmp_path / name).mkdir()
        write_manifest(
            tmp_path / name,
            SessionManifest(
                viewer=viewer,
                session=f"s-{name}",
                device="simulated",
                mode="identify" if viewer is None else "enrol",
                started_at="2026-01-01T10:00:00+00:00",
                screen=PAPER_SCREEN,
            ),
        )
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "session.json").write_text("{")
    (tmp_path / "notes").mkdir()
    corpus = read_corpus(tmp_path)
    assert corpus.entries == (
        CorpusEntry(tmp_path / "a", "anna", "s-a", PAPER_SCREEN),
        CorpusEntry(tmp_path / "b", "bert", "s-b", PAPER_SCREEN),
    )
    skipped = {s.recording.name: s.reason for s in corpus.skipped}
    assert skipped["c"] == "recorded in identify mode: no viewer given"
    assert "not a session description" in skipped["d"]
    assert not is_corpus(tmp_path / "a"), "a session is not a corpus"


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_other_folders_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordingError, match=name):
        read_corpus(tmp_path / name)
    assert not is_corpus(tmp_path / name)


def test_another_encoding_is_named(folder: Path) -> None:
    (folder / "corpus.csv").write_bytes("recording,viewer,session\n".encode("utf-16"))
    with pytest.raises(RecordingError, match=r"corpus\.csv: .*not in UTF-8.*save"):
        read_corpus(folder)
