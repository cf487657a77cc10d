"""`gazelive evaluate`: the paper's study on your own recordings."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.terminal.console import Quiet, Terminal, announce_first_compile, output, say
from gazelive.cli.terminal.options import (
    OUT,
    DistanceMm,
    ImageOnset,
    Screen,
    Sessions,
    SizeMm,
    Trials,
    TrialStart,
    TrialStop,
    geometry_flags,
    names_of,
    trial_patterns,
)
from gazelive.errors import ConfigError

if TYPE_CHECKING:
    from gazelive.evaluation import Study

WIDEST_NAME, WIDTH = 26, 13
"""Columns of a terminal for a method's name and for each amount of evidence."""
_STUDY_PANEL, _COMPUTING_PANEL = "Study", "Computing"


class _ProtocolName(StrEnum):
    IMAGES = "images"
    SESSIONS = "sessions"


class _Saliency(StrEnum):
    TRAIN_ONLY = "train-only"
    OTHERS = "others"


def evaluate(
    source: Annotated[
        Path, typer.Argument(metavar="CORPUS|TABLE", help="Corpus folder or fixation table.")
    ],
    out: Annotated[Path, typer.Option(*OUT, help="Folder to write to; a stopped study goes on.")],
    protocol: Annotated[
        _ProtocolName,
        typer.Option(
            help="images: learn from half of the images, test on the other. sessions: learn from "
            "one session, test on the others.",
            rich_help_panel=_STUDY_PANEL,
        ),
    ] = _ProtocolName.IMAGES,
    methods: Annotated[
        str,
        typer.Option(help="all, or names such as gazelive,markov.", rich_help_panel=_STUDY_PANEL),
    ] = "all",
    splits: Annotated[
        int, typer.Option(min=1, help="Random halves of the images.", rich_help_panel=_STUDY_PANEL)
    ] = 5,
    seconds: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Also test with probes of these lengths, such as 5,10,20,60.",
            rich_help_panel=_STUDY_PANEL,
        ),
    ] = None,
    max_images: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Most images of either half, for a quick look.",
            rich_help_panel=_STUDY_PANEL,
        ),
    ] = None,
    disjoint_images: Annotated[
        bool,
        typer.Option(
            "--disjoint-images",
            help="sessions: do not test with the images of training.",
            rich_help_panel=_STUDY_PANEL,
        ),
    ] = False,
    without: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Evaluate every method also without each of these: movement, after, texture, "
            "positions, start-times, shipped (what was learned from other people).",
            rich_help_panel=_STUDY_PANEL,
        ),
    ] = None,
    open_set: Annotated[
        bool,
        typer.Option(
            "--open-set/--no-open-set",
            help="Enrol half of the viewers; the others are strangers.",
            rich_help_panel=_STUDY_PANEL,
        ),
    ] = True,
    timing: Annotated[
        bool,
        typer.Option(
            "--timing/--no-timing",
            help="Time identifications with 10 to 10,000 persons enrolled.",
            rich_help_panel=_STUDY_PANEL,
        ),
    ] = True,
    search: Annotated[
        bool,
        typer.Option(
            "--search/--no-search",
            help="Search hyper-parameters in every training part (slower), or use the defaults.",
            rich_help_panel=_STUDY_PANEL,
        ),
    ] = True,
    sessions: Sessions = None,
    exclude_viewers: Annotated[
        str | None, typer.Option(help="Viewers to leave out, such as anna,ben.")
    ] = None,
    stimuli: Annotated[
        Path | None, typer.Option(help="Folder of the images, for the saliency of scenewalk.")
    ] = None,
    saliency: Annotated[
        _Saliency,
        typer.Option(
            help="scenewalk: train-only never uses fixations on a test image; others uses those of "
            "the other viewers, as the paper does.",
        ),
    ] = _Saliency.TRAIN_ONLY,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            help="Processes (default: one per processor).",
            show_default=False,
            rich_help_panel=_COMPUTING_PANEL,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Compute on a dask cluster, such as tcp://host:8786; its workers must see OUT.",
            rich_help_panel=_COMPUTING_PANEL,
        ),
    ] = None,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trials: Trials = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    image_onset: ImageOnset = None,
    quiet: Quiet = False,
) -> None:
    """Compare all methods on your recordings, as the paper does.

    Writes tables (CSV), figures (PNG, SVG), report.html and manifest.json. Killed and started
    again, it goes on where it was; another method computes only that method.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.evaluation import (
        REPORT_NAME,
        Choices,
        Protocol,
        Selection,
        run_study,
        write_study,
    )
    from gazelive.workflows import check_folder

    check_folder(stimuli, "--stimuli")
    if out.is_file():
        raise ConfigError("is a file; give a folder", path=out)
    lengths = _lengths(seconds)
    selection = Selection(
        source,
        sessions=names_of(sessions),
        exclude_viewers=names_of(exclude_viewers),
        flags=geometry_flags(screen, size_mm, distance_mm),
        trial_patterns=trial_patterns(
            source, trials, trial_start, trial_stop, image_onset, quiet=quiet
        ),
        seconds=lengths,
    )
    choices = Choices(
        selection,
        Protocol(
            kind=protocol.value,
            n_splits=splits,
            seconds=lengths,
            max_images=max_images,
            disjoint_images=disjoint_images,
        ),
        methods=() if methods == "all" else names_of(methods),
        without=names_of(without),
        open_set=open_set,
        timing=timing,
        search=search,
        stimuli=stimuli,
        saliency=saliency.value,
        n_jobs=jobs or os.cpu_count() or 1,
        cluster=cluster,
    )
    study = run_study(choices, out, Terminal(quiet=quiet))
    write_study(study, out)
    _show(study)
    say(f"Wrote {out}. Next: open {out / REPORT_NAME} in a browser.", quiet=quiet)


def _lengths(text: str | None) -> tuple[float, ...]:
    try:
        lengths = tuple(float(part) for part in names_of(text))
    except ValueError:
        lengths = (0.0,)
    if not all(0 < length < float("inf") for length in lengths):
        raise ConfigError(
            f"must be lengths in seconds such as 5,10,20, not {text}", key="--seconds"
        )
    return lengths


def _show(study: Study) -> None:
    """Print the accuracies."""
    from rich.table import Table

    from gazelive.evaluation import claims_of, summary_table

    most = None if output.soft_wrap else max(2, (output.width - WIDEST_NAME) // WIDTH)
    head, rows = summary_table(study.summary, most)
    table = Table(title="Accuracy ± standard error", title_justify="left", box=None, pad_edge=False)
    for number, name in enumerate(head):
        table.add_column(name, justify="right" if number else "left", no_wrap=not number)
    for row in rows:
        table.add_row(*row)
    output.print(table, width=WIDEST_NAME + WIDTH * len(head) if output.soft_wrap else None)
    for claim, found in claims_of(study):
        output.print(f"• {claim}: {found}")
