"""Options that several commands share; `--json` and `--quiet` are in `console`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazelive.cli.terminal.console import say
from gazelive.errors import ConfigError
from gazelive.verdict import check_prior, check_rate

if TYPE_CHECKING:
    from gazelive.recordings import GeometryFlags, TrialPatterns

_SCREEN_PANEL, _TRIALS_PANEL, NETWORK = "Screen", "Trials", "Other computers"

OUT = ("--out", "--output", "-o")
"""Flags for what a command writes."""
REPLACE = ("--replace", "--force", "-f")
"""Flags for replacing what exists."""

Sessions = Annotated[
    str | None, typer.Option(help="Only these sessions, such as 1,2.", show_default="all")
]
ImageList = Annotated[
    Path | None,
    typer.Option(
        "--images",
        help="Text file with the names of the images to use, one per line.",
        show_default="all",
    ),
]
ModelStimuli = Annotated[
    Path | None,
    typer.Option(
        "--stimuli",
        metavar="FOLDER",
        help="Folder of the images, for scenewalk models trained with them.",
    ),
]


def image_names(path: Path | None) -> tuple[str, ...]:
    """Return the names in a list of images; none without a list."""
    if path is None:
        return ()
    try:
        names = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read as a list of images ({error})", path=path) from error
    found = tuple(name.strip() for name in names if name.strip())
    if not found:
        raise ConfigError("contains no image names", path=path)
    return found


def names_of(text: str | None) -> tuple[str, ...]:
    """Return the names in a comma-separated list."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


Screen = Annotated[
    str | None,
    typer.Option(
        "--screen",
        metavar="WxH",
        help="Screen in pixels: 1920x1080.",
        rich_help_panel=_SCREEN_PANEL,
    ),
]
SizeMm = Annotated[
    str | None,
    typer.Option(
        "--size-mm",
        metavar="WxH",
        help="Visible size of the screen in mm: 535x301.",
        rich_help_panel=_SCREEN_PANEL,
    ),
]
DistanceMm = Annotated[
    str | None,
    typer.Option(
        "--distance-mm",
        metavar="D",
        help="Distance from eye to screen in mm: 600.",
        rich_help_panel=_SCREEN_PANEL,
    ),
]


def geometry_flags(
    screen: str | None, size_mm: str | None, distance_mm: str | None
) -> GeometryFlags:
    """Return the geometry of the three flags."""
    from gazelive.recordings import parse_geometry

    return parse_geometry(screen, size_mm, distance_mm)


Trials = Annotated[
    str | None,
    typer.Option(
        "--trials",
        metavar="NAME|FILE",
        help="How messages mark trials: opensesame, psychopy, experiment-builder, or a TOML file "
        "of patterns (default: gazelive-trials.toml beside the recording, if it is there).",
        rich_help_panel=_TRIALS_PANEL,
        show_default=False,
    ),
]


def _start(default: str) -> Any:
    return typer.Option(
        "--trial-start",
        metavar="PATTERN",
        help="Regular expression for the start of messages that start a trial "
        f"(default: {default}); the rest of the message is the trial's name.",
        rich_help_panel=_TRIALS_PANEL,
        show_default=False,
    )


def _stop(default: str) -> Any:
    return typer.Option(
        "--trial-stop",
        metavar="PATTERN",
        help="Regular expression for the start of messages that stop a trial "
        f"(default: {default}); a trial without one ends at the next start.",
        rich_help_panel=_TRIALS_PANEL,
        show_default=False,
    )


def _onset(default: str) -> Any:
    return typer.Option(
        "--image-onset",
        metavar="PATTERN",
        help="Regular expression for the start of messages at which an image appears "
        f"(default: {default}).",
        rich_help_panel=_TRIALS_PANEL,
        show_default=False,
    )


