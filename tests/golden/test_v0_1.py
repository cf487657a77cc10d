"""Outputs of 0.1, through the public surface: keys, numbers and codes are as they were.

`v0_1/cases.py` lists what is run, `v0_1/comparison.py` says what may differ on any machine,
`v0_1/changes.py` what was changed on purpose since and which goldens are of a later detector.
`v0_1/make.py` makes the goldens again from a checkout of 0.1, `v0_1/renew.py` those that changed.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gazelive.system.jit import cache_directory

sys.path.insert(0, str(Path(__file__).parent))

from v0_1 import outputs
from v0_1.cases import Case, all_cases
from v0_1.changes import is_renewed, not_intended
from v0_1.comparison import differences, tolerance

GOLDEN = Path(os.environ.get("GAZELIVE_GOLDEN", outputs.HERE))
CASES = all_cases()
MOST_LINES = 12

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]  # kernels may have to be compiled


def _made_here(case: Case) -> bool:
    """Return whether this machine made the golden of a case."""
    name = "renewed_machine.json" if is_renewed(case.golden) else "machine.json"
    return outputs.machine() == json.loads((GOLDEN / name).read_text("utf-8"))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder in which all cases were run, and the folder of their standard outputs.

    SceneWalk's kernels use fast mathematics. Where a process compiles them itself, their last bits
    differ from those of kernels loaded from the cache, which made the goldens: on the machine of
    the goldens, a run that had to compile any is repeated.
    """
    while True:
        folder = tmp_path_factory.mktemp("golden")
        work, results = folder / "work", folder / "results"
        work.mkdir()
        outputs.prepare(work, GOLDEN)
        before = _n_compiled()
        outputs.run(CASES, work, results)
        if not any(map(_made_here, CASES)) or _n_compiled() == before:
            return work, results


def _n_compiled() -> int:
    """Return how many SceneWalk kernels of these sources are in the cache."""
    names = ("value_kernels", "gradient_kernels", "slope_kernels", "math_kernels")
    return sum(path.name.startswith(names) for path in cache_directory().rglob("*.nbc"))


@pytest.fixture(scope="module")
def goldens() -> dict[str, Any]:
    with zipfile.ZipFile(GOLDEN / "outputs.zip") as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def _options_as_keys(result: Any) -> Any:
    """Return a help page's result with each option as a key, so that a new one shifts no other."""
    return {**result, "stdout": dict.fromkeys(result["stdout"], True)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_output_equals_0_1(case: Case, ran, goldens):
    expected = goldens[f"{case.golden}.json"]
    allowed = tolerance(_made_here(case), case.precision)
    found = outputs.result_of(case, *ran)
    if case.stdout == "options":
        expected, found = _options_as_keys(expected), _options_as_keys(found)
    lines = not_intended(case.name, differences(expected, found, allowed))
    if lines:
        errors = (ran[1] / case.name).with_suffix(".err").read_text("utf-8")
        shown = "\n".join(lines[:MOST_LINES])
        pytest.fail(
            f"gazelive {' '.join(case.argv)}\n{len(lines)} differences from 0.1 "
            f"(relative {allowed.relative:g}, absolute {allowed.absolute:g}):\n"
            f"{shown}\n{errors[-2000:]}",
            pytrace=False,
        )
