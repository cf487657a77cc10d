"""Open any recording: its kind follows from its content first, then from its name."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from gazelive.errors import RecordingError
from gazelive.recordings.corpus import CORPUS_NAME, is_corpus
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.manifest import is_session_folder
from gazelive.recordings.tables.column_names import PARQUET_MAGIC
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns
from gazelive.system import GZIP_MAGIC

Kind = Literal["asc", "edf", "session", "sample table", "fixation table", "corpus"]

SUPPORTED = (
    "EyeLink .asc (or .asc.gz) and .edf files, session folders, and sample tables (.csv, .csv.gz, "
    ".parquet)"
)
EDF_MAGIC = b"SR_RESEARCH"
EEG_MAGICS = {b"0       ": "European Data Format (EDF)", b"\xffBIOSEMI": "BioSemi Data Format"}
"""Formats of EEG and other biosignals; the first shares its suffix with EyeLink's."""
HEAD_BYTES = 64 << 10
ASC_LINE = re.compile(
    rb"^(?:\*\* (?:CONVERTED FROM|DATE:|TYPE:|VERSION:)|MSG[ \t]+\d+|START[ \t]+\d+|"
    rb"SAMPLES[ \t]+(?:GAZE|HREF|PUPIL)|[SE](?:FIX|SACC|BLINK)[ \t]+[LR])",
    re.MULTILINE,
)
"""A line that only ASC files have."""
KIND_OF_SUFFIX: dict[str, Kind] = {
    ".asc": "asc",
    ".asc.gz": "asc",
    ".edf": "edf",
    ".csv": "sample table",
    ".csv.gz": "sample table",
    ".parquet": "sample table",
}


def kind_of(path: Path) -> Kind:
    """Return the kind of `path`, or raise an error that lists what is supported."""
    if path.is_dir():
        if is_session_folder(path):
            return "session"
        if is_corpus(path):
            return "corpus"
        raise RecordingError(
            f"this folder contains neither a session (session.json) nor a corpus ({CORPUS_NAME} or "
            f"session folders); gazelive reads {SUPPORTED}",
            path=path,
        )
    if not path.exists():
        raise RecordingError("no such file or folder", path=path)
    kind = _kind_of_content(path) or suffix_kind(path)
    if kind in (None, "edf"):
        _refuse_eeg(path)
    if kind is None:
        raise RecordingError(f"unknown file format; gazelive reads {SUPPORTED}", path=path)
    return _which_table(path) if kind == "sample table" else kind


def suffix_kind(path: Path) -> Kind | None:
    """Return the kind that the name suggests."""
    name = path.name.lower()
    return next((kind for suffix, kind in KIND_OF_SUFFIX.items() if name.endswith(suffix)), None)


def read_recording(
    path: Path,
    *,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    progress: Callable[[float], None] | None = None,
) -> Recording:
    """Read the recording at `path`, of any kind."""
    kind = kind_of(path)
    if kind == "asc":
        from gazelive.recordings.asc.reader import read_asc

        return read_asc(path, trial_patterns=trial_patterns, progress=progress)
    if kind == "edf":
        from gazelive.recordings.edf.reader import read_edf

        return read_edf(path, trial_patterns=trial_patterns, progress=progress)
    if kind == "session":
        from gazelive.recordings.session.reader import read_session

        return read_session(path, trial_patterns=trial_patterns, progress=progress)
    if kind == "sample table":
        from gazelive.recordings.tables.samples import read_sample_table

        return read_sample_table(path, trial_patterns=trial_patterns, progress=progress)
    if kind == "fixation table":
        raise RecordingError(
            "this is a fixation table, which has no samples: train and identify accept it, but a "
            "recording is needed here",
            path=path,
        )
    raise RecordingError("this is a corpus of several recordings: name one of them", path=path)


def _kind_of_content(path: Path) -> Kind | None:
    """Return the kind that the first bytes prove."""
    head = _head(path)
    if head.startswith(EDF_MAGIC):
        return "edf"
    if head.startswith(PARQUET_MAGIC):
        return "sample table"
    if ASC_LINE.search(head):
        return "asc"
    first_line = head.partition(b"\n")[0].removeprefix(b"\xef\xbb\xbf").strip()
    names = {name.strip().strip(b'"').lower() for name in first_line.split(b",")}
    if b"t_ms" in names or {b"viewer", b"image"} <= names:
        return "sample table"
    return None


def _refuse_eeg(path: Path) -> None:
    head = _head(path)
    for magic, name in EEG_MAGICS.items():
        if head.startswith(magic):
            raise RecordingError(
                f"this is a {name} file, as EEG systems write it, and holds no gaze; gazelive "
                f"reads {SUPPORTED}",
                path=path,
            )


def _head(path: Path) -> bytes:
    """Return the first bytes of the file, decompressed if necessary."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head.startswith(GZIP_MAGIC):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
    except (zlib.error, gzip.BadGzipFile):
        return b""


def _which_table(path: Path) -> Kind:
    from gazelive.recordings.tables.files import read_table_names
    from gazelive.recordings.tables.fixations import is_fixation_table

    return "fixation table" if is_fixation_table(read_table_names(path)) else "sample table"
