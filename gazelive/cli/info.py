"""`gazelive info`: contents of a recording, a fixation table or a corpus."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from gazelive.cli.terminal.console import Json, Quiet, Terminal, announce_first_compile, output
from gazelive.cli.terminal.options import ImageOnset, Trials, TrialStart, TrialStop, trial_patterns
from gazelive.wording import counted, duration, quoted

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.table import Table

    from gazelive.recordings import Block, Corpus, FixationTable, Problem, Recording
    from gazelive.workflows import Content


def info(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="RECORDING|TABLE|CORPUS",
            help="Recording (.asc, .edf, .csv, .parquet, session folder), fixation table or corpus "
            "folder.",
            show_default=False,
        ),
    ],
    messages: Annotated[
        bool,
        typer.Option(
            "--messages",
            help="List the messages by pattern, and propose options for trials and images.",
        ),
    ] = False,
    trials: Trials = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    image_onset: ImageOnset = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show a recording's blocks, events, trials, calibration and problems."""
    announce_first_compile(quiet=quiet)
    from gazelive.workflows import content_facts, inspect, message_facts

    patterns = trial_patterns(file, trials, trial_start, trial_stop, image_onset, quiet=quiet)
    content = inspect(file, Terminal(quiet=quiet), patterns)
    if messages:
        facts = message_facts(_recording(content))
        if as_json:
            typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        else:
            _show_messages(file, facts)
    elif as_json:
        typer.echo(json.dumps(content_facts(content), ensure_ascii=False, indent=2))
    else:
        _show(_summary(content), quiet=quiet)


MAX_PATTERNS = 30
"""Of more patterns of messages only the most frequent are listed."""
MAX_LISTED = 12
"""Largest number of blocks, problems or names that are listed."""
FORMAT_NAMES = {
    "asc": "EyeLink ASC file",
    "edf": "EyeLink EDF file",
    "session": "session folder",
    "table": "sample table",
}
EYE_NAMES = {"L": "left", "R": "right", "LR": "both"}


@dataclass(frozen=True)
class Summary:
    """Title, blocks, rows of name and text, problems and next steps."""

    title: str
    kind: str
    rows: dict[str, str]
    blocks: Sequence[Block] = ()
    troubles: Sequence[str] = ()
    next_steps: dict[str, str] = field(default_factory=dict)
    """Description of each command."""


def _summary(content: Content) -> Summary:
    """Return the summary of what was read."""
    from gazelive.recordings import Corpus, Recording

    if isinstance(content, Recording):
        return _of_recording(content)
    return _of_corpus(content) if isinstance(content, Corpus) else _of_fixations(content)


def _of_recording(recording: Recording) -> Summary:
    """Return the summary of a recording."""
    from gazelive.workflows import event_counts

    counts = event_counts(recording)
    events = ", ".join(
        counted(counts[f"{kind}s"], kind) for kind in ("saccade", "fixation", "blink")
    )
    rows = {
        "samples": f"{recording.n_samples:,} in {duration(recording.duration_s)}, "
        f"{_loss(recording)} without gaze",
        "trials": _trials(recording),
        "tracker events": events if recording.tracker_events else "none",
        "messages": f"{len(recording.messages):,}",
        "screen": _screen(recording),
        "calibration": _calibration(recording),
    }
    if recording.viewer or recording.session:
        rows = {
            "viewer": recording.viewer or "not named",
            "session": recording.session or "not named",
            **rows,
        }
    path = quoted(recording.path)
    next_steps = {}
    if recording.messages and not any(t.image_onset_us is not None for t in recording.trials):
        next_steps[f"gazelive info {path} --messages"] = "proposes how to find trials and images"
    next_steps[f"gazelive detect {path} -o saccades.csv"] = "detects the saccades"
    if recording.format != "table":
        next_steps[f"gazelive convert {path} samples.parquet"] = "saves the samples as a table"
    return Summary(
        title=recording.path.resolve().name,
        kind=FORMAT_NAMES[recording.format],
        rows=rows,
        blocks=recording.blocks,
        troubles=[_problem(problem) for problem in recording.problems],
        next_steps=next_steps,
    )


def _of_fixations(table: FixationTable) -> Summary:
    """Return the summary of a fixation table."""
    from gazelive.gaze import Coordinates

    sessions = [name for name in table.session_names if name]
    in_degrees = table.coordinates is Coordinates.DEGREES
    return Summary(
        title=table.path.name,
        kind="fixation table",
        rows={
            "fixations": f"{len(table):,}",
            "viewers": _names(table.viewer_names),
            "sessions": _names(sessions) if sessions else "not given",
            "images": f"{len(table.image_names):,}",
            "positions": "degrees" if in_degrees else "pixels",
        },
        troubles=[_problem(problem) for problem in table.problems],
    )


