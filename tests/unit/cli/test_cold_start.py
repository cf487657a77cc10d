"""Commands on small files import only what they need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SMALL = Path(__file__).parents[2] / "golden" / "asc" / "mono_right_1000.asc"
PROGRAM = """
import json, sys
from gazelive.cli.app import app
app(sys.argv[1:], standalone_mode=False)
print(json.dumps(list(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "needless"),
    [
        (("info", SMALL), {"scipy.linalg", "pyarrow", "pandas", "numba.np.linalg"}),
        (("detect", SMALL, "-q"), {"scipy.linalg", "pandas", "sklearn"}),
    ],
    ids=["info", "detect"],
)
def test_imports_nothing_needless(arguments, needless, tmp_path):
    for _ in range(2):  # the first may compile kernels, for which numba needs scipy
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
    modules = set(json.loads(ended.stderr.splitlines()[-1]))
    assert not modules & needless
    assert not {name for name in modules if name.startswith("gazelive.simulation.")}
