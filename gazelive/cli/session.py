"""`gazelive session`: list sessions, show one, and write its report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len
from rich.markup import escape

from gazelive.cli.terminal.console import (
    Json,
    Quiet,
    announce_first_compile,
    output,
    progress,
    say,
    warn,
)
from gazelive.cli.terminal.help import PlainApp
from gazelive.cli.terminal.options import OUT, DistanceMm, Screen, SizeMm, geometry_flags
from gazelive.wording import NOTHING, clock_time, counted, quoted

if TYPE_CHECKING:
    from gazelive.reporting import Column, ListedSession, Note, SessionFacts

app = PlainApp(
    help="List sessions, show one, or write its report.",
)

SessionFolder = Annotated[
    Path, typer.Argument(metavar="SESSION", help="Session folder.", show_default=False)
]


@app.command(name="list")
def list_(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder of session folders, directly or one level down (viewer/session).",
        ),
    ] = Path(),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the sessions under a folder, damaged ones too."""
    announce_first_compile(quiet=quiet)
    import msgspec

    from gazelive.reporting import list_sessions

    with progress("Reading sessions", quiet=quiet) as report:
        rows = list_sessions(folder, report)
    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(rows), ensure_ascii=False, indent=2))
        return
    _show_list(folder, rows)
    whole = [row for row in rows if row.n_trials is not None]
    if whole:
        say(f"\n{counted(len(rows), 'session')}.", quiet=quiet)
        say(f"Next: gazelive session show {quoted(whole[0].folder)}", quiet=quiet)