def _of_corpus(corpus: Corpus) -> Summary:
    """Return the summary of a corpus."""
    n_sessions = len({(entry.viewer, entry.session) for entry in corpus.entries})
    n_screens = sum(entry.screen is not None for entry in corpus.entries)
    next_steps = {}
    if corpus.entries:
        command = f"gazelive info {quoted(corpus.entries[0].recording)}"
        next_steps[command] = "shows the first recording"
    return Summary(
        title=corpus.path.resolve().name,
        kind="corpus",
        rows={
            "recordings": f"{len(corpus.entries):,}, {n_screens:,} with the screen's geometry",
            "viewers": _names(corpus.viewers),
            "sessions": f"{n_sessions:,}",
        },
        troubles=[f"{s.recording.name} skipped: {s.reason}" for s in corpus.skipped],
        next_steps=next_steps,
    )


def _recording(content: Content) -> Recording:
    from gazelive.errors import ConfigError
    from gazelive.recordings import Recording

    if not isinstance(content, Recording):
        raise ConfigError("needs a recording: name one file or session folder", key="--messages")
    return content


def _show_messages(file: Path, facts: dict[str, Any]) -> None:
    """Write the patterns of the experiment's messages, and the proposal."""
    from rich.table import Table

    listed = [one for one in facts["patterns"] if one["role"] == "experiment"]
    output.print(
        f"[bold]{escape(file.resolve().name)}[/bold]  {counted(facts['n_messages'], 'message')}"
    )
    table = Table(box=None, pad_edge=True, padding=(0, 2), header_style="cyan")
    table.add_column("n", justify="right")
    table.add_column("pattern", overflow="fold")
    table.add_column("first", overflow="fold")
    for one in listed[:MAX_PATTERNS]:
        example = "" if one["example"] == one["pattern"] else one["example"]
        table.add_row(f"{one['n']:,}", escape(one["pattern"]), escape(example))
    if listed:
        output.print()
        output.print(table)
    if len(listed) > MAX_PATTERNS:
        output.print(f"  … and {len(listed) - MAX_PATTERNS} patterns more (all with --json)")
    for role, name in (("variable", "trial variables"), ("tracker", "the tracker's own")):
        n = sum(one["n"] for one in facts["patterns"] if one["role"] == role)
        if n:
            output.print(f"  [cyan]{n:,}[/cyan]  {name}, not listed")
    output.print()
    _show_proposal(file, facts["proposal"])


def _show_proposal(file: Path, proposal: dict[str, Any] | None) -> None:
    from gazelive.recordings import PATTERNS_NAME

    if proposal is None:
        output.print(
            "No messages make regular intervals: give --trial-start and --trial-stop yourself."
        )
        return
    n, n_onsets = proposal["n_trials"], proposal["n_image_onsets"]
    onsets = "all" if n_onsets == n else str(n_onsets) if n_onsets else "none"
    output.print(
        f"{'Proposal' if proposal['options'] else 'The usual patterns find'}: "
        f"{counted(n, 'trial')} of {proposal['median_s']:,.1f} s "
        f"({proposal['shortest_s']:,.1f} to {proposal['longest_s']:,.1f} s), {onsets} with an "
        f"image onset, called {escape(', '.join(proposal['first_names']))} …"
    )
    output.print(f"  [bold]{escape(proposal['command'])}[/bold]", soft_wrap=True)
    if proposal["options"]:
        target = file.resolve().parent / PATTERNS_NAME
        output.print(f"For all recordings of the folder, save this as {escape(str(target))}:")
        for line in proposal["toml"].splitlines():
            output.print(f"  {escape(line)}", soft_wrap=True, highlight=False)