_MODEL = "as in the model's training"
TrialStart = Annotated[str | None, _start("TRIALID or start_trial")]
TrialStop = Annotated[str | None, _stop("TRIAL_RESULT or stop_trial")]
ImageOnset = Annotated[str | None, _onset("image_onset, DISPLAY ON, SYNCTIME and the like")]
ModelTrialStart = Annotated[str | None, _start(_MODEL)]
"""For commands whose model says how trials are found."""
ModelTrialStop = Annotated[str | None, _stop(_MODEL)]
ModelImageOnset = Annotated[str | None, _onset(_MODEL)]


def trial_patterns(
    source: Path,
    trials: str | None,
    trial_start: str | None,
    trial_stop: str | None,
    image_onset: str | None,
    *,
    quiet: bool,
    usual: TrialPatterns | None = None,
) -> TrialPatterns:
    """Return the patterns for a recording or corpus; `usual` ones are a model's."""
    from gazelive.recordings import DEFAULT_PATTERNS, PatternOptions, find_patterns

    options = PatternOptions(trials, trial_start, trial_stop, image_onset)
    found = find_patterns(options, source, usual or DEFAULT_PATTERNS)
    if found.file is not None:
        say(f"Trials as in {found.file}.", quiet=quiet)
    return found.patterns


def check_table_target(target: Path | None, key: str, inputs: Iterable[Path] = ()) -> None:
    """Raise if a table cannot be written, or would replace an input; `key` is its option."""
    from gazelive.recordings import TABLE_SUFFIXES, has_table_suffix

    if target is None:
        return
    if not has_table_suffix(target):
        raise ConfigError(f"must end in {', '.join(TABLE_SUFFIXES)}, not {target.name!r}", key=key)
    if not target.absolute().parent.is_dir():
        raise ConfigError("there is no such folder; create it first", path=target.parent)
    if target.resolve() in {path.resolve() for path in inputs}:
        raise ConfigError("would overwrite an input; choose another name", path=target)


Model = Annotated[Path | None, typer.Option("--model", help="Model file; without it only events.")]
Images = Annotated[
    list[Path] | None,
    typer.Option(
        "--images",
        metavar="FOLDER",
        help="Folder of the images, for the dashboard and for scenewalk models trained with them; "
        "repeatable.",
    ),
]
Bind = Annotated[
    str | None,
    typer.Option(
        "--bind",
        metavar="ADDRESS",
        help="Address of the engine.",
        show_default="port 5870 of this computer, or any other that is free",
        rich_help_panel=NETWORK,
    ),
]
Connect = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of the engine, or the session folder of the run.",
        show_default="your newest run on this computer",
    ),
]
ClientKeys = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FOLDER",
        help="Keys for the run of another user or computer (gazelive keys).",
        show_default=False,
    ),
]
Keys = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FOLDER",
        help="Keys (gazelive keys), needed if other users or computers may connect.",
        show_default=False,
        rich_help_panel=NETWORK,
    ),
]
Lsl = Annotated[bool, typer.Option("--lsl", help="Also send gaze and posteriors to LSL.")]


def _checked_rate(value: float | None) -> float | None:
    check_rate(value, "--far")
    return value


def _checked_prior(value: float | None) -> float | None:
    check_prior(value, "--stranger-prior")
    return value


def _false_acceptance_rate(**options: Any) -> Any:
    return typer.Option(
        "--far",
        callback=_checked_rate,
        help="False-acceptance rate: share of strangers who are accepted, 0.0001 to 0.5.",
        **options,
    )


def _stranger_prior(**options: Any) -> Any:
    return typer.Option(
        "--stranger-prior",
        callback=_checked_prior,
        help="Probability of a stranger before any evidence, above 0 and below 1.",
        **options,
    )


_FILE = "as the file says"
TrainedFar = Annotated[float, _false_acceptance_rate()]
"""Of a model to be trained."""
Far = Annotated[float | None, _false_acceptance_rate(show_default=_MODEL)]
StrangerPrior = Annotated[float, _stranger_prior()]
FileFar = Annotated[float | None, _false_acceptance_rate(show_default=_FILE)]
"""For commands whose configuration has it."""
FileStrangerPrior = Annotated[float | None, _stranger_prior(show_default=_FILE)]
