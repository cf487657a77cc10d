"""Helpers for tests of sample tables."""

from __future__ import annotations

from pathlib import Path

from gazelive.recordings.recording import Recording

SUFFIXES = (".csv", ".csv.gz", ".parquet")


def write(folder: Path, text: str, name: str = "samples.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(recording: Recording) -> list[str]:
    return [problem.text for problem in recording.problems]
