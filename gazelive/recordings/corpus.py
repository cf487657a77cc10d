"""Corpora: many recordings with the names of their viewers.

A folder with `corpus.csv` (`recording,viewer,session` and optionally
`screen_px,size_mm,distance_mm`, such as 1920x1080, 535x301 and 600; paths are relative to the
folder), or a folder of session folders, which name their viewers themselves.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze import ScreenGeometry
from gazelive.recordings.geometry import parse_geometry
from gazelive.recordings.session.manifest import MANIFEST_NAME, SessionManifest, read_manifest
from gazelive.recordings.tables.column_names import SAVE_AS_UTF_8, describe_names
from gazelive.recordings.tables.formulas import guarded, unguarded
from gazelive.system import storage_error, write_bytes

CORPUS_NAME = "corpus.csv"
NEEDED_COLUMNS = ("recording", "viewer", "session")
SCREEN_COLUMNS = ("screen_px", "size_mm", "distance_mm")


@dataclass(frozen=True)
class CorpusEntry:
    """One recording of one viewer in one session."""

    recording: Path
    viewer: str
    session: str
    screen: ScreenGeometry | None = None


@dataclass(frozen=True)
class SkippedRecording:
    """A recording that was left out of the corpus, and why."""

    recording: Path
    reason: str


@dataclass(frozen=True)
class Corpus:
    """The recordings of a corpus, in its order."""

    path: Path
    entries: tuple[CorpusEntry, ...]
    skipped: tuple[SkippedRecording, ...] = ()

    @property
    def viewers(self) -> tuple[str, ...]:
        """The viewers' names, sorted."""
        return tuple(sorted({entry.viewer for entry in self.entries}))


def is_corpus(path: Path) -> bool:
    """Return whether `path` is a corpus folder (a single session folder is not)."""
    if not path.is_dir() or (path / MANIFEST_NAME).is_file():
        return False
    return (path / CORPUS_NAME).is_file() or bool(_session_folders(path))


def screen_in_corpus(recording: Path) -> ScreenGeometry | None:
    """Return the screen that the `corpus.csv` beside a recording gives for it, if any."""
    folder = recording.absolute().parent
    if not (folder / CORPUS_NAME).is_file():
        return None
    wanted = recording.resolve()
    entries = read_corpus(folder).entries
    return next((e.screen for e in entries if e.recording.resolve() == wanted), None)


def read_corpus(path: Path) -> Corpus:
    """Read the corpus in the folder `path` (or the `corpus.csv` at `path`)."""
    if path.name == CORPUS_NAME and path.is_file():
        path = path.parent
    if not path.is_dir():
        raise RecordingError(
            "is not a folder" if path.exists() else "there is no such folder", path=path
        )
    if (path / CORPUS_NAME).is_file():
        return _read_csv(path)
    sessions = _session_folders(path)
    if not sessions:
        raise RecordingError(
            f"is not a corpus: it contains neither {CORPUS_NAME} ({','.join(NEEDED_COLUMNS)}) nor "
            "session folders",
            path=path,
        )
    return _read_sessions(path, sessions)


def write_corpus_csv(entries: Iterable[CorpusEntry], folder: Path) -> Path:
    """Write `corpus.csv` into `folder` and return its path."""
    entries = tuple(entries)
    with_screen = any(entry.screen is not None for entry in entries)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NEEDED_COLUMNS + (SCREEN_COLUMNS if with_screen else ()))
    for entry in entries:
        relative = Path(os.path.relpath(entry.recording, folder)).as_posix()
        row = [guarded(cell) for cell in (relative, entry.viewer, entry.session)]
        writer.writerow(row + (_screen_cells(entry.screen, folder) if with_screen else []))
    target = folder / CORPUS_NAME
    try:
        write_bytes(target, text.getvalue().encode("utf-8"))
    except OSError as error:
        raise storage_error(error, target) from error
    return target


