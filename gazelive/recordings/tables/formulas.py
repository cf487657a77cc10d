"""Cells of text that a spreadsheet would execute: stored with an apostrophe, read without it.

A text that begins with one of ``= + - @``, a tab or a return is a formula for a spreadsheet, and
texts come from recordings. An apostrophe before it makes it text there.
"""

from __future__ import annotations

import re
from typing import Any

_FORMULA, _GUARDED = r"^('*[=+\-@\t\r])", r"^'('*[=+\-@\t\r])"


def guarded(text: str) -> str:
    """Return a cell of text as it is stored."""
    return re.sub(_FORMULA, r"'\1", text)


def unguarded(text: str) -> str:
    """Return a cell of text as it was before `guarded`."""
    return re.sub(_GUARDED, r"\1", text)


def guarded_table(table: Any) -> Any:
    """Return an Arrow table with its texts as they are stored."""
    return _replaced(table, _FORMULA, r"'\1")


def unguarded_table(table: Any) -> Any:
    """Return an Arrow table with its texts as they were before `guarded_table`."""
    return _replaced(table, _GUARDED, r"\1")


def _replaced(table: Any, pattern: str, replacement: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pa_compute

    for number, field in enumerate(table.schema):
        column = table.column(number)
        if pa.types.is_dictionary(field.type) and pa.types.is_string(field.type.value_type):
            column = column.cast(pa.string())
        if not pa.types.is_string(column.type):
            continue
        if pa_compute.any(pa_compute.match_substring_regex(column, pattern)).as_py():
            changed = pa_compute.replace_substring_regex(column, pattern, replacement)
            table = table.set_column(number, field.name, changed)
    return table
