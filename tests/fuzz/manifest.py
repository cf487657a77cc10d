"""The description of a session folder, `session.json`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gazelive.recordings.recording import Calibration, DriftCorrection
from gazelive.recordings.session.manifest import (
    MANIFEST_NAME,
    ClockFit,
    read_manifest,
    write_manifest,
)
from gazelive.recordings.session.reader import read_session

from ..unit.recordings.session_folders import MANIFEST
from .target import Target

DEPTH = 1200
"""Of lists in lists: more than Python can take."""


def seeds(folder: Path) -> list[bytes]:
    """Return descriptions of a finished session and of one that runs."""
    finished = msgspec.structs.replace(
        MANIFEST,
        id="0" * 32,
        screen_px=(1920, 1080),
        clock_fit=ClockFit(
            host_reference_s=1.5,
            tracker_reference_us=10.0,
            tracker_us_per_host_s=1e6,
            residual_us=3.0,
            n_queries=7,
        ),
        finished_at="2024-05-06T07:18:09+02:00",
        stop_reason="finished",
        calibrations=(
            Calibration(
                tracker_time_us=5,
                kind="validation",
                eye="L",
                model="HV9",
                result="GOOD",
                mean_error_deg=0.4,
                max_error_deg=0.9,
            ),
        ),
        drift_corrections=(
            DriftCorrection(
                tracker_time_us=6,
                eye="R",
                target_x_px=1.0,
                target_y_px=2.0,
                offset_deg=0.5,
                offset_x_px=3.0,
                offset_y_px=4.0,
            ),
        ),
    )
    write_manifest(folder, finished)
    return [
        (folder / MANIFEST_NAME).read_bytes(),
        *(msgspec.json.encode(manifest) for manifest in (MANIFEST, finished)),
        b'{"schema_version":1,"config":{"a":' + b"[" * DEPTH,
    ]


def read(data: bytes, folder: Path) -> None:
    """Read a description, also as that of a session without samples; write it and read it again."""
    (folder / MANIFEST_NAME).write_bytes(data)
    manifest = read_manifest(folder)
    recording = read_session(folder)
    assert recording.viewer == manifest.viewer
    write_manifest(folder, manifest)
    assert read_manifest(folder) == manifest


TARGET = Target(
    read=read,
    seeds=seeds,
    tokens=tuple(
        f'"{name}":'.encode()
        for struct in (type(MANIFEST), ClockFit, Calibration, DriftCorrection)
        for name in struct.__struct_fields__
    ),
)
