"""Output of the commands: results to stdout, notices, warnings and errors to stderr.

On a terminal lines wrap at words; elsewhere every line stays whole. Colour follows NO_COLOR.
`--quiet` leaves results, warnings and errors.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import (
    Console,
    ConsoleOptions,
    ConsoleRenderable,
    RenderableType,
    RenderHook,
    RenderResult,
)
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment

from gazelive.observer import Observer, Report
from gazelive.system import on_compile
from gazelive.wording import counted, printable

if TYPE_CHECKING:
    from gazelive.live import Crossing

PATIENCE_S = 2.0
"""Longer steps show their progress."""
PLAIN_INTERVAL_S = 5.0
"""Interval of progress lines without a terminal."""

Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only results, warnings and errors.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


class _Printable:
    """What is printed, without control characters in its texts; rich adds its own afterwards."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._inner, options):
            text = segment.text if segment.control else printable(segment.text)
            yield Segment(text, segment.style, segment.control)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._inner)


class _ToPrintable(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Wrap everything that is printed."""
        return [_Printable(one) for one in renderables]


output = Console(soft_wrap=not sys.stdout.isatty(), highlight=False, emoji=False)
errors = Console(stderr=True, soft_wrap=not sys.stderr.isatty(), highlight=False, emoji=False)
for _console in (output, errors):
    _console.push_render_hook(_ToPrintable())


def say(text: str, *, quiet: bool = False) -> None:
    """Write a notice; an indented one is a command to copy and stays on one line."""
    if not quiet:
        errors.print(escape(text), soft_wrap=text.startswith("  ") or None)


def warn(text: str) -> None:
    """Write a warning, also with `-q`."""
    errors.print(f"[yellow]warning:[/yellow] {escape(text)}")


def fail(text: str) -> None:
    """Write an error."""
    errors.print(f"[bold red]error:[/bold red] {escape(text)}")


@contextmanager
def progress(task: str, *, quiet: bool = False) -> Iterator[Report]:
    """Show the progress of `task` once it has taken `PATIENCE_S`."""
    if quiet:
        yield lambda _fraction: None
    elif errors.is_terminal:
        with _bar(task) as report:
            yield report
    else:
        yield _plain_lines(task)


@contextmanager
def _bar(task: str) -> Iterator[Report]:
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


def _plain_lines(task: str) -> Report:
    next_s = time.monotonic() + PATIENCE_S

    def report(fraction: float) -> None:
        nonlocal next_s
        if time.monotonic() >= next_s and fraction < 1:
            errors.print(escape(f"{task}: {fraction:.0%}"))
            next_s = time.monotonic() + PLAIN_INTERVAL_S

    return report


class Terminal(Observer):
    """Observer of a command: writes to standard error, only warnings with `-q`."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__()
        self._quiet = quiet

    def say(self, text: str) -> None:
        """Write a notice."""
        say(text, quiet=self._quiet)

    def warn(self, text: str) -> None:
        """Write a warning."""
        warn(text)

    def progress(self, task: str) -> AbstractContextManager[Report]:
        """Show a bar, or lines where there is no terminal."""
        return progress(task, quiet=self._quiet)


def announce_first_compile(*, quiet: bool = False, elsewhere: str | None = None) -> None:
    """Announce the compilation of kernels on a computer's first run, when it begins.

    `elsewhere` names a module of kernels that another process is about to need.
    """
    if elsewhere is not None:
        from gazelive.system import is_first_compile

        if is_first_compile(elsewhere):
            _say_compiling(quiet=quiet)
            return
    on_compile(lambda: _say_compiling(quiet=quiet))


def _say_compiling(*, quiet: bool) -> None:
    from gazelive.system import cache_directory

    say(
        "Compiling numerical kernels: about a minute, once on this computer "
        f"(cached in {cache_directory()}).",
        quiet=quiet,
    )


def reached(level: float, crossing: Crossing | None) -> str:
    """Return when a probability was reached, such as 0.5."""
    if crossing is None:
        return f"never reached {100 * level:.0f} %"
    after = f"{crossing.seconds:.1f} s and {counted(crossing.n_saccades, 'saccade')}"
    return f"reached {100 * level:.0f} % after {after}"