@app.command()
def show(
    session: SessionFolder,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show a session: quality per trial, calibrations, identification."""
    announce_first_compile(quiet=quiet)
    from gazelive.reporting import gather

    with progress(f"Reading {session.resolve().name}", quiet=quiet) as report:
        facts = gather(session, geometry_flags(screen, size_mm, distance_mm), report)
    if as_json:
        typer.echo(json.dumps(facts.as_json(), ensure_ascii=False, indent=2))
        return
    _show_session(facts)
    for warning in facts.warnings:
        warn(warning)
    output.print("\nNext:")
    target = quoted(session)
    output.print(f"  [bold]gazelive session report {target}[/bold]  writes a report")
    output.print(f"  [bold]gazelive export {target} --bids DATASET[/bold]  exports it")


@app.command()
def report(
    session: SessionFolder,
    target: Annotated[
        Path | None,
        typer.Option(
            *OUT,
            metavar="OUT.html",
            help="Page to write.",
            show_default="the session's name, in the working folder",
        ),
    ] = None,
    images: Annotated[
        list[Path] | None,
        typer.Option(
            "--images",
            metavar="DIR",
            help="Folder of the images shown; repeatable.",
            show_default="as configured, else gazelive's stimuli",
        ),
    ] = None,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    quiet: Quiet = False,
) -> None:
    """Write a session's report as one HTML page, to archive or print.

    Facts, quality per trial, calibration history, identification, main sequence and scanpaths.
    The session itself is not changed.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.recordings import now_iso, read_manifest
    from gazelive.reporting import gather, session_page
    from gazelive.system import write_bytes

    folders = _existing(images or [])
    viewer = read_manifest(session).viewer
    path = target or Path(_report_name(session, viewer))
    _check_target(path, session)
    with progress(f"Reading {session.resolve().name}", quiet=quiet) as done:
        facts = gather(session, geometry_flags(screen, size_mm, distance_mm), done)
    for warning in facts.warnings:
        warn(warning)
    with progress("Drawing", quiet=quiet) as done:
        page = session_page(facts, images=folders, made_at=now_iso(), progress=done)
    content = page.encode()
    write_bytes(path, content)
    n_trials = len(facts.recording.trials)
    say(
        f"Wrote {path}: {counted(n_trials, 'trial')}, {len(content) / 1e6:.1f} MB. "
        "Open it in any browser.",
        quiet=quiet,
    )


def _existing(folders: list[Path]) -> list[Path]:
    from gazelive.errors import ConfigError

    for folder in folders:
        if not folder.is_dir():
            raise ConfigError("there is no such folder", path=folder, key="--images")
    return folders


def _report_name(session: Path, viewer: str | None) -> str:
    """Return a file name with the viewer's name in it."""
    import re

    name = session.resolve().name
    stem = name if viewer is None or viewer in name else f"{viewer}_{name}"
    plain = re.sub(r"[^\w.-]+", "_", stem)
    return f"{plain}-report.html"


def _check_target(path: Path, session: Path) -> None:
    """Raise if the report cannot or must not be written there."""
    from gazelive.errors import ConfigError

    if path.suffix.lower() not in {".html", ".htm"}:
        raise ConfigError(f"must end in .html, not {path.name!r}", key="-o")
    if path.is_dir() or not path.absolute().parent.is_dir():
        why = (
            "is a folder"
            if path.is_dir()
            else "is in a folder that does not exist; create it first"
        )
        raise ConfigError(why, path=path, key="-o")
    if path.resolve().is_relative_to(session.resolve()):
        raise ConfigError(
            "would be inside the session, which must not change; choose another place",
            path=path,
            key="-o",
        )


MAX_LISTED = 20
"""Largest number of notes that are shown."""


def _show_list(folder: Path, rows: Sequence[ListedSession]) -> None:
    """Write a row for each session, and the problems of damaged ones."""
    from gazelive.reporting import Column
    from gazelive.wording import count, date_time, degrees, percent

    _print_table(
        [
            Column("folder", tuple(_relative(row.folder, folder) for row in rows)),
            Column("viewer", tuple(row.viewer or NOTHING for row in rows)),
            Column("session", tuple(row.session or NOTHING for row in rows)),
            Column("mode", tuple(row.mode or NOTHING for row in rows)),
            Column("device", tuple(row.device or NOTHING for row in rows)),
            Column("started", tuple(date_time(row.started_at) for row in rows)),
            Column("trials", tuple(count(row.n_trials) for row in rows), is_number=True),
            Column("min", tuple(_minutes(row.minutes) for row in rows), is_number=True),
            Column("missing", tuple(percent(row.missing_fraction) for row in rows), is_number=True),
            Column(
                "validation",
                tuple(degrees(row.validation_mean_deg) for row in rows),
                is_number=True,
            ),
            Column("identified as", tuple(row.said_to_be or NOTHING for row in rows)),
        ]
    )
    damaged = [row for row in rows if row.damage is not None]
    if damaged:
        output.print(f"\n[yellow]{counted(len(damaged), 'session')} with a problem[/yellow]")
        for row in damaged:
            output.print(f"  {escape(_relative(row.folder, folder))}: {escape(row.damage or '')}")


def _show_session(facts: SessionFacts) -> None:
    """Write everything about one session."""
    from gazelive.reporting import check_columns, crossing_rows, summary_rows, trial_columns

    output.print(f"[bold]{escape(facts.folder.resolve().name)}[/bold]  session folder\n")
    rows = summary_rows(facts)
    width = max(map(len, rows))
    for name, text in rows.items():
        output.print(f"  [cyan]{name:<{width}}[/cyan]  {escape(text)}")
    for text in crossing_rows(facts):
        output.print(f"  {'':<{width}}  {escape(text)}")
    if facts.trials:
        output.print("\n[bold]Quality per trial[/bold]")
        _print_table(trial_columns(facts.trials))
    output.print("\n[bold]Calibration history[/bold]")
    if facts.checks:
        _print_table(check_columns(facts.checks))
    else:
        output.print("  none")
    _show_notes(facts.notes)


def _show_notes(notes: Sequence[Note]) -> None:
    if not notes:
        output.print("\n[green]Nothing to note.[/green]")
        return
    output.print(f"\n[yellow]{counted(len(notes), 'note')}[/yellow]")
    for note in notes[:MAX_LISTED]:
        at = "" if note.at_s is None else f"{clock_time(note.at_s)}  "
        output.print(f"  {at}{escape(note.text)}")
    if len(notes) > MAX_LISTED:
        output.print(f"  … and {len(notes) - MAX_LISTED} more (all of them with --json)")


def _print_table(columns: Sequence[Column]) -> None:
    """Write a table without cutting or wrapping its cells."""
    widths = [max(map(cell_len, (column.name, *column.cells))) for column in columns]
    _print_line([column.name for column in columns], columns, widths, "cyan")
    for cells in zip(*(column.cells for column in columns), strict=True):
        _print_line(cells, columns, widths, None)


def _print_line(
    cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int], style: str | None
) -> None:
    padded = []
    for cell, column, width in zip(cells, columns, widths, strict=True):
        blanks = " " * (width - cell_len(cell))
        padded.append(blanks + cell if column.is_number else cell + blanks)
    output.print("  " + "  ".join(padded).rstrip(), style=style, markup=False, soft_wrap=True)


def _relative(folder: str, root: Path) -> str:
    path = Path(folder)
    return path.name if path == root else path.relative_to(root).as_posix()


def _minutes(minutes: float | None) -> str:
    return NOTHING if minutes is None else f"{minutes:.1f}"
