"""Findings of the doctor's checks, and the situation that a check looks at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from gazelive.experiment.config.reading import ExaminedConfig, resolved
from gazelive.experiment.config.schema import ExperimentConfig

Level = Literal["ok", "warn", "fail"]


class Finding(msgspec.Struct, frozen=True):
    """One line: the subject, its level, a description and a remedy."""

    what: str
    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Situation:
    """Intended use of the computer."""

    examined: ExaminedConfig | None = None
    """The experiment's TOML; without it, missing parts are only warnings."""
    tracker: str | None = None
    """Address of an EyeLink to connect to."""

    @property
    def config(self) -> ExperimentConfig:
        """The experiment's configuration, or the defaults."""
        return self.examined.config if self.examined else ExperimentConfig()

    @property
    def serious(self) -> Level:
        """Level if an experiment cannot run here: `fail` if there is a TOML."""
        return "fail" if self.examined else "warn"

    @property
    def output_folder(self) -> Path:
        """Folder of the sessions; without a TOML, the current folder."""
        if self.examined is None:
            return Path.cwd()
        return resolved(self.config.output.folder, self.examined.path)


class Check(Protocol):
    """A function that checks one subject."""

    __name__: str

    def __call__(self, situation: Situation, /) -> Iterable[Finding]:
        """Return the findings."""
        ...
