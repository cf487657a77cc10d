"""`gazelive run`: the engine of a live session."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.terminal.console import Quiet, announce_first_compile, say
from gazelive.cli.terminal.options import (
    NETWORK,
    DistanceMm,
    Far,
    ImageOnset,
    Images,
    Keys,
    Lsl,
    Model,
    Screen,
    SizeMm,
    StrangerPrior,
    Trials,
    TrialStart,
    TrialStop,
    geometry_flags,
    trial_patterns,
)
from gazelive.live import DEFAULT_ADDRESS
from gazelive.verdict import STRANGER_PRIOR


def run(
    session: Annotated[
        Path,
        typer.Option("--session", help="Session folder; it may not exist yet."),
    ],
    model: Model = None,
    far: Far = None,
    stranger_prior: StrangerPrior = STRANGER_PRIOR,
    images: Images = None,
    bind: Annotated[
        str,
        typer.Option(
            "--bind",
            metavar="ADDRESS",
            help="Address of the engine.",
            rich_help_panel=NETWORK,
        ),
    ] = DEFAULT_ADDRESS,
    keys: Keys = None,
    lsl: Lsl = False,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trials: Trials = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    image_onset: ImageOnset = None,
    quiet: Quiet = False,
) -> None:
    """Run the engine of a session: detect saccades, identify the viewer, feed dashboards.

    Start it before or during the experiment. If it ends, start it again: it catches up from the
    session folder.
    """
    from gazelive.system import limit_to_one_thread

    limit_to_one_thread()  # before anything heavy is imported
    announce_first_compile(quiet=quiet)
    from gazelive.errors import ConfigError
    from gazelive.live import Addresses, LiveSettings, run_engine
    from gazelive.recordings import is_session_folder
    from gazelive.system import killed_in_order

    if session.exists() and not session.is_dir():
        raise ConfigError("is a file, not a session folder", path=session)
    flags = geometry_flags(screen, size_mm, distance_mm)
    flags.check()
    settings = LiveSettings(
        folder=session,
        address=str(Addresses.parse(bind)),
        model=model,
        stranger_prior=stranger_prior,
        false_acceptance_rate=far,
        images=tuple(images or ()),
        keys=keys,
        lsl=lsl,
        geometry=flags,
        patterns=trial_patterns(session, trials, trial_start, trial_stop, image_onset, quiet=quiet),
    )
    settings.check()
    say("Warming up …", quiet=quiet)
    if not is_session_folder(session):
        say(f"No session in {session} yet: waiting for it (Ctrl-C to stop).", quiet=quiet)
    with killed_in_order():
        reason = run_engine(settings, lambda text: say(text, quiet=quiet))
    say(f"Ended: {reason}.", quiet=quiet)
