"""Notice before kernels are compiled, and the cache of kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gazelive.system import compile_notice as compiling, jit as compilation
from gazelive.system.jit import kernel


def double(number: float) -> float:
    return 2.0 * number


def test_the_notice_comes_once_before_compiling() -> None:
    told: list[str] = []
    compiled = kernel(double)
    # what an earlier run left in the cache would be loaded and not compiled
    compiled._cache.flush()  # type: ignore[attr-defined]
    compiling.on_compile(lambda: told.append("compiling"))
    assert told == []
    assert compiled(2.0) == 4.0
    assert compiled(2) == 4
    assert told == ["compiling"]


def test_to_ask_needs_no_numba() -> None:
    code = (
        "import sys; from gazelive.cli.terminal.console import announce_first_compile; "
        "announce_first_compile(); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


def test_kernels_of_another_installation_are_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba keeps them apart by where the sources are, in the same folder."""
    ours = compilation.cache_directory()
    monkeypatch.setattr(compilation, "cache_directory", lambda: tmp_path)
    theirs = tmp_path / "detection_0123456789"
    theirs.mkdir()
    (theirs / "online_kernels.step-1.py311.nbi").write_bytes(b"")
    assert compilation.is_first_compile("online_kernels")
    assert compilation.is_first_compile()
    if not (found := sorted(ours.glob("*/*_kernels.*.nbi"))):
        pytest.skip("nothing has been compiled yet")
    for index in found:
        (tmp_path / index.parent.name).mkdir(exist_ok=True)
        (tmp_path / index.parent.name / index.name).write_bytes(b"")
    assert not compilation.is_first_compile()


def test_kernels_work_compiled_and_loaded(tmp_path: Path) -> None:
    """Loading skips numba's declarations: arrays, statistics and BLAS must work all the same."""
    (tmp_path / "sums_kernels.py").write_text(
        "import numpy as np\n"
        "from gazelive.system import kernel\n\n\n"
        "@kernel\n"
        "def sums(x):\n"
        "    y = np.sort(x.copy())\n"
        "    return np.dot(y, x) + y.std() + np.percentile(y, 30) + np.median(x)\n"
    )
    code = (
        "import numpy as np; from sums_kernels import sums; x = np.array([3.0, 1, 2, 5]); "
        "y = np.sort(x); expected = y @ x + y.std() + np.percentile(y, 30) + np.median(x); "
        "assert abs(sums(x) - expected) < 1e-12, (sums(x), expected); "
        "print(sum(sums.stats.cache_hits.values()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    hits = [
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            env=environment,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert hits == ["0", "1"]
