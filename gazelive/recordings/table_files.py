"""CSV, gzipped CSV and Parquet files as Arrow tables, with errors that name column and line."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
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
from gazelive.recordings.recording import Problem

TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet")
GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"
MISSING_WORDS = ["", ".", "NA", "N/A", "nan", "NaN", "NAN", "null", "None"]
MAX_BAD_ROWS = 20
BLOCK_BYTES = 4 << 20
MAX_LINE_BYTES = 1 << 16
ROWS_PER_WRITE = 1 << 18


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
    if _starts_with(path, PARQUET_MAGIC):
        return tuple(_open_parquet(path).schema_arrow.names)
    return _csv_names(path)


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
    try:
        if _starts_with(path, PARQUET_MAGIC):
            return _read_parquet(path, types, progress)
        return _read_csv(path, types, progress)
    except (pa.ArrowException, ValueError, OSError, EOFError) as error:
        raise _readable(error, path) from error


def write_table_file(
    table: Any, path: Path, *, progress: Callable[[float], None] | None = None
) -> None:
    """Write an Arrow table in the format that the suffix names, whole or not at all."""
    name = path.name.lower()
    with written_aside(path) as aside:
        if name.endswith(".parquet"):
            pa_parquet.write_table(table, aside)
        elif name.endswith((".csv", ".csv.gz")):
            with pa.output_stream(
                aside, compression="gzip" if name.endswith(".gz") else None
            ) as sink:
                write_csv(table, sink, progress)
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


def _read_csv(
    path: Path, types: Mapping[str, Any], progress: Callable[[float], None] | None
) -> TableFile:
    names = _csv_names(path)
    wanted = {name: types[name] for name in names if name in types}
    if not _has_rows(path):
        return TableFile(pa.schema(wanted.items()).empty_table())
    problems: list[Problem] = []

    def skip(row: Any) -> str:
        line = None if row.number is None else int(row.number)
        text = f"row of {row.actual_columns} cells instead of {row.expected_columns} left out"
        problems.append(Problem(line, text))
        return "skip"

    total_bytes = max(path.stat().st_size, 1)
    batches = []
    with pa.OSFile(str(path)) as file:
        compression = "gzip" if _starts_with(path, GZIP_MAGIC) else None
        with pa.input_stream(file, compression=compression) as stream:
            reader = pa_csv.open_csv(
                stream,
                read_options=pa_csv.ReadOptions(
                    column_names=list(names), skip_rows=1, use_threads=False, block_size=BLOCK_BYTES
                ),
                parse_options=pa_csv.ParseOptions(invalid_row_handler=skip),
                convert_options=pa_csv.ConvertOptions(
                    column_types=wanted,
                    include_columns=list(wanted),
                    null_values=MISSING_WORDS,
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                ),
            )
            for batch in reader:
                batches.append(batch)
                if progress is not None:
                    progress(min(file.tell() / total_bytes, 1.0))
    table = pa.Table.from_batches(batches, schema=pa.schema(wanted.items()))
    return TableFile(table, tuple(_at_most(problems)))


def _read_parquet(
    path: Path, types: Mapping[str, Any], progress: Callable[[float], None] | None
) -> TableFile:
    file = _open_parquet(path)
    names = tuple(file.schema_arrow.names)
    wanted = {name: types[name] for name in names if name in types}
    schema = pa.schema(wanted.items())
    groups = []
    for group in range(file.num_row_groups):
        groups.append(file.read_row_group(group, columns=list(wanted)).cast(schema))
        if progress is not None:
            progress((group + 1) / file.num_row_groups)
    table = pa.concat_tables(groups) if groups else schema.empty_table()
    return TableFile(table)


def _open_parquet(path: Path) -> Any:
    try:
        return pa_parquet.ParquetFile(path)
    except pa.ArrowException as error:
        raise RecordingError(f"this Parquet file is damaged: {error}", path=path) from error


def _csv_names(path: Path) -> tuple[str, ...]:
    """Return the names in the first line of a CSV file."""
    try:
        with _open_text(path) as file:
            line = file.readline(MAX_LINE_BYTES).decode("utf-8-sig").rstrip("\r\n")
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise RecordingError("this is no table: its first line is no text", path=path) from error
    return tuple(name.strip() for name in next(csv.reader([line]), []))


def _has_rows(path: Path) -> bool:
    """Say whether anything follows the first line of a CSV file."""
    with _open_text(path) as file:
        file.readline(MAX_LINE_BYTES)
        return bool(file.read(1))


def _open_text(path: Path) -> io.BufferedIOBase:
    """Open a CSV file, packed or not."""
    return gzip.open(path, "rb") if _starts_with(path, GZIP_MAGIC) else path.open("rb")


def _needs_quotes(table: Any) -> bool:
    """Say whether any text has a character that means something in CSV."""
    return any(
        pa_compute.any(pa_compute.match_substring_regex(column, '[",\\r\\n]')).as_py()
        for column in table.columns
        if pa.types.is_string(column.type)
    )


def _readable(error: Exception, path: Path) -> RecordingError:
    """Return Arrow's error with the name of the column and the line in the place of numbers."""
    reason = str(error).splitlines()[0]
    match = re.search(r"In CSV column #(\d+): (?:Row #(\d+): )?.*(invalid value .*)", reason)
    if match is None:
        return RecordingError(f"this table is damaged or no table at all: {reason}", path=path)
    column = _csv_names(path)[int(match[1])]
    line = None if match[2] is None else int(match[2])
    return RecordingError(f"column {column}: {match[3]}", path=path, line=line)


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def _at_most(problems: list[Problem]) -> list[Problem]:
    if len(problems) <= MAX_BAD_ROWS:
        return problems
    more = len(problems) - MAX_BAD_ROWS
    return [*problems[:MAX_BAD_ROWS], Problem(None, f"{more} more rows left out")]
