"""Run command lines of gazelive one after the other in one process, each as `python -m gazelive`.

    python driver.py PLAN.json RESULTS

PLAN.json is a list of {"name", "argv"}. RESULTS gets NAME.out (standard output), NAME.err and,
last, NAME.code (the exit code). One process, because importing takes longer than most commands.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path


def main(plan: Path, results: Path) -> None:
    results.mkdir()
    for item in json.loads(plan.read_text("utf-8")):
        base = results / item["name"]
        with _redirected(1, base.with_suffix(".out")), _redirected(2, base.with_suffix(".err")):
            code = _run(item["argv"])
        base.with_suffix(".code").write_text(str(code))


def _run(argv: list[str]) -> int:
    before = sys.argv
    sys.argv = argv.copy()
    if argv[0] == "train" and _refuses_chance():
        sys.argv.append("--force")  # three images of a viewer are not enough for most methods
    try:
        if argv[0] == "python":
            runpy.run_path(str(Path(__file__).with_name(argv[1])), run_name="__main__")
        else:
            sys.argv.insert(0, "gazelive")
            runpy.run_module("gazelive", run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.argv = before
    return 0


def _refuses_chance() -> bool:
    """Return whether `train` refuses models at chance: 0.1 does not."""
    from gazelive import errors

    return hasattr(errors, "ChanceError")


@contextlib.contextmanager
def _redirected(descriptor: int, path: Path) -> Iterator[None]:
    """Send what this process and its children write there to a file."""
    stream = sys.stdout if descriptor == 1 else sys.stderr
    stream.flush()
    kept = os.dup(descriptor)
    with path.open("wb") as file:
        os.dup2(file.fileno(), descriptor)
        try:
            yield
        finally:
            stream.flush()
            os.dup2(kept, descriptor)
            os.close(kept)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
