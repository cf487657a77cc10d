"""CSV, gzipped CSV and Parquet files as Arrow tables, by their content and suffix."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pa_compute
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from gazelive.atomic import written_aside
from gazelive.errors import RecordingError
from gazelive.recordings.csv_reading import csv_names, read_csv
from gazelive.recordings.problem_log import ProblemLog
from gazelive.recordings.recording import Problem

TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet")
PARQUET_MAGIC = b"PAR1"
ROWS_PER_WRITE = 1 << 18
GZIP_LEVEL = 5
"""Far faster than the best packing, and hardly larger."""


@dataclass(frozen=True)
class TableFile:
    """The wanted columns of a table file."""

    table: Any
    """A `pyarrow.Table` with the wanted columns that the file has."""
    problems: tuple[Problem, ...] = ()


def has_table_suffix(path: Path) -> bool:
    """Say whether the file's name is one of a table."""
    return path.name.lower().endswith(TABLE_SUFFIXES)


def read_table_names(path: Path) -> tuple[str, ...]:
    """Return the names of all columns."""
    if not path.is_file():
        raise RecordingError("there is no such file", path=path)
    if _is_parquet(path):
        return tuple(_open_parquet(path).schema_arrow.names)
    return csv_names(path)


def read_table_file(
    path: Path,
    types: Mapping[str, Any],
    *,
    progress: Callable[[float], None] | None = None,
) -> TableFile:
    """Read those columns of the table that `types` gives an Arrow type to.

    CSV rows of a wrong length are left out and reported; a cell that is no number where one is
    wanted is an error.
    """
    if _is_parquet(path):
        return TableFile(_read_parquet(path, types, progress))
    log = ProblemLog()
    table = read_csv(path, types, log, progress)
    return TableFile(table, log.problems())


def write_table_file(
    table: Any, path: Path, *, progress: Callable[[float], None] | None = None
) -> None:
    """Write an Arrow table in the format that the suffix names, whole or not at all."""
    name = path.name.lower()
    with written_aside(path) as aside:
        if name.endswith(".parquet"):
            pa_parquet.write_table(table, aside)
        elif name.endswith(".csv.gz"):
            with gzip.open(aside, "wb", compresslevel=GZIP_LEVEL) as packed:
                write_csv(table, packed, progress)
        elif name.endswith(".csv"):
            with aside.open("wb") as plain:
                write_csv(table, plain, progress)
        else:
            raise RecordingError(
                f"a table must be named {', '.join(TABLE_SUFFIXES)}, not {path.suffix or 'this'}",
                path=path,
            )


def write_csv(table: Any, sink: Any, progress: Callable[[float], None] | None = None) -> None:
    """Write an Arrow table as CSV to an open binary file; quotes only where they are needed."""
    # Arrow would put the names in quotes, and all texts unless told that none needs them
    sink.write((",".join(table.column_names) + "\n").encode("utf-8"))
    style = "needed" if _needs_quotes(table) else "none"
    options = pa_csv.WriteOptions(include_header=False, quoting_style=style)
    n_written = 0
    with pa_csv.CSVWriter(sink, table.schema, write_options=options) as writer:
        for batch in table.to_batches(max_chunksize=ROWS_PER_WRITE):
            if not batch.num_rows:
                continue  # Arrow writes zeros for a first batch without rows
            writer.write_batch(batch)
            n_written += batch.num_rows
            if progress is not None:
                progress(n_written / table.num_rows)


def _read_parquet(
    path: Path, types: Mapping[str, Any], progress: Callable[[float], None] | None
) -> Any:
    file = _open_parquet(path)
    wanted = {name: types[name] for name in file.schema_arrow.names if name in types}
    schema = pa.schema(wanted.items())
    groups = []
    try:
        for group in range(file.num_row_groups):
            groups.append(file.read_row_group(group, columns=list(wanted)).cast(schema))
            if progress is not None:
                progress((group + 1) / file.num_row_groups)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(error, path) from error
    return pa.concat_tables(groups) if groups else schema.empty_table()


def _open_parquet(path: Path) -> Any:
    try:
        return pa_parquet.ParquetFile(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(error, path) from error


def _damaged(error: Exception, path: Path) -> RecordingError:
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return RecordingError(f"this Parquet file is damaged: {reason}", path=path)


def _needs_quotes(table: Any) -> bool:
    """Say whether any text has a character that means something in CSV."""
    return any(
        pa_compute.any(pa_compute.match_substring_regex(column, '[",\\r\\n]')).as_py()
        for column in table.columns
        if pa.types.is_string(column.type)
    )


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
