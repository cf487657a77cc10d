"""Table files: CSV, gzipped CSV and Parquet, read and written as Arrow tables."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pa_compute
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from gazelive.errors import RecordingError
from gazelive.recordings.problems import ProblemLog
from gazelive.recordings.recording import Problem
from gazelive.recordings.tables.column_names import PARQUET_MAGIC, SAVE_AS_UTF_8
from gazelive.recordings.tables.formulas import guarded_table, unguarded_table
from gazelive.system import BoundedGzip, is_gzip, replacing

MISSING_NUMBERS = ["", ".", "NA", "N/A", "nan", "NaN", "NAN", "null", "None"]
"""Words for missing numbers; in a column of text only an empty cell is missing."""
BLOCK_BYTES = 4 << 20
MAX_LINE_BYTES = 1 << 16

Progress = Callable[[float], None] | None


def csv_names(path: Path) -> tuple[str, ...]:
    """Return the names in the first line."""
    try:
        with _open(path) as file:
            first = file.readline(MAX_LINE_BYTES)
        if not first:
            raise RecordingError("is empty: a table starts with a line of column names", path=path)
        if _is_utf_16(first):
            raise RecordingError(f"is in UTF-16: {SAVE_AS_UTF_8}", path=path)
        line = first.decode("utf-8-sig").rstrip("\r\n")
        return tuple(name.strip() for name in next(csv.reader([line]), []))
    except UnicodeDecodeError as error:
        raise RecordingError(
            f"its first line is not UTF-8: if it is a table, {SAVE_AS_UTF_8}", path=path
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error, csv.Error) as error:
        raise RecordingError("not a table: its first line is not text", path=path) from error


def _is_utf_16(first: bytes) -> bool:
    """Return whether a first line has two bytes per letter, with a byte order mark or without."""
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return first.startswith(marks) or {0} in (set(first[::2]), set(first[1::2]))


def read_csv(path: Path, types: Mapping[str, Any], log: ProblemLog, progress: Progress) -> Any:
    """Return the columns in `types`, which gives their Arrow types; `log` gets the bad rows."""
    names = csv_names(path)
    wanted = {name: types[name] for name in names if name in types}
    try:
        if not _has_rows(path):
            return pa.schema(wanted.items()).empty_table()
        try:
            return _batches(path, names, wanted, progress)
        except pa.ArrowInvalid as error:
            if not re.search(r"Expected \d+ columns", str(error)):
                raise
        return _batches(path, names, wanted, progress, log)
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise _with_names(error, names, path) from error


def _has_rows(path: Path) -> bool:
    """Return whether anything follows the first line."""
    with _open(path) as file:
        file.readline(MAX_LINE_BYTES)
        return bool(file.read(1))


def _batches(
    path: Path,
    names: tuple[str, ...],
    wanted: Mapping[str, Any],
    progress: Progress,
    log: ProblemLog | None = None,
) -> Any:
    """Read the file; without a `log` the first incomplete row is an error."""

    def skip(row: Any) -> str:
        assert log is not None
        text = f"row of {row.actual_columns} cells instead of {row.expected_columns} skipped"
        log.add(row.number, text)
        return "skip"

    total_bytes = path.stat().st_size
    batches = []
    with _open(path) as file:
        reader = pa_csv.open_csv(
            # Arrow passes a bad row as text, and fails if it cannot be decoded
            pa.PythonFile(file if log is None else _ValidUtf8(file), mode="r"),
            read_options=pa_csv.ReadOptions(
                column_names=list(names), skip_rows=1, use_threads=False, block_size=BLOCK_BYTES
            ),
            parse_options=pa_csv.ParseOptions(invalid_row_handler=None if log is None else skip),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict(wanted),
                include_columns=list(wanted),
                null_values=MISSING_NUMBERS,
                strings_can_be_null=False,
            ),
        )
        for batch in reader:
            batches.append(batch)
            if progress is not None:
                progress(min(_bytes_read(file) / total_bytes, 1.0))
    return pa.Table.from_batches(batches, schema=pa.schema(wanted.items()))


class _ValidUtf8:
    """A binary file in which invalid UTF-8 is replaced by the replacement character."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read(self, n_bytes: int = -1) -> bytes:
        """Return about `n_bytes`; empty only at the end."""
        while True:
            data = self._file.read(n_bytes)
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8")

    def close(self) -> None:
        """Do nothing: the caller closes the file."""


def _with_names(error: Exception, names: tuple[str, ...], path: Path) -> RecordingError:
    """Return Arrow's error with the column's name and the line."""
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    match = re.search(r"In CSV column #(\d+): (?:Row #(\d+): )?.*(invalid .*)", reason)
    if match is None:
        return RecordingError(f"this table is damaged: {reason}", path=path)
    column = names[int(match[1])]
    line = None if match[2] is None else int(match[2])
    if "UTF8" in match[3]:
        return RecordingError(
            f"column {column} is not in UTF-8: {SAVE_AS_UTF_8}", path=path, line=line
        )
    return RecordingError(f"column {column}: {match[3]}", path=path, line=line)


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", BoundedGzip(path)) if is_gzip(path) else path.open("rb")


def _bytes_read(file: Any) -> int:
    """Return the number of bytes read from disk, which is less if compressed."""
    return int(getattr(file, "fileobj", file).tell())


TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet")
ROWS_PER_WRITE = 1 << 18
GZIP_LEVEL = 5
"""Far faster than the best compression, and hardly larger."""


@dataclass(frozen=True)
class TableFile:
    """The wanted columns of a table file."""

    table: Any
    """A `pyarrow.Table` with the wanted columns that the file has."""
    problems: tuple[Problem, ...] = ()


def has_table_suffix(path: Path) -> bool:
    """Return whether the file has the suffix of a table."""
    return path.name.lower().endswith(TABLE_SUFFIXES)


def read_table_names(path: Path) -> tuple[str, ...]:
    """Return the names of all columns."""
    if not path.is_file():
        raise RecordingError("no such file", path=path)
    if _is_parquet(path):
        return tuple(_open_parquet(path).schema_arrow.names)
    return csv_names(path)


def read_table_file(
    path: Path,
    types: Mapping[str, Any],
    *,
    progress: Callable[[float], None] | None = None,
) -> TableFile:
    """Read the columns in `types`, which gives their Arrow types.

    CSV rows of a wrong length are skipped and reported; a cell that is not a number in a column of
    numbers is an error.
    """
    if _is_parquet(path):
        return TableFile(_read_parquet(path, types, progress))
    log = ProblemLog()
    table = unguarded_table(read_csv(path, types, log, progress))
    return TableFile(table, log.problems())


def write_table_file(
    table: Any, path: Path, *, progress: Callable[[float], None] | None = None
) -> None:
    """Write an Arrow table atomically, in the format of the suffix."""
    name = path.name.lower()
    with replacing(path) as aside:
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
                f"a table's name must end in {', '.join(TABLE_SUFFIXES)}",
                path=path,
            )


def write_csv(table: Any, sink: Any, progress: Callable[[float], None] | None = None) -> None:
    """Write an Arrow table as CSV to an open binary file; quotes only if needed."""
    table = guarded_table(table)
    # Arrow quotes names, and all texts too unless this says that none needs it
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
    """Return whether any text has a special character of CSV."""
    return any(
        pa_compute.any(pa_compute.match_substring_regex(column, '[",\\r\\n]')).as_py()
        for column in table.columns
        if pa.types.is_string(column.type)
    )


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
