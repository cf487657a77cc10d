"""`gazelive session`: which sessions there are, what is in one, and a report to archive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, output, progress, say, warn
from gazelive.cli.geometry_options import DistanceMm, Screen, SizeMm, geometry_flags
from gazelive.cli.wording import counted

app = typer.Typer(
    no_args_is_help=True,
    help="Which sessions there are, what is in one, and a report of it to archive.",
)

SessionFolder = Annotated[
    Path, typer.Argument(metavar="SESSION", help="A session folder.", show_default=False)
]


@app.command(name="list")
def list_(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A folder with session folders in it, or in the folders in it (viewer/session).",
        ),
    ] = Path(),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the sessions under a folder, one row each; damaged ones are named too."""
    announce_first_compile(quiet=quiet)
    import msgspec

    from gazelive.cli.session_text import show_list
    from gazelive.reporting.listing import list_sessions

    with progress("Reading sessions", quiet=quiet) as report:
        rows = list_sessions(folder, report)
    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(rows), ensure_ascii=False, indent=2))
        return
    show_list(folder, rows)
    whole = [row for row in rows if row.n_trials is not None]
    if whole:
        say(f"\n{counted(len(rows), 'session')}.", quiet=quiet)
        say(f"Look into one with: gazelive session show {_quoted(whole[0].folder)}", quiet=quiet)


@app.command()
def show(
    session: SessionFolder,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what is in a session: quality per trial, calibrations, who it was said to be."""
    announce_first_compile(quiet=quiet)
    from gazelive.cli.session_text import show_session
    from gazelive.reporting.session_facts import gather

    with progress(f"Reading {session.resolve().name}", quiet=quiet) as report:
        facts = gather(session, geometry_flags(screen, size_mm, distance_mm), report)
    if as_json:
        typer.echo(json.dumps(facts.as_json(), ensure_ascii=False, indent=2))
        return
    show_session(facts)
    for warning in facts.warnings:
        warn(warning)
    output.print("\nNext:")
    target = _quoted(str(session))
    output.print(f"  [bold]gazelive session report {target}[/bold]  writes it as a page to archive")
    output.print(f"  [bold]gazelive export {target} --bids DATASET[/bold]  for sharing it")


def _quoted(path: str) -> str:
    """Return the path as one types it."""
    return f'"{path}"' if " " in path else path
