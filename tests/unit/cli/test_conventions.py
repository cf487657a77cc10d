"""Conventions that all commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import typer
from typer.testing import CliRunner

from gazelive.cli.app import app

HELP = {"--help", "--install-completion", "--show-completion"}


def commands() -> dict[str, click.Command]:
    """Every command that does something, by its words."""
    found: dict[str, click.Command] = {}

    def walk(command: click.Command, words: tuple[str, ...]) -> None:
        below = getattr(command, "commands", None)
        if below is None:
            found[" ".join(words)] = command
            return
        for name, child in below.items():
            walk(child, (*words, name))

    walk(typer.main.get_command(app), ())
    return found


COMMANDS = commands()


def flags(command: click.Command) -> dict[str, set[str]]:
    """The names of each option, by its longest."""
    options = (p for p in command.params if p.param_type_name == "option")
    return {max(o.opts, key=len): {*o.opts, *o.secondary_opts} for o in options}


@pytest.mark.parametrize("name", COMMANDS)
class TestEvery:
    def test_help_describes_the_command(self, name: str) -> None:
        first = (COMMANDS[name].help or "").split("\n")[0]
        assert first.endswith("."), first

    def test_explains_its_arguments_and_options(self, name: str) -> None:
        for parameter in COMMANDS[name].params:
            if not HELP & set(parameter.opts):
                text = getattr(parameter, "help", None) or ""
                assert text.endswith("."), f"{name} {parameter.name}: {text!r}"

    def test_arguments_are_named_in_capitals(self, name: str) -> None:
        for parameter in COMMANDS[name].params:
            if parameter.param_type_name == "argument":
                shown = parameter.metavar or ""
                assert shown.replace(".toml", "") == shown.replace(".toml", "").upper() != ""

    def test_help_fits_80_columns_and_cuts_nothing_off(self, name: str) -> None:
        shown = CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": "80"}).output
        assert max(map(len, shown.splitlines())) <= 80
        assert "…" not in shown
        assert "<bool>" not in shown
        words = shown.split()
        for names in flags(COMMANDS[name]).values():
            assert all(flag in " ".join(words) for flag in names)

    def test_out_is_o(self, name: str) -> None:
        every = set().union(*flags(COMMANDS[name]).values())
        assert len(every & {"--out", "-o"}) != 1

    def test_the_option_to_overwrite_is_named_replace(self, name: str) -> None:
        every = set().union(*flags(COMMANDS[name]).values())
        if name != "train":  # which forces a model at chance, and overwrites nothing by it
            assert "--force" not in every or "--replace" in every
        assert not every & {"--overwrite", "--yes"}

    def test_short_flags_mean_one_thing(self, name: str) -> None:
        meaning = {
            "-o": "--output",
            "-q": "--quiet",
            "-h": "--help",
            "-f": "--replace",
            "-j": "--jobs",
        }
        for longest, names in flags(COMMANDS[name]).items():
            for short in (one for one in names if len(one) == 2):
                assert meaning.get(short) == longest, f"{name} {short} is {longest}"


def test_the_list_of_commands_fits_one_line_each() -> None:
    for name, command in COMMANDS.items():
        first = (command.help or "").split("\n")[0]
        assert len(first) <= 100, f"{name}: {len(first)}"


def test_the_methods_are_whole_words_in_the_help_of_train() -> None:
    from gazelive.identification import method_names

    shown = CliRunner().invoke(app, ["train", "--help"], env={"COLUMNS": "80"}).output
    listed = {word.strip(",.:") for word in shown.split()}
    assert set(method_names()) <= listed


def test_ctrl_c_is_acknowledged(
    gazelive: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(_path: Path) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("gazelive.workflows.info.kind_of", interrupted)
    ended = gazelive("info", tmp_path)
    assert ended.exit_code == 130
    assert ended.err == "error: stopped\n"
