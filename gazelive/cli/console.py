"""What a command says: results to stdout, everything else to stderr.

Plain lines when the output is not a terminal; colour follows NO_COLOR (rich does both); nothing
but results and errors with `-q`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from gazelive.compiling import when_compiling

PATIENCE_S = 2.0
"""What takes longer than this shows a progress bar."""
PLAIN_INTERVAL_S = 5.0
"""How often progress is said where there is no terminal."""

ReportProgress = Callable[[float], None]
"""Takes the fraction that is done, 0 to 1."""

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Write the result as JSON to standard output.")]

output = Console(soft_wrap=True, highlight=False, emoji=False)
errors = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)


def say(text: str, *, quiet: bool = False) -> None:
    """Tell the user how things go."""
    if not quiet:
        errors.print(escape(text))


def warn(text: str) -> None:
    """Tell the user what they should know even with `-q`."""
    errors.print(f"[yellow]warning:[/yellow] {escape(text)}")


def fail(text: str) -> None:
    """Tell the user what went wrong."""
    errors.print(f"[bold red]error:[/bold red] {escape(text)}")


@contextmanager
def progress(task: str, *, quiet: bool = False) -> Iterator[ReportProgress]:
    """Show how far `task` is once it has taken `PATIENCE_S`."""
    if quiet:
        yield lambda _fraction: None
    elif errors.is_terminal:
        with _bar(task) as report:
            yield report
    else:
        yield _plain_lines(task)


@contextmanager
def _bar(task: str) -> Iterator[ReportProgress]:
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
    )
    task_id = bar.add_task(escape(task), total=1.0)
    started_s = time.monotonic()
    visible = False

    def report(fraction: float) -> None:
        nonlocal visible
        bar.update(task_id, completed=fraction)
        if not visible and time.monotonic() - started_s > PATIENCE_S:
            bar.start()
            visible = True

    try:
        yield report
    finally:
        bar.stop()


def _plain_lines(task: str) -> ReportProgress:
    next_s = time.monotonic() + PATIENCE_S

    def report(fraction: float) -> None:
        nonlocal next_s
        if time.monotonic() >= next_s and fraction < 1:
            errors.print(escape(f"{task}: {fraction:.0%}"))
            next_s = time.monotonic() + PLAIN_INTERVAL_S

    return report


def announce_first_compile(*, quiet: bool = False, elsewhere: str | None = None) -> None:
    """Say that the first run on a machine compiles kernels, before it seems to hang.

    It is said when it happens. What other processes compile is not seen here; so `elsewhere` names
    a module of kernels that are about to be needed there.
    """
    if elsewhere is not None:
        from gazelive.compilation import is_first_compile

        if is_first_compile(elsewhere):
            _say_compiling(quiet=quiet)
            return
    when_compiling(lambda: _say_compiling(quiet=quiet))


def _say_compiling(*, quiet: bool) -> None:
    from gazelive.compilation import cache_directory

    say(
        "Compiling numerical kernels: a minute or so, once on this machine "
        f"(kept in {cache_directory()}).",
        quiet=quiet,
    )
