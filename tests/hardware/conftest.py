"""Acceptance test of a lab: where the tracker is, questions to the operator, the results file.

Environment variables (docs/acceptance.md explains the whole procedure):

    GAZELIVE_EYELINK     address of the Host PC, such as 100.1.1.1; nothing connects without it
    GAZELIVE_LAB         the lab's TOML file, for everything that needs the screen
    GAZELIVE_RESULTS     folder for the results (default: acceptance in the current folder)
    GAZELIVE_MINUTES     length of the long recording (default: 10)
"""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from .recorded import Ask, Confirm, Note

PACKAGES = (
    "gazelive",
    "sr-research-pylink",
    "psychopy-lib",
    "psychopy-eyelink-coregraphics",
    "numpy",
    "numba",
    "PyQt6",
    "pyzmq",
)
RESULTS = Path(os.environ.get("GAZELIVE_RESULTS", "acceptance")).absolute()

_notes: dict[str, dict[str, Any]] = {}
_outcomes: dict[str, dict[str, Any]] = {}


@pytest.fixture
def address() -> str:
    """Address of the Host PC."""
    found = os.environ.get("GAZELIVE_EYELINK")
    if not found:
        pytest.skip("set GAZELIVE_EYELINK to the address of the Host PC, such as 100.1.1.1")
    return found


@pytest.fixture
def lab() -> Path:
    """The lab's TOML file."""
    found = os.environ.get("GAZELIVE_LAB")
    if not found:
        pytest.skip("set GAZELIVE_LAB to your TOML file, such as mylab/scene_viewing.toml")
    return Path(found).resolve(strict=True)


@pytest.fixture
def results() -> Path:
    """Folder for everything that the lab sends back."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    return RESULTS


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Note:
    """Return a function that prints a measurement and writes it to the results."""

    def note(**values: Any) -> None:
        _notes.setdefault(request.node.name, {}).update(values)
        print("   ", ", ".join(f"{name}: {value}" for name, value in values.items()))

    return note


@pytest.fixture
def ask(note: Note) -> Ask:
    """Return a function that asks the operator and notes the answer."""
    if not sys.stdin.isatty():
        pytest.skip("needs an operator: run it in a terminal, with -s")

    def ask(question: str) -> str:
        answer = input(f"\n>>> {question} ").strip()
        note(**{question: answer})
        return answer

    return ask


@pytest.fixture
def confirm(ask: Ask) -> Confirm:
    """Return a function that fails the test unless the operator answers yes."""

    def confirm(question: str) -> None:
        answer = ask(f"{question} [y/n, and what you saw]")
        assert answer[:1].lower() in ("y", "j"), f"the operator says: {answer}"

    return confirm


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the outcome of each hardware test."""
    if "hardware" in report.keywords and (report.when == "call" or report.outcome != "passed"):
        _outcomes[report.nodeid.rpartition("::")[2]] = {
            "outcome": report.outcome,
            "seconds": round(report.duration, 1),
            "reason": report.longreprtext[-2000:],
        }


def pytest_sessionfinish() -> None:
    """Write the results, together with those of earlier runs in the same folder."""
    if not _outcomes:
        return
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / "results.json"
    tests = json.loads(path.read_text(encoding="utf-8"))["tests"] if path.exists() else {}
    for name, outcome in _outcomes.items():
        tests[name] = {**outcome, "notes": _notes.get(name, {})}
    content = {"computer": _computer(), "tests": tests}
    path.write_text(json.dumps(content, indent=1, default=str), encoding="utf-8")
    print(f"\nResults: {path}")


def _computer() -> dict[str, Any]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "system": platform.platform(),
        "python": sys.version,
        "processor": platform.processor(),
        "cores": os.cpu_count(),
        "packages": versions,
    }
