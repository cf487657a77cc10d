"""`gazelive convert`: a recording in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    REPLACE,
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


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Recording to read.")],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="File to write (.asc, .asc.gz, .csv, .csv.gz, .parquet), or a name without suffix "
            "(or ending in /) for a session folder.",
        ),
    ],
    replace: Annotated[bool, typer.Option(*REPLACE, help="Replace OUT if it exists.")] = False,
    resolution: Annotated[
        bool,
        typer.Option(
            "--resolution",
            help="ASC: add the resolution of each sample (RES), which some programs cannot read.",
        ),
    ] = False,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trials: Trials = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    image_onset: ImageOnset = None,
    quiet: Quiet = False,
) -> None:
    """Write a recording in another format, chosen by the suffix of OUT."""
    announce_first_compile(quiet=quiet)
    from gazelive.errors import RecordingError
    from gazelive.recordings import (
        check_target,
        has_resolution,
        losses_in,
        target_kind,
        with_screen,
        write_recording,
    )
    from gazelive.workflows import read_noting

    flags = geometry_flags(screen, size_mm, distance_mm)
    patterns = trial_patterns(source, trials, trial_start, trial_stop, image_onset, quiet=quiet)
    kind = target_kind(target)
    path = Path(target)
    if path.resolve() == source.resolve():
        raise RecordingError("IN and OUT are the same", path=path)
    check_target(path, kind, overwrite=replace)  # before anything that takes long
    recording = read_noting(source, Terminal(quiet=quiet), patterns)
    if flags.given:
        recording = with_screen(recording, flags.screen_geometry(recording.screen_px))
    if recording.problems:
        n_problems = counted(len(recording.problems), "problem")
        warn(f"{source} has {n_problems}, see: gazelive info {quoted(source)}")
    for loss in losses_in(recording, kind):
        warn(f"{path.name} cannot hold {loss}")
    with progress(f"Writing {path.name}", quiet=quiet) as report:
        write_recording(
            recording, path, kind, overwrite=replace, resolution=resolution, progress=report
        )
    say(
        f"Wrote {path}: {counted(recording.n_samples, 'sample')} in "
        f"{counted(len(recording.blocks), 'block')}, "
        f"{counted(len(recording.messages), 'message')}, "
        f"{counted(len(recording.trials), 'trial')}.",
        quiet=quiet,
    )
    if kind == "asc" and not resolution and has_resolution(recording):
        say("Left out the resolution of each sample (RES); keep it with --resolution.", quiet=quiet)
    say(f"Next: gazelive info {quoted(path)}", quiet=quiet)
