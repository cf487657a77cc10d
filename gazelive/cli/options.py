"""Options that several commands share; `--json` and `--quiet` are in `console`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazelive.errors import ConfigError

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
ModelStimuli = Annotated[
    Path | None,
    typer.Option(
        "--stimuli",
        metavar="FOLDER",
        help="Folder of the images, for scenewalk models trained with them.",
    ),
]


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


TrialStart = Annotated[str | None, _start("TRIALID or start_trial")]
TrialStop = Annotated[str | None, _stop("TRIAL_RESULT or stop_trial")]
ModelTrialStart = Annotated[str | None, _start("as in the model's training")]
"""For commands whose model says how trials are found."""
ModelTrialStop = Annotated[str | None, _stop("as in the model's training")]


def trial_patterns(
    start: str | None, stop: str | None, usual: TrialPatterns | None = None
) -> TrialPatterns:
    """Return the patterns; `usual` ones where none is given. Raise if one is malformed."""
    import msgspec

    from gazelive.recordings import DEFAULT_PATTERNS

    given = {}
    for flag, field, pattern in (("--trial-start", "start", start), ("--trial-stop", "stop", stop)):
        if pattern is None:
            continue
        try:
            re.compile(pattern)
        except re.error as error:
            raise ConfigError(
                f"{pattern!r} is not a regular expression ({error}); put \\ before a literal ( "
                "or another special character",
                key=flag,
            ) from error
        given[field] = pattern
    return msgspec.structs.replace(usual or DEFAULT_PATTERNS, **given)


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
Keys = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FOLDER",
        help="Keys (gazelive keys), needed if other computers may connect.",
        show_default=False,
        rich_help_panel=NETWORK,
    ),
]
Lsl = Annotated[bool, typer.Option("--lsl", help="Also send gaze and posteriors to LSL.")]
