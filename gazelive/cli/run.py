"""`gazelive run`: the engine of a live session."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.console import Quiet, announce_first_compile, say
from gazelive.cli.engine_options import (
    NETWORK,
    Images,
    Keys,
    Lsl,
    Model,
    engine_options,
    killed_in_order,
)
from gazelive.cli.geometry_options import DistanceMm, Screen, SizeMm, geometry_flags
from gazelive.cli.trial_options import TrialStart, TrialStop, trial_patterns
from gazelive.engine.addresses import DEFAULT_ADDRESS


def run(
    session: Annotated[
        Path,
        typer.Option("--session", help="The session's folder; it may not be there yet."),
    ],
    model: Model = None,
    images: Images = None,
    bind: Annotated[
        str,
        typer.Option(
            "--bind",
            metavar="ADDRESS",
            help="Where others find the engine.",
            rich_help_panel=NETWORK,
        ),
    ] = DEFAULT_ADDRESS,
    keys: Keys = None,
    lsl: Lsl = False,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    quiet: Quiet = False,
) -> None:
    """Watch a session while it is recorded: find saccades, say who it is, tell the dashboard.

    Start it before the experiment or in the middle of it; if it is ended, start it again: it
    catches up from the session's folder.
    """
    from gazelive.engine.threads import hold_to_one_thread

    hold_to_one_thread()  # before anything heavy is imported
    announce_first_compile(quiet=quiet)
    from gazelive.engine.options import run_engine
    from gazelive.errors import ConfigError
    from gazelive.recordings.session_folder import is_session_folder

    if session.exists() and not session.is_dir():
        raise ConfigError("is a file: name the folder of a session", path=session)
    flags = geometry_flags(screen, size_mm, distance_mm)
    flags.check()
    options = engine_options(
        session,
        bind,
        model=model,
        images=images,
        keys=keys,
        lsl=lsl,
        flags=flags,
        patterns=trial_patterns(trial_start, trial_stop),
    )
    say("Warming up …", quiet=quiet)
    if not is_session_folder(session):
        say(f"No session in {session} yet: the engine waits for it (Ctrl-C ends it).", quiet=quiet)
    with killed_in_order():
        reason = run_engine(options, lambda text: say(text, quiet=quiet))
    say(f"Ended: {reason}.", quiet=quiet)
