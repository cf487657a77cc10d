"""What `gazelive session list` and `session show` write for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.markup import escape

from gazelive.cli.console import output
from gazelive.cli.wording import counted
from gazelive.reporting.listing import ListedSession
from gazelive.reporting.notes import Note
from gazelive.reporting.session_facts import SessionFacts
from gazelive.reporting.tables import (
    Column,
    check_columns,
    crossing_rows,
    summary_rows,
    trial_columns,
)
from gazelive.reporting.wording import NOTHING, clock, count, degrees, moment, percent

MAX_LISTED = 20
"""Of more notes than this, only the first are shown."""


def show_list(folder: Path, rows: Sequence[ListedSession]) -> None:
    """Write a row for each session, and what is wrong with those that are damaged."""
    _print_table(
        [
            Column("folder", tuple(_relative(row.folder, folder) for row in rows)),
            Column("viewer", tuple(row.viewer or NOTHING for row in rows)),
            Column("session", tuple(row.session or NOTHING for row in rows)),
            Column("mode", tuple(row.mode or NOTHING for row in rows)),
            Column("device", tuple(row.device or NOTHING for row in rows)),
            Column("started", tuple(moment(row.started_at) for row in rows)),
            Column("trials", tuple(count(row.n_trials) for row in rows), is_number=True),
            Column("min", tuple(_minutes(row.minutes) for row in rows), is_number=True),
            Column("missing", tuple(percent(row.missing_fraction) for row in rows), is_number=True),
            Column(
                "validation",
                tuple(degrees(row.validation_mean_deg) for row in rows),
                is_number=True,
            ),
            Column("said to be", tuple(row.said_to_be or NOTHING for row in rows)),
        ]
    )
    damaged = [row for row in rows if row.damage is not None]
    if damaged:
        output.print(f"\n[yellow]{counted(len(damaged), 'session')} with a problem[/yellow]")
        for row in damaged:
            output.print(f"  {escape(_relative(row.folder, folder))}: {escape(row.damage or '')}")


def show_session(facts: SessionFacts) -> None:
    """Write everything about one session."""
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
        output.print("  none was recorded")
    _show_notes(facts.notes)


def _show_notes(notes: Sequence[Note]) -> None:
    if not notes:
        output.print("\n[green]Nothing to note.[/green]")
        return
    output.print(f"\n[yellow]{counted(len(notes), 'note')}[/yellow]")
    for note in notes[:MAX_LISTED]:
        at = "" if note.at_s is None else f"{clock(note.at_s)}  "
        output.print(f"  {at}{escape(note.text)}")
    if len(notes) > MAX_LISTED:
        output.print(f"  … and {len(notes) - MAX_LISTED} more (all of them with --json)")


def _print_table(columns: Sequence[Column]) -> None:
    """Write a table as wide as it needs: cells that are cut off cannot be searched or piped."""
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
    output.print("  " + "  ".join(padded).rstrip(), style=style, markup=False)


def _relative(folder: str, root: Path) -> str:
    path = Path(folder)
    return path.name if path == root else path.relative_to(root).as_posix()


def _minutes(minutes: float | None) -> str:
    return NOTHING if minutes is None else f"{minutes:.1f}"