def _read_csv(folder: Path) -> Corpus:
    path = folder / CORPUS_NAME
    entries: list[CorpusEntry] = []
    skipped: list[SkippedRecording] = []
    line_of: dict[Path, int] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            _check_columns([name.strip() for name in reader.fieldnames or ()], path)
            reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
            for row in reader:
                line = reader.line_num
                cells = _cells(row, path, line)
                recording = folder / _cell(cells, "recording", path, line)
                if not recording.exists():
                    raise RecordingError(
                        f"recording {cells['recording']} does not exist", path=path, line=line
                    )
                if recording in line_of:
                    raise RecordingError(
                        f"recording {cells['recording']} is already in line {line_of[recording]}",
                        path=path,
                        line=line,
                    )
                line_of[recording] = line
                if not cells["viewer"]:
                    skipped.append(SkippedRecording(recording, f"no viewer in line {line}"))
                    continue
                entries.append(
                    CorpusEntry(
                        recording=recording,
                        viewer=cells["viewer"],
                        session=_cell(cells, "session", path, line),
                        screen=_screen(cells, path, line),
                    )
                )
    except UnicodeDecodeError as error:
        raise RecordingError(f"is not in UTF-8: {SAVE_AS_UTF_8}", path=path) from error
    except csv.Error as error:
        raise RecordingError(f"is not a CSV file: {error}", path=path) from error
    return Corpus(folder, tuple(entries), tuple(skipped))


def _check_columns(names: Sequence[str], path: Path) -> None:
    missing = [name for name in NEEDED_COLUMNS if name not in names]
    if missing:
        raise RecordingError(
            f"needs the columns {','.join(NEEDED_COLUMNS)}, and has {describe_names(names)}",
            path=path,
            line=1,
        )


def _cells(row: dict[str | None, str | None], path: Path, line: int) -> dict[str, str]:
    """Return the row's cells without surrounding blanks."""
    if None in row or None in row.values():
        raise RecordingError("has more or fewer cells than the first line", path=path, line=line)
    return {str(name): unguarded((value or "").strip()) for name, value in row.items()}


def _cell(cells: dict[str, str], name: str, path: Path, line: int) -> str:
    if not cells[name]:
        raise RecordingError(f"{name} is empty", path=path, line=line)
    return cells[name]


def _screen(cells: dict[str, str], path: Path, line: int) -> ScreenGeometry | None:
    texts = [cells.get(name) or None for name in SCREEN_COLUMNS]
    if not any(texts):
        return None
    missing = [name for name, text in zip(SCREEN_COLUMNS, texts, strict=True) if text is None]
    if missing:
        raise RecordingError(
            f"{' and '.join(missing)} missing: a screen takes all of {','.join(SCREEN_COLUMNS)}",
            path=path,
            line=line,
        )
    try:
        flags = parse_geometry(*texts, names=SCREEN_COLUMNS)
        return flags.screen_geometry()
    except ConfigError as error:
        raise RecordingError(str(error), path=path, line=line) from error


def _screen_cells(screen: ScreenGeometry | None, folder: Path) -> list[str]:
    if screen is None:
        return ["", "", ""]
    if screen.eye_x_mm or screen.eye_y_mm:
        raise RecordingError(
            f"{CORPUS_NAME} has no columns for an eye that is not in front of the screen's centre",
            path=folder,
        )
    return [
        f"{screen.width_px}x{screen.height_px}",
        f"{screen.width_mm:.10g}x{screen.height_mm:.10g}",
        f"{screen.eye_distance_mm:.10g}",
    ]


def _no_viewer(manifest: SessionManifest) -> str:
    if manifest.converted_from is None:
        return "recorded in identify mode: no viewer given"
    return (
        f"converted from {manifest.converted_from}, which names no viewer: write a {CORPUS_NAME} "
        "with the viewers"
    )


def _session_folders(path: Path) -> list[Path]:
    """Return the session folders in a folder and one level below.

    Not deeper: a user may pass the root of a disk.
    """
    patterns = (f"*/{MANIFEST_NAME}", f"*/*/{MANIFEST_NAME}")
    return sorted(found.parent for pattern in patterns for found in path.glob(pattern))


def _read_sessions(path: Path, sessions: Sequence[Path]) -> Corpus:
    entries: list[CorpusEntry] = []
    skipped: list[SkippedRecording] = []
    for folder in sessions:
        try:
            manifest = read_manifest(folder)
        except RecordingError as error:
            skipped.append(SkippedRecording(folder, str(error)))
            continue
        if manifest.viewer is None:
            skipped.append(SkippedRecording(folder, _no_viewer(manifest)))
            continue
        entries.append(CorpusEntry(folder, manifest.viewer, manifest.session, manifest.screen))
    return Corpus(path, tuple(entries), tuple(skipped))
