"""`make stress`: goes on where it stopped, and names what failed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

STRESS = Path(__file__).parents[2] / ".ci" / "stress"
TESTS = """
from pathlib import Path

def test_works():
    pass

def test_fails_once():
    ran = Path(__file__).with_name("ran")
    is_first = not ran.exists()
    ran.touch()
    assert not is_first
"""


@pytest.mark.skipif(not (STRESS.parents[1] / ".git").exists(), reason="not a clone")
def test_failures_are_kept_and_named_on_resume(tmp_path: Path) -> None:
    suite = tmp_path / "test_suite.py"
    suite.write_text(TESTS, encoding="utf-8")

    def stress(runs: int) -> subprocess.CompletedProcess[str]:
        options = ("--runs", str(runs), "--workers", "0", "--busy", "1")
        return subprocess.run(
            [sys.executable, str(STRESS), *options, "--results", str(tmp_path), str(suite)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    first = stress(1)
    assert first.returncode == 1
    assert "test_fails_once" in first.stdout
    again = stress(2)
    assert again.returncode == 1
    assert "run 1:" not in again.stdout
    assert "2 runs, 1 of them beside busy processes: 1 failed" in again.stdout
    assert again.stdout.count("test_fails_once") == 1
    assert "test_works" not in again.stdout
    (kept,) = tmp_path.glob("*/runs.jsonl")
    runs = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert [run["busy"] for run in runs] == [0, 1]
    assert len({run["seed"] for run in runs}) == 2
    assert [len(run["failed"]) for run in runs] == [1, 0]
