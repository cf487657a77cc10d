"""How errors name the columns that a table has; apart, so that only tables need Arrow."""

from __future__ import annotations

from collections.abc import Sequence


def describe_names(names: Sequence[str]) -> str:
    """Return the names found, for an error; with a hint where they are not separated by commas."""
    if len(names) == 1:
        for separator, word in ((";", "semicolons"), ("\t", "tabs")):
            if separator in names[0]:
                return f"its columns separated by {word}: save it with commas"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return shown or "no columns"
