"""CSV files, gzipped or not, as Arrow tables; rows that are not whole are left out and told."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.csv as pa_csv

from gazelive.errors import RecordingError
from gazelive.recordings.column_names import SAVE_AS_UTF_8
from gazelive.recordings.problem_log import ProblemLog

GZIP_MAGIC = b"\x1f\x8b"
MISSING_NUMBERS = ["", ".", "NA", "N/A", "nan", "NaN", "NAN", "null", "None"]
"""Words that stand for no number; in a column of text only an empty cell is missing."""
BLOCK_BYTES = 4 << 20
MAX_LINE_BYTES = 1 << 16

Progress = Callable[[float], None] | None


def csv_names(path: Path) -> tuple[str, ...]:
    """Return the names in the first line."""
    try:
        with _open(path) as file:
            first = file.readline(MAX_LINE_BYTES)
        if not first:
            raise RecordingError(
                "is empty: a table begins with a line of its columns' names", path=path
            )
        if _is_utf_16(first):
            raise RecordingError(f"is in UTF-16: {SAVE_AS_UTF_8}", path=path)
        line = first.decode("utf-8-sig").rstrip("\r\n")
        return tuple(name.strip() for name in next(csv.reader([line]), []))
    except UnicodeDecodeError as error:
        raise RecordingError(
            f"its first line is no text in UTF-8: if it is a table, {SAVE_AS_UTF_8}", path=path
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error, csv.Error) as error:
        raise RecordingError("this is no table: its first line is no text", path=path) from error


def _is_utf_16(first: bytes) -> bool:
    """Say whether a first line is two bytes for each letter, with a mark before it or without."""
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return first.startswith(marks) or {0} in (set(first[::2]), set(first[1::2]))


def read_csv(path: Path, types: Mapping[str, Any], log: ProblemLog, progress: Progress) -> Any:
    """Return those columns that `types` gives an Arrow type to; `log` gets the bad rows."""
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
    """Say whether anything follows the first line."""
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
    """Read the file; without a `log` the first row that is not whole is an error."""

    def skip(row: Any) -> str:
        assert log is not None
        text = f"row of {row.actual_columns} cells instead of {row.expected_columns} left out"
        log.add(row.number, text)
        return "skip"

    total_bytes = path.stat().st_size
    batches = []
    with _open(path) as file:
        reader = pa_csv.open_csv(
            # Arrow hands a bad row over as text, and knows no way out where it is none
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
    """A binary file whose bytes that are no UTF-8 are replaced by the sign for them."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read(self, n_bytes: int = -1) -> bytes:
        """Return about `n_bytes`, and none at the end only."""
        while True:
            data = self._file.read(n_bytes)
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8")

    def close(self) -> None:
        """Leave the file to whoever opened it."""


def _with_names(error: Exception, names: tuple[str, ...], path: Path) -> RecordingError:
    """Return Arrow's error with the name of the column and the line in the place of numbers."""
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
    with path.open("rb") as file:
        is_packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return cast("IO[bytes]", gzip.open(path, "rb")) if is_packed else path.open("rb")


def _bytes_read(file: Any) -> int:
    """Return how far the file on the disk has been read, which is less where it is packed."""
    return int(getattr(file, "fileobj", file).tell())
