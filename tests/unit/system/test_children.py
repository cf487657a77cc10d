"""Child processes are not started without the helper that isolates them."""

from __future__ import annotations

import re
from pathlib import Path

import gazelive
from gazelive.system import children

PACKAGE = Path(gazelive.__file__).parent


def test_every_python_child_is_started_by_the_helper() -> None:
    starts = re.compile(r'sys\.executable, *"')
    found = [path for path in PACKAGE.rglob("*.py") if starts.search(path.read_text("utf-8"))]
    assert found == [Path(children.__file__)]
