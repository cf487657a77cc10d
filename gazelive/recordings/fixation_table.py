"""Fixation tables: one row per fixation, for identification from scanpaths alone.

`viewer, image, fixation, x_px, y_px` (or `x_deg, y_deg`), `duration_ms`, and optionally
`session`. `fixation` counts the fixations of one viewer on one image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pa_compute

from gazelive.errors import RecordingError
from gazelive.gaze.samples import Coordinates
from gazelive.gaze.screen import ScreenGeometry
from gazelive.recordings.column_names import describe_names
from gazelive.recordings.recording import Problem
from gazelive.recordings.sample_table_columns import UNITS, position_names
from gazelive.recordings.table_files import read_table_file, read_table_names
from gazelive.recordings.table_sidecar import read_sidecar

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

LABELS = ("viewer", "session", "image")
_NEEDED = ("viewer", "image", "fixation", "duration_ms")
_TYPES = {
    **{name: pa.string() for name in LABELS},
    "fixation": pa.int64(),
    "duration_ms": pa.float64(),
    **{name: pa.float64() for unit in UNITS for name in position_names(unit)},
}


@dataclass(frozen=True)
class FixationTable:
    """Arrays of one length in the order of the rows; a code is a position in its names."""

    path: Path
    viewer: Codes
    viewer_names: tuple[str, ...]
    session: Codes
    session_names: tuple[str, ...]
    """One empty name where the table has no sessions."""
    image: Codes
    image_names: tuple[str, ...]
    fixation: npt.NDArray[np.int64]
    x: Floats
    y: Floats
    duration_ms: Floats
    coordinates: Coordinates
    """The unit of x and y: screen pixels or degrees."""
    screen: ScreenGeometry | None = None
    problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        """Return the number of fixations."""
        return len(self.fixation)


def is_fixation_table(names: Sequence[str]) -> bool:
    """Say whether columns of these names are a fixation table's."""
    return {"viewer", "image", "duration_ms"} <= set(names) and "t_ms" not in names


def read_fixation_table(
    path: Path, *, progress: Callable[[float], None] | None = None
) -> FixationTable:
    """Read the table at `path`; rows that are not whole are left out and reported."""
    all_names = read_table_names(path)
    unit = next((unit for unit in UNITS if set(position_names(unit)) <= set(all_names)), None)
    if unit is None or not set(_NEEDED) <= set(all_names):
        raise RecordingError(
            f"a fixation table needs viewer,image,fixation,x_px,y_px (or x_deg,y_deg),duration_ms, "
            f"and this one has {describe_names(all_names)}",
            path=path,
        )
    x_name, y_name = position_names(unit)
    file = read_table_file(path, _TYPES, progress=progress)
    columns = {name: file.table[name] for name in file.table.column_names}
    x, y = (np.asarray(columns[name].to_numpy(), np.float64) for name in (x_name, y_name))
    duration_ms = np.asarray(columns["duration_ms"].to_numpy(), np.float64)
    whole = np.isfinite(x) & np.isfinite(y) & (duration_ms > 0)
    for name in ("viewer", "image"):
        whole &= np.asarray(pa_compute.not_equal(columns[name].fill_null(""), ""))
    whole &= np.asarray(columns["fixation"].is_valid())
    problems = list(file.problems)
    if not whole.all():
        problems.append(Problem(None, f"{int(np.sum(~whole))} rows that are not whole left out"))
    used = {*LABELS, "fixation", x_name, y_name, "duration_ms"}
    ignored = [name for name in all_names if name not in used]
    if ignored:
        problems.append(Problem(None, f"columns ignored: {', '.join(ignored)}"))
    codes, names = {}, {}
    for label in LABELS:
        codes[label], names[label] = _encode(columns.get(label), whole)
    fixation = np.asarray(columns["fixation"].fill_null(0).to_numpy(), np.int64)[whole]
    n_repeated = _count_repeated(codes["viewer"], codes["session"], codes["image"], fixation)
    if n_repeated:
        problems.append(
            Problem(
                None, f"{n_repeated} rows repeat the viewer, session, image and fixation of others"
            )
        )
    sidecar = read_sidecar(path)
    return FixationTable(
        path=path,
        viewer=codes["viewer"],
        viewer_names=names["viewer"],
        session=codes["session"],
        session_names=names["session"],
        image=codes["image"],
        image_names=names["image"],
        fixation=fixation,
        x=x[whole],
        y=y[whole],
        duration_ms=duration_ms[whole],
        coordinates=UNITS[unit],
        screen=sidecar.screen if sidecar else None,
        problems=tuple(problems),
    )


def _encode(column: Any, rows: npt.NDArray[np.bool_]) -> tuple[Codes, tuple[str, ...]]:
    """Return the chosen rows of a column of labels as codes into their names, in order."""
    if column is None:
        return np.zeros(int(rows.sum()), np.int32), ("",)
    encoded = column.fill_null("").filter(pa.array(rows)).combine_chunks().dictionary_encode()
    names = tuple(str(name) for name in encoded.dictionary.to_pylist())
    return np.asarray(encoded.indices, np.int32), names


def _count_repeated(*keys: npt.NDArray[Any]) -> int:
    rows = np.stack([key.astype(np.int64) for key in keys], axis=1)
    return len(rows) - len(np.unique(rows, axis=0))
