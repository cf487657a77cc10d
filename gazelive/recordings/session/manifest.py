"""Manifest of a session folder (`session.json`), replaced atomically."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any, Literal

import msgspec

from gazelive.errors import RecordingError
from gazelive.gaze import ScreenGeometry
from gazelive.recordings.recording import Calibration, DriftCorrection
from gazelive.system import UNDECODABLE, reading_error, storage_error, write_bytes

SCHEMA_VERSION = 1
MANIFEST_NAME = "session.json"
JOURNAL_NAME = "gaze.journal"
DOCUMENTS_NAME = "events.jsonl"
"""The engine's documents, one per line; only the engine writes this file."""


class ClockFit(msgspec.Struct, frozen=True, kw_only=True):
    """A straight line from the host's monotonic clock to the tracker's.

    tracker_us = tracker_reference_us + tracker_us_per_host_s · (host_s − host_reference_s)
    """

    host_reference_s: float
    tracker_reference_us: float
    tracker_us_per_host_s: float
    residual_us: float
    """Root mean square of the residuals."""
    n_queries: int


CONVERTED_FROM = "converted_from"
"""Key of the configuration of sessions that `convert` wrote."""


class SessionManifest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a session that is not in its journal."""

    schema_version: int = SCHEMA_VERSION
    viewer: str | None = None
    """The viewer; None in a session recorded in identify mode."""
    session: str
    id: str = ""
    """Random; new for every session folder. Empty in sessions of 0.1."""
    device: str
    mode: Literal["enrol", "identify"]
    """How it was recorded; `purpose` is the word for users."""
    started_at: str
    """ISO 8601 with the offset from UTC."""
    screen: ScreenGeometry | None = None
    screen_px: tuple[int, int] | None = None
    sampling_rate_hz: float | None = None
    """The requested rate; each block has its actual one."""
    config: dict[str, Any] = {}
    """Snapshot of the session's configuration."""
    clock_fit: ClockFit | None = None
    finished_at: str | None = None
    """None while the session runs, and if its process died."""
    stop_reason: str | None = None
    calibrations: tuple[Calibration, ...] = ()
    drift_corrections: tuple[DriftCorrection, ...] = ()

    @property
    def converted_from(self) -> str | None:
        """Name of the recording of which `convert` made this session."""
        return self.config.get(CONVERTED_FROM)

    @property
    def purpose(self) -> str:
        """`enrol`, `identify`, or `converted`: another program's recording was made for neither."""
        return self.mode if self.converted_from is None else "converted"


def new_session_id() -> str:
    """Return an id for a session that is about to be recorded."""
    return uuid.uuid4().hex


class _Version(msgspec.Struct):
    schema_version: int


# Made here: a type's first use by two threads at once crashes msgspec.
_version_decoder = msgspec.json.Decoder(_Version)
_decoder = msgspec.json.Decoder(SessionManifest)


def is_session_folder(path: Path) -> bool:
    """Return whether `path` is a session folder."""
    return (path / MANIFEST_NAME).is_file()


def read_manifest(folder: Path) -> SessionManifest:
    """Return the contents of `session.json`."""
    path = folder / MANIFEST_NAME
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RecordingError(f"not a session folder: it has no {MANIFEST_NAME}", path=folder) from (
            error
        )
    except OSError as error:
        raise reading_error(error, path) from error
    return _decode(content, path)


def is_closed(folder: Path) -> bool:
    """Return whether a session is closed; then its engine ends by itself."""
    try:
        return is_session_folder(folder) and read_manifest(folder).finished_at is not None
    except RecordingError:  # on Windows it cannot be read while it is being replaced
        return False


def write_manifest(folder: Path, manifest: SessionManifest) -> None:
    """Replace `session.json`, whole or not at all."""
    path = folder / MANIFEST_NAME
    content = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    _decode(content, path)  # never replace a readable file with an unreadable one
    try:
        write_bytes(path, content, private=True)
    except OSError as error:
        raise storage_error(error, path) from error


def _decode(content: bytes, path: Path) -> SessionManifest:
    try:
        version = _version_decoder.decode(content).schema_version
        if version > SCHEMA_VERSION:
            raise RecordingError(
                f"was written by a newer gazelive (schema {version}, this one knows "
                f"{SCHEMA_VERSION}): update gazelive",
                path=path,
            )
        return _decoder.decode(content)
    except UNDECODABLE as error:
        raise RecordingError(f"not a session description: {error}", path=path) from error
