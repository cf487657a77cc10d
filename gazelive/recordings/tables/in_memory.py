"""Recordings from columns in memory, with the names of a sample table's columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gazelive.errors import RecordingError
from gazelive.gaze import Floats, ScreenGeometry
from gazelive.recordings.recording import Recording
from gazelive.recordings.tables.sample_columns import COLUMN_TYPES, recognise_columns
from gazelive.recordings.tables.samples import recording_of_table
from gazelive.recordings.tables.sidecar import Sidecar
from gazelive.recordings.tables.times import estimate_rate_hz

PATH = Path("columns")
"""Stands for the file's name in errors."""


@runtime_checkable
class ArrowStream(Protocol):
    """A table of pandas, polars or pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Pass the columns without copying them."""
        ...


Columns: TypeAlias = Mapping[str, npt.ArrayLike] | ArrowStream


def recording_of_columns(
    columns: Columns,
    *,
    sampling_rate_hz: float | None = None,
    screen: ScreenGeometry | None = None,
) -> Recording:
    """Return columns as a recording; NaN and null are missing values.

    The rate follows from `t_ms` unless it is given.
    """
    given = _arrow_table(columns)
    layout = recognise_columns(given.column_names, PATH)
    known = [name for name in given.column_names if name in COLUMN_TYPES]
    table = pa.table({name: _cast(given[name], name) for name in known})
    if sampling_rate_hz is None and estimate_rate_hz(_times_ms(table)) is None:
        raise RecordingError(
            "the sampling rate does not follow from t_ms: give sampling_rate_hz", path=PATH
        )
    sidecar = Sidecar(sampling_rate_hz=sampling_rate_hz, screen=screen)
    return recording_of_table(table, layout, sidecar, PATH)


def _arrow_table(columns: Columns) -> Any:
    if isinstance(columns, ArrowStream):
        return pa.table(columns)
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    lengths = {name: len(array) if array.ndim == 1 else None for name, array in arrays.items()}
    if len(set(lengths.values())) > 1 or None in lengths.values():
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise RecordingError(
            f"columns must be one-dimensional and of equal length: {shapes}", path=PATH
        )
    return pa.table({name: pa.array(array, from_pandas=True) for name, array in arrays.items()})


def _cast(column: Any, name: str) -> Any:
    try:
        values = column.cast(COLUMN_TYPES[name])
    except pa.ArrowException as error:
        raise RecordingError(
            f"column {name} is {column.type}, and must be {COLUMN_TYPES[name]}", path=PATH
        ) from error
    return values


def _times_ms(table: Any) -> Floats:
    return np.asarray(table["t_ms"].to_numpy(), np.float64)
