"""List of the sessions under a folder, one row each, including damaged ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from gazelive.errors import GazeliveError, RecordingError
from gazelive.recordings import (
    JOURNAL_NAME,
    MANIFEST_NAME,
    SessionManifest,
    is_session_folder,
    read_manifest,
    read_session,
)
from gazelive.reporting.calibration_history import checks_of, last_validation
from gazelive.reporting.engine_findings import identified_as, read_findings


class ListedSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session; None is unknown."""

    folder: str
    viewer: str | None = None
    session: str | None = None
    mode: str | None = None
    device: str | None = None
    started_at: str | None = None
    is_finished: bool = False
    n_trials: int | None = None
    minutes: float | None = None
    missing_fraction: float | None = None
    validation_mean_deg: float | None = None
    """Mean error of the last validation, worse eye."""
    validation_max_deg: float | None = None
    said_to_be: str | None = None
    damage: str | None = None
    """The first problem found."""


def find_sessions(folder: Path) -> list[Path]:
    """Return `folder` if it is a session, else the sessions in it and in its subfolders.

    A session without a manifest is found by its samples.
    """
    if not folder.is_dir():
        raise RecordingError("not a folder" if folder.exists() else "no such folder", path=folder)
    if is_session_folder(folder) or (folder / JOURNAL_NAME).is_file():
        return [folder]
    found = {
        path.parent
        for name in (MANIFEST_NAME, JOURNAL_NAME)
        for pattern in (f"*/{name}", f"*/*/{name}")
        for path in folder.glob(pattern)
        if not path.parent.name.startswith(".")
    }
    if not found:
        raise RecordingError(
            f"no session (a folder with {MANIFEST_NAME}) here or in its subfolders: "
            "`gazelive record`, `gazelive run` and `gazelive simulate` create sessions",
            path=folder,
        )
    return sorted(found)


def list_sessions(
    folder: Path, progress: Callable[[float], None] | None = None
) -> list[ListedSession]:
    """Return a row for every session under `folder`."""
    folders = find_sessions(folder)
    rows = []
    for done, each in enumerate(folders, start=1):
        rows.append(_row(each))
        if progress is not None:
            progress(done / len(folders))
    return rows


def _row(folder: Path) -> ListedSession:
    try:
        manifest = read_manifest(folder)
    except GazeliveError as error:
        return ListedSession(folder=str(folder), damage=str(error))
    row = _of_manifest(folder, manifest)
    try:
        recording = read_session(folder)
    except GazeliveError as error:
        return msgspec.structs.replace(row, damage=str(error))
    validation = last_validation(checks_of(recording, 0))
    findings = read_findings(folder)
    problems = [problem.text for problem in recording.problems]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return msgspec.structs.replace(
        row,
        n_trials=len(recording.trials),
        minutes=recording.duration_s / 60,
        missing_fraction=recording.missing_fraction if recording.n_samples else None,
        validation_mean_deg=None if validation is None else validation[0],
        validation_max_deg=None if validation is None else validation[1],
        said_to_be=None if findings is None else identified_as(findings.summary),
        damage=f"{problems[0]}{more}" if problems else None,
    )


def _of_manifest(folder: Path, manifest: SessionManifest) -> ListedSession:
    return ListedSession(
        folder=str(folder),
        viewer=manifest.viewer,
        session=manifest.session,
        mode=manifest.purpose,
        device=manifest.device,
        started_at=manifest.started_at,
        is_finished=manifest.finished_at is not None,
    )
