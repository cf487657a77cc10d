"""`--help` as plain text: panels of options, wrapped at words, nothing cut off at 80 columns."""

from __future__ import annotations

import textwrap
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

LONGEST_NAME = 30
"""A longer name has a line of its own."""


class PlainApp(typer.Typer):
    """A Typer application whose commands and groups have plain help."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("cls", PlainGroup)
        super().__init__(no_args_is_help=True, rich_markup_mode=None, **options)

    def command(self, name: str | None = None, **options: Any) -> Any:
        """Return the decorator of a command with plain help."""
        return super().command(name, cls=PlainCommand, **options)


class PlainCommand(TyperCommand):
    """A command with plain help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options."""
        _write_parameters(self, ctx, formatter)


class PlainGroup(TyperGroup):
    """A group of commands with plain help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write options and commands."""
        _write_parameters(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the first sentence of each command, by panels."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            panel = getattr(command, "rich_help_panel", None) or "Commands"
            first = (getattr(command, "help", None) or "").split("\n\n")[0]
            panels.setdefault(panel, []).append((name, " ".join(first.split())))
        _write_sections(panels, formatter)


def _write_parameters(command: Any, ctx: Any, formatter: Any) -> None:
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            is_argument = parameter.param_type_name == "argument"
            usual = "Arguments" if is_argument else "Options"
            panel = getattr(parameter, "rich_help_panel", None) or usual
            panels.setdefault(panel, []).append(record)
    _write_sections(panels, formatter)


def _write_sections(panels: dict[str, list[tuple[str, str]]], formatter: Any) -> None:
    for panel, rows in panels.items():
        with formatter.section(panel):
            _write_rows(rows, formatter)


def _write_rows(rows: list[tuple[str, str]], formatter: Any) -> None:
    """Write names and texts in two columns; names of methods and flags are never broken."""
    margin = " " * formatter.current_indent
    widths = [len(name) for name, _ in rows if len(name) <= LONGEST_NAME]
    column = " " * (max(widths, default=0) + 2)
    width = max(formatter.width - len(margin) - len(column), 20)
    for name, text in rows:
        first, *others = textwrap.wrap(text, width, break_on_hyphens=False) or [""]
        head = f"{name:{len(column)}}"
        if len(name) > LONGEST_NAME:
            head = f"{name}\n{margin}{column}"
        formatter.write(f"{margin}{head}{first}".rstrip() + "\n")
        for line in others:
            formatter.write(f"{margin}{column}{line}\n")
