"""`gazelive export`: a recording as others share theirs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazelive.cli.console import Quiet, announce_first_compile, progress, say, warn
from gazelive.cli.geometry_options import DistanceMm, Screen, SizeMm, geometry_flags
from gazelive.cli.trial_options import TrialStart, TrialStop, trial_patterns, warn_of_no_trials
from gazelive.cli.wording import counted, quoted

if TYPE_CHECKING:
    from gazelive.recordings.bids_dataset import BidsTarget
    from gazelive.recordings.recording import Recording


def export(
    recording: Annotated[
        Path,
        typer.Argument(metavar="SESSION", help="A session folder, or any other recording."),
    ],
    dataset: Annotated[
        Path,
        typer.Option(
            "--bids",
            metavar="OUT",
            help="The dataset's folder: a new one, or one to which this session is added.",
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
        typer.Option(help="An author of a new dataset; may be given several times."),
    ] = None,
    licence: Annotated[
        str | None, typer.Option("--license", help="Licence of a new dataset, such as CC0.")
    ] = None,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    quiet: Quiet = False,
) -> None:
    """Export a session to BIDS, the format in which labs share recordings.

    Each eye's samples with what the tracker found in them and all messages, and a
    table of what was shown. A dataset that is there gets one more session.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.recordings.bids import export_bids, what_bids_loses
    from gazelive.recordings.bids_dataset import check_target
    from gazelive.recordings.geometry import with_screen
    from gazelive.recordings.opening import read_recording

    flags = geometry_flags(screen, size_mm, distance_mm)
    patterns = trial_patterns(trial_start, trial_stop)
    with progress(f"Reading {recording.resolve().name}", quiet=quiet) as report:
        read = read_recording(recording, trial_patterns=patterns, progress=report)
    warn_of_no_trials(read, patterns)
    if flags.given:
        read = with_screen(read, flags.screen_geometry(read.screen_px))
    target = replace(
        _target(read, dataset, subject, session, task),
        name=name,
        authors=tuple(author or ()),
        licence=licence,
    )
    check_target(target)
    if read.problems:
        n_problems = counted(len(read.problems), "problem")
        warn(f"{recording} has {n_problems}, see: gazelive info {quoted(recording)}")
    for loss in what_bids_loses(read):
        warn(f"BIDS has no place for {loss}")
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
            f"Next: write into {dataset / 'README'} who recorded what, and check the whole with "
            "the BIDS validator (bids-validator-deno).",
            quiet=quiet,
        )


def _target(
    read: Recording,
    dataset: Path,
    subject: str | None,
    session: str | None,
    task: str,
) -> BidsTarget:
    """Return where it goes; names that are no labels lose what may not be in one."""
    from gazelive.errors import ConfigError
    from gazelive.recordings.bids_dataset import BidsTarget, label_of

    if subject is None:
        subject = label_of(read.viewer or "")
        if not subject:
            why = (
                f"the viewer's name {read.viewer} has nothing that may be in a BIDS label"
                if read.viewer
                else "the recording does not say who looked"
            )
            raise ConfigError(f"{why}: add --subject LABEL", path=read.path)
        if subject != read.viewer:
            warn(f"viewer {read.viewer} becomes sub-{subject}: a label has letters and digits only")
    if session is None:
        session = label_of(read.session or "") or None
    return BidsTarget(dataset, subject, session, task)


def _config(recording: Path) -> dict[str, Any]:
    """Return the snapshot of the configuration, where the recording is a session."""
    from gazelive.recordings.session_folder import is_session_folder, read_manifest

    return read_manifest(recording).config if is_session_folder(recording) else {}
