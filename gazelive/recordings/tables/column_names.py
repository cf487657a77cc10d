"""Column names of tables in errors; a separate module, so only tables need Arrow."""

from __future__ import annotations

from collections.abc import Sequence

PARQUET_MAGIC = b"PAR1"
"""First bytes of a Parquet file."""
SAVE_AS_UTF_8 = "save it as UTF-8 (Excel: “CSV UTF-8”; pandas: encoding='utf-8')"


def describe_names(names: Sequence[str]) -> str:
    """Return the names found, for an error; with a hint if they are not separated by commas."""
    if len(names) == 1:
        for separator, word in ((";", "semicolons"), ("\t", "tabs")):
            if separator in names[0]:
                return f"its columns separated by {word}: save it with commas"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return shown or "no columns"
