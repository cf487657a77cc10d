"""`--far` and `--stranger-prior` mean the same in every command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.identification.contract import DEFAULT_TERMS
from gazelive.live.settings import LiveSettings

from .test_conventions import COMMANDS

JUDGES = ("identify", "replay", "run", "record")


def options(command: str) -> dict[str, Any]:
    return {max(option.opts, key=len): option for option in COMMANDS[command].params}


def test_every_command_that_judges_has_both() -> None:
    for name in ("--far", "--stranger-prior"):
        helps = {options(command)[name].help for command in JUDGES}
        assert len(helps) == 1
    assert options("train")["--far"].help == options("identify")["--far"].help


def test_the_prior_is_the_same_everywhere(tmp_path: Path) -> None:
    assert {
        *(
            options(command)["--stranger-prior"].default
            for command in JUDGES
            if command != "record"
        ),
        LiveSettings(folder=tmp_path).stranger_prior,
        ExperimentConfig().identify.stranger_prior,
    } == {DEFAULT_TERMS.stranger_prior}
    assert options("record")["--stranger-prior"].default is None  # the configuration's


def test_the_engine_gets_them(
    gazelive: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[LiveSettings] = []

    def run_engine(settings: LiveSettings, _say: object) -> str:
        seen.append(settings)
        return "over"

    monkeypatch.setattr("gazelive.live.run_engine", run_engine)
    terms = ("--far", 0.05, "--stranger-prior", 0.4)
    assert gazelive("run", "--session", tmp_path / "s", *terms, "-q").exit_code == 0
    assert gazelive("run", "--session", tmp_path / "s", "-q").exit_code == 0
    assert [(one.stranger_prior, one.false_acceptance_rate) for one in seen] == [
        (0.4, 0.05),
        (0.1, None),
    ]


@pytest.mark.parametrize("command", JUDGES)
@pytest.mark.parametrize(
    ("option", "value"),
    [("--far", "0.6"), ("--far", "nan"), ("--stranger-prior", "0"), ("--stranger-prior", "1")],
)
def test_values_out_of_range(
    gazelive: Callable[..., Any], tmp_path: Path, command: str, option: str, value: str
) -> None:
    needed = {
        "identify": ("a.model", "a.asc"),
        "replay": ("a.asc",),
        "run": ("--session", tmp_path),
        "record": ("a.toml",),
    }[command]
    ended = gazelive(command, *needed, option, value)
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {option}: must be")
    assert len(ended.err.splitlines()) == 1
