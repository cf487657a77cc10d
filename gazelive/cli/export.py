"""`gazelive export`: a recording in BIDS."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazelive.cli.terminal.console import (
    Quiet,
    Terminal,
    announce_first_compile,
    progress,
    say,
    warn,
)
from gazelive.cli.terminal.options import (
    DistanceMm,
    ImageOnset,
    Screen,
    SizeMm,
    Trials,
    TrialStart,
    TrialStop,
    geometry_flags,
    trial_patterns,
)
from gazelive.wording import counted, quoted

if TYPE_CHECKING:
    from gazelive.recordings import BidsTarget, Recording


def export(
    recording: Annotated[
        Path,
        typer.Argument(metavar="SESSION", help="Session folder or other recording."),
    ],
    dataset: Annotated[
        Path,
        typer.Option(
            "--bids",
            metavar="OUT",
            help="Folder of the dataset, new or existing.",
            show_default=False,
        ),
    ],
    subject: Annotated[
        str | None, typer.Option(help="BIDS subject label.", show_default="the viewer's name")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="BIDS session label.", show_default="as recorded")
    ] = None,
    task: Annotated[str, typer.Option(help="BIDS task label.")] = "sceneviewing",
    name: Annotated[
        str | None,
        typer.Option(help="Name of a new dataset.", show_default="that of its folder"),
    ] = None,
    author: Annotated[
        list[str] | None,
        typer.Option(help="Author of a new dataset; repeatable."),
    ] = None,
    licence: Annotated[
        str | None, typer.Option("--license", help="Licence of a new dataset, such as CC0.")
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
    """Export a session to a BIDS dataset, for sharing.

    Writes each eye's samples, the tracker's events, all messages and a table of the images shown.
    An existing dataset gets one more session.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.recordings import check_dataset, export_bids, what_bids_loses, with_screen
    from gazelive.workflows import read_noting

    flags = geometry_flags(screen, size_mm, distance_mm)
    patterns = trial_patterns(recording, trials, trial_start, trial_stop, image_onset, quiet=quiet)
    read = read_noting(recording, Terminal(quiet=quiet), patterns)
    if flags.given:
        read = with_screen(read, flags.screen_geometry(read.screen_px))
    target = replace(
        _target(read, dataset, subject, session, task),
        name=name,
        authors=tuple(author or ()),
        licence=licence,
    )
    check_dataset(target)
    if read.problems:
        n_problems = counted(len(read.problems), "problem")
        warn(f"{recording} has {n_problems}, see: gazelive info {quoted(recording)}")
    for loss in what_bids_loses(read):
        warn(f"BIDS cannot hold {loss}")
    is_new = target.is_new
    with progress(f"Writing {target.folder}", quiet=quiet) as report:
        written = export_bids(read, target, config=_config(recording), progress=report)
    say(
        f"{'Made' if is_new else 'Added to'} {dataset}: {target.folder.as_posix()}, "
        f"{counted(len(written), 'file')}.",
        quiet=quiet,
    )
    if is_new:
        say(
            f"Next: describe the dataset in {dataset / 'README'} and check it with the BIDS "
            "validator (bids-validator-deno).",
            quiet=quiet,
        )


def _target(
    read: Recording,
    dataset: Path,
    subject: str | None,
    session: str | None,
    task: str,
) -> BidsTarget:
    """Return the target; names lose the characters that BIDS labels cannot have."""
    from gazelive.errors import ConfigError
    from gazelive.recordings import BidsTarget, label_of

    if subject is None:
        subject = label_of(read.viewer or "")
        if not subject:
            why = (
                f"the viewer's name {read.viewer} has no letters or digits for a BIDS label"
                if read.viewer
                else "the recording does not name its viewer"
            )
            raise ConfigError(f"{why}: add --subject LABEL", path=read.path)
        if subject != read.viewer:
            warn(f"viewer {read.viewer} becomes sub-{subject}: labels have letters and digits only")
    if session is None:
        session = label_of(read.session or "") or None
    return BidsTarget(dataset, subject, session, task)


def _config(recording: Path) -> dict[str, Any]:
    """Return the snapshot of the configuration, where the recording is a session."""
    from gazelive.recordings import is_session_folder, read_manifest

    return read_manifest(recording).config if is_session_folder(recording) else {}
