"""What a check finds, and what it knows when it looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from gazelive.config.reading import ExaminedConfig, resolved
from gazelive.config.schema import ExperimentConfig

Level = Literal["ok", "warn", "fail"]


class Finding(msgspec.Struct, frozen=True):
    """One line: what was looked at, how it is, and what to do."""

    what: str
    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Situation:
    """What the computer is to be used for."""

    examined: ExaminedConfig | None = None
    """The experiment's TOML; without it nothing is needed for sure."""
    tracker: str | None = None
    """The address of an EyeLink that should answer."""

    @property
    def config(self) -> ExperimentConfig:
        """The experiment's configuration, or the defaults."""
        return self.examined.config if self.examined else ExperimentConfig()

    @property
    def serious(self) -> Level:
        """How bad it is if an experiment cannot run here: fatal if one is to."""
        return "fail" if self.examined else "warn"

    @property
    def output_folder(self) -> Path:
        """Where sessions go; without a TOML, here."""
        if self.examined is None:
            return Path.cwd()
        return resolved(self.config.output.folder, self.examined.path)


class Check(Protocol):
    """A function that looks at one thing."""

    __name__: str

    def __call__(self, situation: Situation, /) -> Iterable[Finding]:
        """Return what was found."""
        ...
