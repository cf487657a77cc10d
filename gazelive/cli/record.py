"""`gazelive record`: a session in the lab, or the same with a simulated or replayed tracker."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, say
from gazelive.cli.options import OUT

_WHO, _WHAT, _WINDOW = "Who takes part", "What is shown", "Windows"


def record(
    config_path: Annotated[
        Path,
        typer.Argument(metavar="EXPERIMENT.toml", help="Made by gazelive config init."),
    ],
    device: Annotated[
        str | None,
        typer.Option(help="eyelink, simulated, or replay:FILE.", show_default="as the file says"),
    ] = None,
    viewer: Annotated[
        str | None,
        typer.Option(help="Id of the participant; given, no dialogue asks.", rich_help_panel=_WHO),
    ] = None,
    session: Annotated[
        int | None,
        typer.Option(min=1, help="Number.", show_default="the next free", rich_help_panel=_WHO),
    ] = None,
    eye: Annotated[
        str | None,
        typer.Option(help="L, R or LR.", show_default="as the file says", rich_help_panel=_WHO),
    ] = None,
    mode: Annotated[
        Literal["enrol", "identify"] | None,
        typer.Option(
            help="Record for training, or say who it is.",
            show_default="enrol",
            rich_help_panel=_WHO,
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Made by gazelive train; to identify.", show_default="as the file says"),
    ] = None,
    simulate_as: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Who sits before the simulated tracker.", show_default="the viewer"
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Show so many images.", rich_help_panel=_WHAT),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, help="Show each image so long.", rich_help_panel=_WHAT),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(*OUT, help="Folder of sessions.", show_default="as the file says"),
    ] = None,
    windowed: Annotated[
        bool,
        typer.Option("--windowed", help="In a window, not full screen.", rich_help_panel=_WINDOW),
    ] = False,
    screen: Annotated[
        int | None,
        typer.Option(min=0, help="The participant's screen.", rich_help_panel=_WINDOW),
    ] = None,
    dashboard: Annotated[
        bool | None,
        typer.Option(
            "--dashboard/--no-dashboard",
            help="Open the experimenter's window.",
            show_default="as the file says",
            rich_help_panel=_WINDOW,
        ),
    ] = None,
    snapshots: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Save a picture of each kind of scene (costs frames).",
            rich_help_panel=_WINDOW,
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment with its tracker, engine and dashboard, and stop them together.

    The experimenter's keys: SPACE goes on, S skips, R repeats, C calibrates, P pauses, ESC ends.
    Whatever ends a session, everything is saved.
    """
    from gazelive.cli import record_options as wanted
    from gazelive.cli.record_text import tell
    from gazelive.config.reading import read_config, resolved
    from gazelive.engine.addresses import free_addresses
    from gazelive.experiment.launch import DashboardOptions, launch
    from gazelive.experiment.spec import RunSpec

    config = wanted.with_options(
        read_config(config_path),
        tracker={"device": wanted.absolute_replay(device)},
        stimuli={"n_images": trials},
        trial={"image_s": seconds},
        screen={"number": screen},
        output={"folder": None if out is None else str(out.absolute())},
        dashboard={"open": dashboard},
    )
    sessions = resolved(config.output.folder, config_path)
    who = wanted.participant(config, sessions, viewer, session, eye, mode or "enrol", simulate_as)
    if who is None:
        say("Cancelled; nothing was recorded.", quiet=quiet)
        raise typer.Exit(1)
    model = wanted.chosen_model(config, config_path, model, who.mode)
    stamp = f"{datetime.now():%Y%m%d-%H%M%S}"
    spec = RunSpec(
        config=config,
        config_path=str(config_path.absolute()),
        participant=who,
        folder=str(sessions / f"{who.viewer or 'identify'}-{who.session:02}-{stamp}"),
        address=str(free_addresses()),
        simulate_as=wanted.simulated_viewer(config, who, simulate_as),
        windowed=windowed or not config.screen.full_screen,
        snapshots=None if snapshots is None else str(snapshots.absolute()),
        quiet=quiet or as_json,
    )
    wanted.check(spec, left_out={"--trials": trials, "--seconds": seconds, "--eye": eye})
    announce_first_compile(quiet=quiet, elsewhere="online_kernels")
    shown = None
    if config.dashboard.open:
        shown = DashboardOptions(config.dashboard.screen_number, config.dashboard.hide_viewer)
    launched = launch(
        spec,
        resolved(config.script, config_path),
        model=model,
        dashboard=shown,
        say=lambda text: say(text, quiet=quiet),
    )
    tell(launched, Path(spec.folder), who, model, as_json=as_json)
    raise typer.Exit(launched.exit_code if launched.exit_code >= 0 else 1)  # a signal is below 0
