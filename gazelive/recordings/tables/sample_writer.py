"""Write a recording as a sample table with its sidecar."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gazelive.errors import RecordingError
from gazelive.gaze import EYE_FIELDS, Coordinates, Eyes, SingleFloats
from gazelive.recordings.geometry import href_to_deg
from gazelive.recordings.messages import interpret
from gazelive.recordings.recording import Block, Recording, Trial
from gazelive.recordings.tables.files import write_table_file
from gazelive.recordings.tables.sample_columns import SIDES, position_names
from gazelive.recordings.tables.sidecar import (
    Sidecar,
    TableBlock,
    TableMessage,
    write_sidecar,
)
from gazelive.recordings.trials import find_trials
from gazelive.system import storage_error


def write_sample_table(
    recording: Recording, path: Path, *, progress: Callable[[float], None] | None = None
) -> None:
    """Write `recording` to the .csv, .csv.gz or .parquet file `path`, and its sidecar beside it.

    HREF positions become degrees, exactly. `table_losses` names what is lost.
    """
    table = sample_table(recording)
    try:
        write_sidecar(_sidecar(recording, _unit(recording)), path)
        write_table_file(table, path, progress=progress)
    except OSError as error:
        raise storage_error(error, path) from error


def sample_table(recording: Recording) -> Any:
    """Return the samples of all blocks as one Arrow table, in px or degrees as they are."""
    unit = _unit(recording)
    two_eyes = any(block.stream.eyes == "LR" for block in recording.blocks)
    with_pupil = any(
        np.isfinite(block.samples[EYE_FIELDS[eye][2]]).any()
        for block in recording.blocks
        for eye in block.stream.eyes
    )
    tables = []
    for number, block in enumerate(recording.blocks):
        columns: dict[str, Any] = {"t_ms": block.samples["tracker_time_us"] / 1000.0}
        if len(recording.blocks) > 1:
            columns["block"] = np.full(len(block.samples), number)
        columns |= _two_eye_columns(block, unit) if two_eyes else _one_eye_columns(block, unit)
        if not with_pupil:
            columns = {name: c for name, c in columns.items() if not name.endswith("pupil")}
        if recording.trials:
            columns |= _label_columns(block, number, recording.trials)
        tables.append(pa.table({name: _arrow(column) for name, column in columns.items()}))
    if not tables:
        x_name, y_name = position_names(unit)
        tables = [pa.table({name: pa.array([], pa.float64()) for name in ("t_ms", x_name, y_name)})]
    return pa.concat_tables(tables)


def table_losses(recording: Recording) -> list[str]:
    """Name what a sample table and its sidecar cannot store of a recording."""
    facts = interpret(recording.messages)
    flagged = any(bool(block.samples["status"].any()) for block in recording.blocks)
    extras = sorted({name for block in recording.blocks for name in block.extras})
    coordinates = {block.stream.coordinates for block in recording.blocks}
    losses = {
        "the events of the tracker's own parser": bool(recording.tracker_events),
        "input and button signals": bool(recording.signals),
        "the file's header": bool(recording.header),
        "the status flags of the samples": flagged,
        f"the columns {', '.join(extras)}": bool(extras),
        "HREF coordinates (written as degrees)": Coordinates.HREF in coordinates,
        "calibration results": recording.calibrations != facts.calibrations,
        "drift corrections": recording.drift_corrections != facts.drift_corrections,
    }
    return [loss for loss, applies in losses.items() if applies]


def _unit(recording: Recording) -> Literal["px", "deg"]:
    """Return the unit of all positions of the table."""
    coordinates = {block.stream.coordinates for block in recording.blocks}
    if Coordinates.RAW in coordinates:
        raise RecordingError(
            "has raw pupil positions of the camera, for which a sample table has no columns",
            path=recording.path,
        )
    if coordinates <= {Coordinates.SCREEN_PX}:
        return "px"
    if Coordinates.SCREEN_PX in coordinates:
        raise RecordingError(
            "has some blocks in pixels and some in degrees, and a sample table has one unit",
            path=recording.path,
        )
    return "deg"


def _one_eye_columns(block: Block, unit: str) -> dict[str, Any]:
    eye = block.stream.eyes
    x, y, pupil = _eye_arrays(block, eye)
    x_name, y_name = position_names(unit)
    return {"eye": [eye] * len(x), x_name: x, y_name: y, "pupil": pupil}


def _two_eye_columns(block: Block, unit: str) -> dict[str, Any]:
    columns = {}
    for eye, side in SIDES.items():
        x_name, y_name = position_names(unit, side)
        columns[x_name], columns[y_name], columns[f"{side}_pupil"] = _eye_arrays(block, eye)
    return columns


def _eye_arrays(block: Block, eye: Eyes) -> tuple[SingleFloats, ...]:
    x_field, y_field, pupil_field = EYE_FIELDS[eye]
    x, y = block.samples[x_field], block.samples[y_field]
    if block.stream.coordinates is Coordinates.HREF:
        x, y = (angle.astype(np.float32) for angle in href_to_deg(x.astype(float), y.astype(float)))
    return x, y, block.samples[pupil_field]


def _label_columns(
    block: Block, number: int, trials: tuple[Trial, ...]
) -> dict[str, npt.NDArray[np.object_]]:
    """Return the names of the trial and of the image at each sample of the block."""
    # a field of records is strided, and searchsorted would copy it each time
    times_us = np.ascontiguousarray(block.samples["tracker_time_us"])
    trial_labels = np.full(len(times_us), None, object)
    image_labels = np.full(len(times_us), None, object)
    for trial in trials:
        if trial.block not in (None, number):
            continue
        first, stop = np.searchsorted(times_us, [trial.start_us, trial.end_us])
        trial_labels[first:stop] = trial.name
        if trial.image is not None:
            onset_us = trial.start_us if trial.image_onset_us is None else trial.image_onset_us
            offset_us = trial.end_us if trial.image_offset_us is None else trial.image_offset_us
            first, stop = np.searchsorted(times_us, [onset_us, offset_us])
            image_labels[first:stop] = trial.image
    return {"trial": trial_labels, "image": image_labels}


def _arrow(column: Any) -> Any:
    """Return an Arrow array in which NaN and None are empty."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return pa.array(np.ascontiguousarray(column), from_pandas=True)
    return pa.array(column, pa.string())


def _sidecar(recording: Recording, unit: str) -> Sidecar:
    trials = recording.trials
    if trials == tuple(find_trials(recording.messages, recording.blocks)):
        trials = ()
    coordinates = Coordinates.SCREEN_PX if unit == "px" else Coordinates.DEGREES
    return Sidecar(
        screen=recording.screen,
        screen_px=recording.screen_px,
        viewer=recording.viewer,
        session=recording.session,
        messages=tuple(
            TableMessage(message.tracker_time_us / 1000, message.text)
            for message in recording.messages
        ),
        trials=trials,
        blocks=tuple(
            TableBlock(
                n_rows=len(block.samples),
                start_ms=block.start_us / 1000,
                end_ms=block.end_us / 1000,
                stream=msgspec.structs.replace(block.stream, coordinates=coordinates),
            )
            for block in recording.blocks
        ),
    )
