"""Save a recording in the format of the target's name."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal

from gazelive.errors import RecordingError
from gazelive.recordings.open import suffix_kind
from gazelive.recordings.recording import Recording
from gazelive.recordings.tables.sidecar import sidecar_path

TargetKind = Literal["asc", "session", "sample table"]
TARGETS = (
    ".asc, .asc.gz, .csv, .csv.gz or .parquet (a session folder has no suffix, or a slash at its "
    "end)"
)


def target_kind(target: str) -> TargetKind:
    """Return the kind of a target by its name; a trailing slash means a session folder."""
    path = Path(target)
    if target.endswith(("/", "\\")) or path.is_dir() or not path.suffix:
        return "session"
    match suffix_kind(path):
        case "asc":
            return "asc"
        case "sample table":
            return "sample table"
        case "edf":
            raise RecordingError("only the tracker can write EDF files; choose .asc", path=path)
    raise RecordingError(f"choose a target whose name ends in {TARGETS}", path=path)


def losses_in(recording: Recording, kind: TargetKind) -> list[str]:
    """Name what a target of this kind cannot store of the recording."""
    if kind == "session":
        from gazelive.recordings.session.conversion import session_losses

        return session_losses(recording)
    if kind == "sample table":
        from gazelive.recordings.tables.sample_writer import table_losses

        return table_losses(recording)
    from gazelive.recordings.asc.writer import asc_losses

    return asc_losses(recording)


def check_target(target: Path, kind: TargetKind, *, overwrite: bool) -> None:
    """Raise if `target` cannot be written, or would overwrite something without permission."""
    if not target.absolute().parent.is_dir():
        raise RecordingError("no such folder", path=target.parent)
    if kind == "session" and target.is_dir():
        from gazelive.recordings.session.manifest import DOCUMENTS_NAME, JOURNAL_NAME, MANIFEST_NAME
        from gazelive.system import LOCK_NAME

        ours = {MANIFEST_NAME, JOURNAL_NAME, DOCUMENTS_NAME, LOCK_NAME}
        names = {path.name for path in target.iterdir()}
        if not names:
            return
        if MANIFEST_NAME not in names or not names <= ours:
            other = sorted(names - ours)[0]
            raise RecordingError(
                f"the folder contains {other}, which gazelive did not write and will not delete: "
                "choose another target",
                path=target,
            )
    for path in (target, sidecar_path(target)) if kind == "sample table" else (target,):
        if path.exists() and not overwrite:
            raise RecordingError(
                "already exists: choose another target or add --replace", path=path
            )
    if target.is_dir() != (kind == "session") and target.exists():
        what = "a folder" if target.is_dir() else "a file"
        raise RecordingError(f"is {what}: choose another target", path=target)


def write_recording(
    recording: Recording,
    target: Path,
    kind: TargetKind,
    *,
    overwrite: bool = False,
    resolution: bool = False,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write the recording to `target`, whole or not at all.

    `resolution` adds the resolution of each sample to an ASC file.
    """
    check_target(target, kind, overwrite=overwrite)
    if kind == "session":
        from gazelive.recordings.session.conversion import manifest_of, write_session
        from gazelive.recordings.session.manifest import CONVERTED_FROM

        manifest = manifest_of(
            recording,
            started_at=_started_at(recording),
            config={CONVERTED_FROM: recording.path.name},
        )
        with _put_aside(target):
            write_session(recording, target, manifest, progress=progress)
    elif kind == "sample table":
        from gazelive.recordings.tables.sample_writer import write_sample_table

        write_sample_table(recording, target, progress=progress)
    else:
        from gazelive.recordings.asc.writer import write_asc

        write_asc(recording, target, resolution=resolution, progress=progress)


@contextmanager
def _put_aside(folder: Path) -> Iterator[None]:
    """Rename an old session folder while a new one is written; then delete or restore it."""
    if not folder.exists():
        yield
        return
    from gazelive.system import WriterLock

    WriterLock(folder).release()  # raises if a process is recording into it
    old = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.old")
    folder.rename(old)
    try:
        yield
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old)


def _started_at(recording: Recording) -> str:
    """Return the recording's date from its header, else now."""
    for line in recording.header:
        word, _, date = line.lstrip("* ").partition(":")
        if word == "DATE":
            try:
                made = datetime.strptime(date.strip(), "%a %b %d %H:%M:%S %Y")
            except ValueError:
                break
            return made.astimezone().isoformat(timespec="seconds")
    return datetime.now().astimezone().isoformat(timespec="seconds")