def _show(summary: Summary, *, quiet: bool) -> None:
    """Write a summary, and next steps unless `quiet`."""
    output.print(f"[bold]{escape(summary.title)}[/bold]  {summary.kind}")
    if summary.blocks:
        output.print()
        output.print(_block_table(summary.blocks))
        if len(summary.blocks) > MAX_LISTED:
            output.print(f"  … and {len(summary.blocks) - MAX_LISTED} blocks more")
    output.print()
    width = max(map(len, summary.rows))
    for name, text in summary.rows.items():
        indented = escape(text).replace("\n", "\n" + " " * (width + 4))
        output.print(f"  [cyan]{name:<{width}}[/cyan]  {indented}")
    output.print()
    if summary.troubles:
        n_troubles = len(summary.troubles)
        output.print(f"[yellow]{counted(n_troubles, 'problem')}[/yellow]")
        for trouble in summary.troubles[:MAX_LISTED]:
            output.print(f"  {escape(trouble)}")
        if n_troubles > MAX_LISTED:
            output.print(f"  … and {n_troubles - MAX_LISTED} more (all of them with --json)")
    else:
        output.print("[green]No problems.[/green]")
    if summary.next_steps and not quiet:
        output.print("\nNext:")
        for command, effect in summary.next_steps.items():
            output.print(f"  [bold]{escape(command)}[/bold]  {escape(effect)}", soft_wrap=True)


def _block_table(blocks: Sequence[Block]) -> Table:
    """Return a table of the first blocks."""
    from rich.table import Table

    from gazelive.workflows import milliseconds

    table = Table(box=None, pad_edge=True, padding=(0, 2), header_style="cyan")
    columns: tuple[tuple[str, JustifyMethod], ...] = (
        ("block", "right"),
        ("eyes", "left"),
        ("rate", "right"),
        ("samples", "right"),
        ("start ms", "right"),
        ("end ms", "right"),
        ("px per degree", "left"),
    )
    for name, justify in columns:
        table.add_column(name, justify=justify)
    for number, block in enumerate(blocks[:MAX_LISTED], start=1):
        stream = block.stream
        resolution = ""
        if stream.px_per_deg is not None:
            resolution = f"{stream.px_per_deg[0]:.1f} × {stream.px_per_deg[1]:.1f}"
        table.add_row(
            str(number),
            EYE_NAMES[stream.eyes],
            f"{stream.sampling_rate_hz:g} Hz",
            f"{len(block.samples):,}",
            f"{milliseconds(block.start_us)}",
            f"{milliseconds(block.end_us)}",
            resolution,
        )
    return table


def _loss(recording: Recording) -> str:
    """Return the share of samples without any eye, and of two eyes that of each."""
    of_eye = recording.missing_fraction_of
    both = f"{recording.missing_fraction:.1%}"
    if len(of_eye) < 2:
        return both
    each = ", ".join(f"{EYE_NAMES[eye]} {fraction:.1%}" for eye, fraction in of_eye.items())
    return f"{both} ({each})"


def _trials(recording: Recording) -> str:
    images = {trial.image for trial in recording.trials if trial.image is not None}
    if not recording.trials:
        return "none marked"
    n_onsets = sum(trial.image_onset_us is not None for trial in recording.trials)
    return f"{len(recording.trials):,}, {n_onsets:,} with image onset" + (
        f", {counted(len(images), 'image')}" if images else ""
    )


def _screen(recording: Recording) -> str:
    if recording.screen is not None:
        screen = recording.screen
        width_deg, height_deg = screen.size_deg
        return (
            f"{screen.width_px} × {screen.height_px} px, {screen.width_mm:g} × "
            f"{screen.height_mm:g} mm seen from {screen.eye_distance_mm:g} mm "
            f"({width_deg:.1f}° × {height_deg:.1f}°)"
        )
    if recording.screen_px is not None:
        return f"{recording.screen_px[0]} × {recording.screen_px[1]} px, size in mm not given"
    return "not given"


def _calibration(recording: Recording) -> str:
    """Return the quality of the last calibration, a line for each eye."""
    lines = []
    for eye in "LR":
        of_eye = [calibration for calibration in recording.calibrations if calibration.eye == eye]
        if not of_eye:
            continue
        last = of_eye[-1]
        words = [EYE_NAMES[eye], last.model or "", last.kind, last.result or ""]
        line = " ".join(word for word in words if word)
        if last.mean_error_deg is not None and last.max_error_deg is not None:
            line += f", mean error {last.mean_error_deg:.2f}°, largest {last.max_error_deg:.2f}°"
        if len(of_eye) > 1:
            line += f" (the last of {len(of_eye)} results)"
        lines.append(line)
    return "\n".join(lines) or "none recorded"


def _problem(problem: Problem) -> str:
    return problem.text if problem.line is None else f"line {problem.line}: {problem.text}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_LISTED])
    return f"{len(names)} ({shown}{', …' if len(names) > MAX_LISTED else ''})"
