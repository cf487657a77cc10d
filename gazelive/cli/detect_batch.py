"""`gazelive detect` with several recordings: tables into a folder, and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.cells import cell_len

from gazelive.cli.terminal.console import fail, output, progress, say
from gazelive.wording import counted

if TYPE_CHECKING:
    from gazelive.workflows import BatchRow, BatchSettings

HEADER = ("recording", "s", "Hz", "eye", "lost", "saccades", "threshold °/s", "warnings")
LEFT = ("recording", "eye")
"""Columns that are aligned to the left."""


def detect_into_folder(
    recordings: Sequence[Path],
    folder: Path | None,
    fixations: Path | None,
    settings: BatchSettings,
    *,
    jobs: int,
    quiet: bool,
) -> None:
    """Write one table per recording into `folder`; exit with 1 if a recording fails."""
    from gazelive.errors import ConfigError
    from gazelive.workflows import detect_batch, plan_batch, write_summary

    if folder is None:
        raise ConfigError("several recordings need a folder for their tables", key="-o")
    for target, option in ((folder, "-o"), (fixations, "--fixations")):
        if target is not None and target.exists() and not target.is_dir():
            raise ConfigError(f"must be a folder for several recordings, not {target}", key=option)
    planned = plan_batch(recordings, folder, fixations)
    for target in (folder, fixations):
        if target is not None:
            target.mkdir(parents=True, exist_ok=True)
    with progress(f"Detecting in {counted(len(planned), 'recording')}", quiet=quiet) as report:
        rows = detect_batch(planned, settings, n_processes=jobs, progress=report)
    summary = write_summary(rows, folder)
    _show(rows)
    n_warnings = sum(len(row.warnings) for row in rows)
    noted = f" Its last columns hold {counted(n_warnings, 'warning')}." if n_warnings else ""
    say(f"Wrote the tables and {summary}.{noted}", quiet=quiet)
    failed = [row for row in rows if row.error is not None]
    for row in failed:
        fail(str(row.error))
    if failed:
        fail(f"{len(failed)} of {counted(len(rows), 'recording')} failed")
        raise typer.Exit(1)


def _show(rows: Sequence[BatchRow]) -> None:
    """Write the summary as a table whose lines stay whole."""
    lines = [HEADER, *(_cells(row) for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for number, cells in enumerate(lines):
        padded = [
            cell + " " * (width - cell_len(cell)) if name in LEFT else cell.rjust(width)
            for name, cell, width in zip(HEADER, cells, widths, strict=True)
        ]
        style = None if number else "cyan"
        output.print("  ".join(padded).rstrip(), style=style, markup=False, soft_wrap=True)


def _cells(row: BatchRow) -> tuple[str, ...]:
    name = Path(row.recording).name
    if row.error is not None:
        return name, "failed", *[""] * (len(HEADER) - 2)
    return (
        name,
        f"{row.duration_s:.1f}",
        "mixed" if row.sampling_rate_hz is None else f"{row.sampling_rate_hz:g}",
        row.eye or "",
        f"{row.lost_percent:.1f} %",
        str(row.saccades),
        "–"
        if row.threshold_x_deg_s is None
        else f"{row.threshold_x_deg_s:.0f} × {row.threshold_y_deg_s:.0f}",
        str(len(row.warnings)),
    )
