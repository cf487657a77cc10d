"""`gazelive doctor`: checks of this computer before a session."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from gazelive.cli.terminal.console import Json, Quiet, output, say
from gazelive.wording import counted

if TYPE_CHECKING:
    from gazelive.experiment import Finding

COLOURS = {"ok": "green", "warn": "yellow", "fail": "bold red"}
INDENT = " " * 24


def doctor(
    experiment: Annotated[
        Path | None,
        typer.Argument(
            metavar="EXPERIMENT.toml",
            help="Configuration of the experiment to run here.",
            show_default=False,
        ),
    ] = None,
    tracker: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Also connect to the EyeLink at this address, usually 100.1.1.1.",
            show_default="not tried",
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check software, screen, timing, disk and tracker before a session.

    With an experiment's configuration, its files and values are checked too.

    Opens a grey window for a few seconds. The exit code is 1 if anything failed, else 0.
    """
    from gazelive.experiment import Situation, examine, examine_config
    from gazelive.system import has_screen

    examined = examine_config(experiment) if experiment else None
    findings: list[Finding] = []
    if has_screen():
        say("This takes about ten seconds and opens a grey window.", quiet=quiet)
    for finding in examine(Situation(examined, tracker)):
        findings.append(finding)
        if not as_json and not (quiet and finding.level == "ok"):
            _show(finding)
    n_failed = sum(finding.level == "fail" for finding in findings)
    n_warned = sum(finding.level == "warn" for finding in findings)
    if as_json:
        rows = [
            {"what": f.what, "level": f.level, "text": f.text, "remedy": f.remedy} for f in findings
        ]
        facts = {"ok": not n_failed, "findings": rows}
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    elif not quiet:
        output.print(_verdict(n_failed, n_warned))
    raise typer.Exit(1 if n_failed else 0)


def _show(finding: Finding) -> None:
    """Write a finding and its remedy, wrapped on a terminal."""
    colour = COLOURS[finding.level]
    head = f"[{colour}]{finding.level:<6}[/{colour}]{finding.what:<{len(INDENT) - 6}}"
    for line in _wrapped(finding.text):
        output.print(head + escape(line))
        head = INDENT
    for line in _wrapped(f"→ {finding.remedy}") if finding.remedy else ():
        output.print(f"{INDENT}[dim]{escape(line)}[/dim]")


def _wrapped(text: str) -> list[str]:
    if not output.is_terminal:
        return [text]
    return textwrap.wrap(text, max(output.width - len(INDENT), 40), subsequent_indent="  ")


def _verdict(n_failed: int, n_warned: int) -> str:
    warnings = counted(n_warned, "warning")
    if n_failed:
        failures = counted(n_failed, "failure")
        return f"\n[bold red]Not ready:[/bold red] {failures}, {warnings}."
    return (
        f"\n[yellow]Nothing failed, {warnings}.[/yellow]"
        if n_warned
        else "\n[green]All well.[/green]"
    )
