"""Line coverage of a target's corpus: `python -m tests.fuzz.lines TARGET FOLDER`.

Counts the lines inside functions of the modules that the plan names. Compiled kernels count with
NUMBA_DISABLE_JIT=1 only. Prints the lines reached and all lines, and with `--missing` the others.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from .plans import PLANS, ROOT, gazelive_modules

KERNELS = "_kernels"
IS_INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
Line = tuple[str, int]


def measure(name: str, folder: Path) -> tuple[set[Line], set[Line]]:
    """Return the lines that the corpus in a target's folder reaches, and all lines."""
    plan = PLANS[name]
    paths = [
        _path_of(module)
        for module in gazelive_modules()
        if plan.is_covered(module) and (IS_INTERPRETED or not module.endswith(KERNELS))
    ]
    possible = {
        line
        for path in paths
        for line in _lines(compile(path.read_text(encoding="utf-8"), str(path), "exec"))
    }
    reached: set[Line] = set()
    files = {str(path) for path in paths}

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            reached.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    target = plan.load()
    if IS_INTERPRETED:
        target.interpret()
    with tempfile.TemporaryDirectory(prefix="gazelive-fuzz-") as scratch:
        target.seeds(Path(scratch))
        for one in sorted((folder / "corpus").iterdir()):
            sys.settrace(trace)  # again: a RecursionError ends it
            with suppress(Exception):
                target.try_input(one.read_bytes(), Path(scratch))
        sys.settrace(None)
        target.close()
    return reached & possible, possible


def _path_of(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _lines(code: CodeType) -> Iterator[Line]:
    """Yield the lines of all functions in some code."""
    if code.co_flags & 1:  # optimised: a function, and no module or class
        for _, _, line in code.co_lines():
            if line is not None and line > code.co_firstlineno:
                yield code.co_filename, line
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)


if __name__ == "__main__":
    reached, possible = measure(sys.argv[1], Path(sys.argv[2]))
    print(len(reached), len(possible))
    if "--missing" in sys.argv:
        for path, line in sorted(possible - reached):
            print(f"{Path(path).relative_to(ROOT)}:{line}")
