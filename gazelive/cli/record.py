"""`gazelive record`: a session in the lab, or the same with a simulated or replayed tracker."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, output, say, warn
from gazelive.cli.wording import counted

if TYPE_CHECKING:
    from gazelive.config.schema import ExperimentConfig
    from gazelive.experiment.display import Participant
    from gazelive.experiment.launch import Launched
    from gazelive.experiment.spec import RunSpec
    from gazelive.gaze.samples import Eyes

DIED = "it was never closed (its process died, or the disk is full); what came is on disk"
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
        typer.Option(help="Folder of sessions.", show_default="as the file says"),
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
    from gazelive.config.reading import read_config, resolved
    from gazelive.engine.addresses import free_addresses
    from gazelive.experiment.launch import DashboardOptions, launch
    from gazelive.experiment.spec import RunSpec

    config = _with_options(
        read_config(config_path),
        tracker={"device": _absolute_replay(device)},
        stimuli={"n_images": trials},
        trial={"image_s": seconds},
        screen={"number": screen},
        output={"folder": None if out is None else str(out.absolute())},
        dashboard={"open": dashboard},
    )
    sessions = resolved(config.output.folder, config_path)
    who = _participant(config, sessions, viewer, session, eye, mode, simulate_as)
    if who is None:
        say("Cancelled; nothing was recorded.", quiet=quiet)
        raise typer.Exit(1)
    model = _model(config, config_path, model, who)
    stamp = f"{datetime.now():%Y%m%d-%H%M%S}"
    spec = RunSpec(
        config=config,
        config_path=str(config_path.absolute()),
        participant=who,
        folder=str(sessions / f"{who.viewer or 'identify'}-{who.session:02}-{stamp}"),
        address=str(free_addresses()),
        simulate_as=_simulated(config, who, simulate_as),
        windowed=windowed or not config.screen.full_screen,
        snapshots=None if snapshots is None else str(snapshots.absolute()),
        quiet=quiet or as_json,
    )
    _check(spec)
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
    _tell(launched, Path(spec.folder), who, model, as_json=as_json)
    raise typer.Exit(launched.exit_code if launched.exit_code >= 0 else 1)  # a signal is below 0


def _with_options(config: ExperimentConfig, **tables: dict[str, Any]) -> ExperimentConfig:
    """Return the configuration with what the options say in its place."""
    import msgspec

    from gazelive.config.plausibility import doubts
    from gazelive.errors import ConfigError

    for table, values in tables.items():
        given = {key: value for key, value in values.items() if value is not None}
        changed = msgspec.structs.replace(getattr(config, table), **given)
        config = msgspec.structs.replace(config, **{table: changed})
    for keys, reason in doubts(config):
        raise ConfigError(reason, key=keys[0])
    return config


def _absolute_replay(device: str | None) -> str | None:
    """Return the device; a recording named on the command line is found from here."""
    from gazelive.config.reading import replay_file

    name = None if device is None else replay_file(device)
    return f"replay:{Path(name).absolute()}" if name else device


def _participant(
    config: ExperimentConfig,
    sessions: Path,
    viewer: str | None,
    session: int | None,
    eye: str | None,
    mode: Literal["enrol", "identify"] | None,
    simulate_as: str | None,
) -> Participant | None:
    """Return who takes part, by the options or by a dialogue; None where it was cancelled."""
    from gazelive.errors import ConfigError
    from gazelive.experiment.dialogue import (
        TakenSessions,
        ask_participant,
        session_problem,
        viewer_problem,
    )
    from gazelive.experiment.display import Participant

    match (eye or config.tracker.eyes).upper():
        case "L" | "R" | "LR" as known:
            eyes: Eyes = known
        case other:
            raise ConfigError(f"must be L, R or LR, not {other!r}", key="--eye")
    mode = mode or "enrol"
    taken = TakenSessions.in_folder(sessions)
    if viewer is None and config.tracker.device == "eyelink":
        number = session or taken.next_free(None)
        proposed = Participant(viewer=None, session=number, eyes=eyes, mode=mode)
        return ask_participant(proposed, folder=sessions)
    if viewer is None and mode == "enrol":
        viewer = simulate_as
    problem = viewer_problem(viewer or "", mode)
    if problem is not None:
        raise ConfigError(problem, key="--viewer")
    if session is not None and mode == "enrol":
        problem = session_problem(viewer or "", session, taken)
        if problem is not None:
            raise ConfigError(problem, key="--session")
    # a simulated person comes on another day than those on which they were enrolled
    known_as = {viewer, simulate_as} - ({None} if mode == "enrol" else set())
    number = session or max(taken.next_free(name) for name in known_as)
    return Participant(viewer=viewer, session=number, eyes=eyes, mode=mode)


def _simulated(config: ExperimentConfig, who: Participant, simulate_as: str | None) -> str | None:
    from gazelive.errors import ConfigError

    if config.tracker.device != "simulated":
        if simulate_as is not None:
            raise ConfigError(
                f"needs --device simulated, not {config.tracker.device}", key="--simulate-as"
            )
        return None
    if simulate_as is None and who.viewer is None:
        raise ConfigError("say who sits before the simulated tracker", key="--simulate-as")
    return simulate_as or who.viewer


def _model(
    config: ExperimentConfig, config_path: Path, model: Path | None, who: Participant
) -> Path | None:
    """Return the model to identify with, if any; to enrol none is needed."""
    from gazelive.config.reading import resolved
    from gazelive.engine.engine_model import load_engine_model
    from gazelive.errors import ConfigError

    if model is None and config.identify.model is not None:
        model = resolved(config.identify.model, config_path)
    if model is None and who.mode == "identify":
        raise ConfigError(
            "to identify somebody a model is needed: gazelive train SESSIONS -o lab.model, then "
            "give it here or as identify.model in the file",
            key="--model",
        )
    if model is not None:
        loaded = load_engine_model(model)  # what cannot be used is refused before anybody sits down
        is_live = not config.tracker.device.startswith("replay:")
        if loaded.running is not None and is_live:
            loaded.running.check_rate(float(config.tracker.sampling_rate_hz))
    return model


def _check(spec: RunSpec) -> None:
    """Refuse what cannot work before anything is started."""
    from importlib.util import find_spec

    from gazelive.errors import ConfigError
    from gazelive.experiment.run import planned
    from gazelive.experiment.virtual_display import has_screen

    if find_spec("psychopy") is None:
        raise ConfigError(
            "PsychoPy is not installed: python -m pip install 'gazelive[experiment,eyelink]'"
        )
    if not has_screen():
        raise ConfigError(
            "there is no screen to show images on (DISPLAY is not set): run it on a desktop, or "
            "under xvfb-run"
        )
    if spec.replayed is None:
        planned(spec, None)
    elif not spec.replayed.exists():
        raise ConfigError("there is no such recording", path=spec.replayed, key="--device")
    if spec.windowed and spec.config.tracker.device == "eyelink":
        warn(
            "gaze is measured on the whole screen, and images in a window are smaller and "
            "elsewhere: the gate and all positions will be wrong; leave out --windowed to record"
        )


def _tell(
    launched: Launched, folder: Path, who: Participant, model: Path | None, *, as_json: bool
) -> None:
    """Say what was recorded, how it went and what to do next."""
    manifest, summary = launched.manifest, launched.summary
    if manifest is None:
        warn("The session was never begun; nothing was written.")
        return
    outcome = manifest.config.get("outcome", {})
    if as_json:
        facts = {
            "session": str(folder),
            "viewer": manifest.viewer,
            "mode": manifest.mode,
            "reason": manifest.stop_reason or DIED,
            **outcome,
            "identified": None if summary is None else summary.as_json(),
        }
        output.print_json(json.dumps(facts))
        return
    trials = [what for _, _, what in outcome.get("trials", [])]
    frames = outcome.get("frames", {})
    reason = manifest.stop_reason or DIED
    output.print(f"Ended: {reason.rstrip('.')}.", markup=False)
    told = ", ".join(f"{trials.count(what)} {what}" for what in dict.fromkeys(trials))
    if outcome:
        output.print(f"{counted(len(trials), 'trial')}: {told or 'none'}.", markup=False)
    if frames.get("n"):
        synced = "" if frames.get("synced") else " (paced by the clock: the screen gave no sync)"
        output.print(
            f"Frames: {frames['n']}, {frames['dropped']} dropped; {frames['median_ms']:.1f} ms on "
            f"average, {frames['worst_ms']:.1f} ms at worst{synced}.",
            markup=False,
        )
    shown_ms, delay_ms = outcome.get("image_ms"), outcome.get("onset_delay_ms")
    if shown_ms and delay_ms:
        output.print(
            f"Images were on the screen for {shown_ms['median']:.1f} ms "
            f"({shown_ms['min']:.1f} to {shown_ms['max']:.1f}), {delay_ms['median']:.1f} ms after "
            f"the gate (at most {delay_ms['max']:.1f}).",
            markup=False,
        )
    if summary is not None and summary.best is not None and summary.p is not None:
        unknown = "" if summary.unknown is None else f"; a stranger: {summary.unknown:.1%}"
        output.print(
            f"Most probably {summary.best}: {summary.p:.1%} after "
            f"{counted(summary.n_saccades, 'saccade')}{unknown}.",
            markup=False,
        )
    output.print(f"Wrote {folder}", markup=False)
    host_file = manifest.config.get("host_file")
    if host_file and not any(folder.glob("*.edf")):
        warn(f"the EDF was not fetched: it is on the Host PC as {host_file}")
    following = (
        f"gazelive train {_quoted(folder.parent)} -o lab.model"
        if who.mode == "enrol"
        else f"gazelive identify {_quoted(model or Path('lab.model'))} {_quoted(folder)}"
    )
    output.print(f"Next: gazelive session report {_quoted(folder)}   ·   {following}", markup=False)


def _quoted(path: Path) -> str:
    """Return a path as any shell takes it."""
    return f'"{path}"' if " " in str(path) else str(path)
