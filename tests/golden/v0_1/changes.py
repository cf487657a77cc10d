"""Outputs that differ from 0.1 on purpose, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Change:
    """Differences that are allowed in some cases."""

    cases: str
    """Names of the cases, with wildcards."""
    difference: str
    """Regular expression that the whole line of `comparison.differences` matches."""
    reason: str


def _new_options(commands: str, options: str, reason: str) -> list[Change]:
    """Return the changes for options that commands have now; 0.1's options stay."""
    difference = f"/stdout: key '--({'|'.join(options.split())})' is new"
    return [Change(f"help-{command}", difference, reason) for command in commands.split()]


CHANGES: tuple[Change, ...] = (*_new_options("detect", "jobs", "detect takes several recordings"),)


def not_intended(case: str, lines: Iterable[str]) -> list[str]:
    """Return the differences of a case that no change explains."""
    allowed = [change.difference for change in CHANGES if fnmatchcase(case, change.cases)]
    return [line for line in lines if not any(re.fullmatch(text, line) for text in allowed)]
