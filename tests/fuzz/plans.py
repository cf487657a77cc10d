"""What is fuzzed: the targets, the code whose coverage guides the search, and how often."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from .target import Target

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to fuzz a target."""

    module: str
    """The module of this folder with its `TARGET`."""
    covers: tuple[str, ...]
    """Modules and packages of gazelive."""
    executions: int

    def load(self) -> Target:
        """Import the target."""
        target: Target = importlib.import_module(f"{__package__}.{self.module}").TARGET
        return target

    def is_covered(self, module: str) -> bool:
        """Return whether a module is one of `covers` or in one of these packages."""
        return any(f"{module}.".startswith(f"gazelive.{one}.") for one in self.covers)


PLANS = {
    "asc": Plan(
        module="asc",
        covers=("recordings.asc", "recordings.messages", "recordings.trials", "gaze.time_order"),
        executions=1_000_000,
    ),
    "documents": Plan(
        module="documents",
        covers=(
            "gaze.documents",
            "gaze.stream",
            "live.wire.chunks",
            "live.summary",
            "reporting.engine_findings",
        ),
        executions=1_000_000,
    ),
    "control": Plan(
        module="control",
        covers=("live.wire.control", "live.wire.device_control", "live.engine.runner"),
        executions=1_000_000,
    ),
    "tables": Plan(
        module="tables",
        covers=("recordings.tables", "recordings.corpus", "recordings.geometry"),
        executions=100_000,
    ),
    "manifest": Plan(
        module="manifest",
        covers=("recordings.session.manifest", "gaze.screen"),
        executions=100_000,
    ),
    "model": Plan(
        module="model",
        covers=("identification", "models"),
        executions=100_000,
    ),
    "toml": Plan(
        module="toml_files",
        covers=(
            "experiment.config.reading",
            "experiment.config.key_errors",
            "experiment.config.plausibility",
            "recordings.conventions",
        ),
        executions=100_000,
    ),
    "keys": Plan(
        module="keys",
        covers=("live.wire.keys", "live.wire.runs", "live.wire.addresses"),
        executions=100_000,
    ),
    "journal": Plan(
        module="journal",
        covers=("recordings.session",),
        executions=1_000_000,
    ),
}
"""EDF files are apart (`edf.py`): their reader is a process of its own."""


def gazelive_modules() -> list[str]:
    """Return the names of all modules."""
    paths = sorted((ROOT / "gazelive").rglob("*.py"))
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths)
    return [name.removesuffix(".__init__") for name in names]
