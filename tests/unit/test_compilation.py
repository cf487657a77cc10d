"""Whoever asked is told before something is compiled, and only then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gazelive import compiling
from gazelive.compilation import kernel


def double(number: float) -> float:
    return 2.0 * number


def test_it_is_told_once_before_it_happens() -> None:
    told: list[str] = []
    compiled = kernel(double)
    # what an earlier run left in the cache would be loaded and not compiled
    compiled._cache.flush()  # type: ignore[attr-defined]
    compiling.when_compiling(lambda: told.append("compiling"))
    assert told == []
    assert compiled(2.0) == 4.0
    assert compiled(2) == 4
    assert told == ["compiling"]


def test_to_ask_needs_no_numba() -> None:
    code = (
        "import sys; from gazelive.cli.console import announce_first_compile; "
        "announce_first_compile(); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
