"""Fixtures of the tests of commands."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from gazelive.cli.app import main
from gazelive.cli.terminal import console


class Ended(NamedTuple):
    """Exit code and output of a command."""

    exit_code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _no_step_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print no progress: on a busy machine any step may take longer than two seconds."""
    monkeypatch.setattr(console, "PATIENCE_S", math.inf)


@pytest.fixture
def gazelive(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Run the command with its own way to fail, as the shell does, but in this process."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["gazelive", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    return run
