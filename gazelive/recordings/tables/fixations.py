"""Fixation tables: one row per fixation, for identification from scanpaths alone.

`viewer, image, fixation, x_px, y_px` (or `x_deg, y_deg`), `duration_ms`, and optionally
`session`, in letters of any case. `fixation` counts the fixations of one viewer on one image.
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
from gazelive.gaze import Coordinates, Flags, Floats, Integers, ScreenGeometry
from gazelive.recordings.recording import Problem
from gazelive.recordings.tables.column_names import describe_names
from gazelive.recordings.tables.files import read_table_file, read_table_names
from gazelive.recordings.tables.sample_columns import UNITS, position_names
from gazelive.recordings.tables.sidecar import read_sidecar

Codes = npt.NDArray[np.int32]

LABELS = ("viewer", "session", "image")
_NEEDED = ("viewer", "image", "fixation", "duration_ms")
_TYPES = {
    **{name: pa.string() for name in LABELS},
    "fixation": pa.float64(),  # pandas writes 0.0 where a column once had a gap
    "duration_ms": pa.float64(),
    **{name: pa.float64() for unit in UNITS for name in position_names(unit)},
}


@dataclass(frozen=True)
class FixationTable:
    """Arrays of one length in the order of the rows; a code is an index into its names."""

    path: Path
    viewer: Codes
    viewer_names: tuple[str, ...]
    session: Codes
    session_names: tuple[str, ...]
    """One empty name if the table has no sessions."""
    image: Codes
    image_names: tuple[str, ...]
    fixation: Integers
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
    """Return whether columns of these names make a fixation table."""
    known = {name.lower() for name in names}
    return {"viewer", "image", "duration_ms"} <= known and "t_ms" not in known


def read_fixation_table(
    path: Path, *, progress: Callable[[float], None] | None = None
) -> FixationTable:
    """Read the table at `path`; incomplete rows are skipped and reported."""
    all_names = read_table_names(path)
    called = _known_columns(all_names, path)
    unit = next((unit for unit in UNITS if set(position_names(unit)) <= set(called)), None)
    if unit is None or not set(_NEEDED) <= set(called):
        raise RecordingError(
            f"a fixation table needs viewer,image,fixation,x_px,y_px (or x_deg,y_deg),duration_ms, "
            f"and this one has {describe_names(all_names)}",
            path=path,
        )
    x_name, y_name = position_names(unit)
    wanted = [*LABELS, "fixation", x_name, y_name, "duration_ms"]
    called = {name: called[name] for name in wanted if name in called}
    types = {in_file: _TYPES[name] for name, in_file in called.items()}
    file = read_table_file(path, types, progress=progress)
    columns = {name: file.table[in_file] for name, in_file in called.items()}
    x, y = (np.asarray(columns[name].to_numpy(), np.float64) for name in (x_name, y_name))
    duration_ms = np.asarray(columns["duration_ms"].to_numpy(), np.float64)
    whole = np.isfinite(x) & np.isfinite(y) & (duration_ms > 0)
    for name in ("viewer", "image"):
        whole &= np.asarray(pa_compute.not_equal(columns[name].fill_null(""), ""))
    fixation = np.asarray(columns["fixation"].to_numpy(), np.float64)
    whole &= np.isfinite(fixation)
    problems = list(file.problems)
    if not whole.all():
        problems.append(_rows(int(np.sum(~whole)), "incomplete: skipped"))
    ignored = [name for name in all_names if name not in called.values()]
    if ignored:
        problems.append(Problem(None, f"columns ignored: {', '.join(ignored)}"))
    codes, names = {}, {}
    for label in LABELS:
        codes[label], names[label] = _encode(columns.get(label), whole)
    numbers = _whole_numbers(fixation[whole], path)
    values = (x[whole], y[whole], duration_ms[whole])
    kept, repeats = _without_repeats((*codes.values(), numbers), values)
    problems += repeats
    sidecar = read_sidecar(path)
    return FixationTable(
        path=path,
        viewer=codes["viewer"][kept],
        viewer_names=names["viewer"],
        session=codes["session"][kept],
        session_names=names["session"],
        image=codes["image"][kept],
        image_names=names["image"],
        fixation=numbers[kept],
        x=values[0][kept],
        y=values[1][kept],
        duration_ms=values[2][kept],
        coordinates=UNITS[unit],
        screen=sidecar.screen if sidecar else None,
        problems=tuple(problems),
    )


def _encode(column: Any, rows: Flags) -> tuple[Codes, tuple[str, ...]]:
    """Return the chosen rows of a column of labels as codes into their names, in order."""
    if column is None:
        return np.zeros(int(rows.sum()), np.int32), ("",)
    encoded = column.fill_null("").filter(pa.array(rows)).combine_chunks().dictionary_encode()
    names = tuple(str(name) for name in encoded.dictionary.to_pylist())
    return np.asarray(encoded.indices, np.int32), names


def _known_columns(names: Sequence[str], path: Path) -> dict[str, str]:
    """Return the file's name of each known column, in any case."""
    called: dict[str, str] = {}
    for name in names:
        known = name.lower()
        if known not in _TYPES:
            continue
        if known in called:
            raise RecordingError(
                f"two columns of this table are called {known}: remove one", path=path
            )
        called[known] = name
    return called


def _whole_numbers(numbers: Floats, path: Path) -> Integers:
    broken = numbers[numbers != np.round(numbers)]
    if len(broken):
        raise RecordingError(f"column fixation: {broken[0]:g} is not a whole number", path=path)
    return numbers.astype(np.int64)


def _without_repeats(
    keys: Sequence[npt.NDArray[Any]], values: Sequence[Floats]
) -> tuple[Integers, list[Problem]]:
    """Return the rows without duplicates, and the problems to report.

    Rows of one fixation that differ in position or duration are all kept: the right one is
    unknown.
    """
    n_rows = len(values[0])
    key = np.zeros(n_rows, np.int64)
    for column in keys:
        different, codes = np.unique(column, return_inverse=True)
        key = key * len(different) + codes
    n_fixations = len(np.unique(key))
    if n_fixations == n_rows:
        return np.arange(n_rows), []
    rows = np.stack([column.astype(np.float64) for column in (*keys, *values)], axis=1)
    kept = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    problems = []
    if len(kept) < len(rows):
        problems.append(_rows(len(rows) - len(kept), "repeated: skipped"))
    if n_fixations < len(kept):
        what = "for a viewer, session, image and fixation of another row: all count"
        problems.append(_rows(len(kept) - n_fixations, what))
    return kept, problems


def _rows(n: int, what: str) -> Problem:
    return Problem(None, f"{n:,} row{' is' if n == 1 else 's are'} {what}")
