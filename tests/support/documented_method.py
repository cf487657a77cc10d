"""The method that docs/identification.md shows as an example, made from the page itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gazelive.identification.registry import Method

PAGE = Path(__file__).parents[2] / "docs" / "identification.md"


def documented_method() -> Method:
    """Run the example of "Adding a method" and return its line of the registry."""
    _, _, chapter = PAGE.read_text(encoding="utf-8").partition("## Adding a method")
    [example] = re.findall(r"```python\n(.*?)```", chapter, re.DOTALL)
    names: dict[str, Any] = {"__name__": "documented"}
    exec(compile(example, str(PAGE), "exec"), names)
    method = names["METHOD"]
    assert isinstance(method, Method)
    return method
