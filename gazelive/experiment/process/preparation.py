"""Preparation of a session: the options of `gazelive record`, checked before anything starts."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec

from gazelive.errors import ConfigError, GazeliveError
from gazelive.experiment.config.plausibility import implausibilities
from gazelive.experiment.config.reading import read_config, replay_file, resolved
from gazelive.experiment.config.schema import ExperimentConfig, Tracker
from gazelive.experiment.display.display import Participant
from gazelive.experiment.process.dialogue import (
    ExistingSessions,
    ask_participant,
    session_problem,
    viewer_problem,
)
from gazelive.experiment.process.launch import RunSpec
from gazelive.experiment.process.owner import new_folder
from gazelive.experiment.run import planned
from gazelive.gaze import Eyes
from gazelive.identification import read_model_manifest
from gazelive.live import Addresses, DashboardSettings, LiveSettings, reserve_addresses
from gazelive.observer import Observer
from gazelive.system import has_screen

Mode = Literal["enrol", "identify"]


def prepare(
    config_path: Path,
    observer: Observer,
    *,
    device: str | None = None,
    viewer: str | None = None,
    session: int | None = None,
    eye: str | None = None,
    mode: Mode | None = None,
    model: Path | None = None,
    false_acceptance_rate: float | None = None,
    stranger_prior: float | None = None,
    simulate_as: str | None = None,
    trials: int | None = None,
    seconds: float | None = None,
    out: Path | None = None,
    windowed: bool = False,
    screen: int | None = None,
    dashboard: bool | None = None,
    snapshots: Path | None = None,
    bind: str | None = None,
    keys: Path | None = None,
    lsl: bool = False,
    quiet: bool = False,
) -> RunSpec | None:
    """Return the session that a configuration file and the options of `record` ask for.

    None means the experimenter cancelled the dialogue. Raises if the session cannot run.
    """
    config = with_options(
        read_config(config_path),
        tracker={"device": absolute_replay(device)},
        stimuli={"n_images": trials},
        trial={"image_s": seconds},
        screen={"number": screen},
        output={"folder": None if out is None else str(out.absolute())},
        dashboard={"open": dashboard},
        identify={
            "false_acceptance_rate": false_acceptance_rate,
            "stranger_prior": stranger_prior,
        },
    )
    sessions = resolved(config.output.folder, config_path)
    who = participant(config, sessions, viewer, session, eye, mode or "enrol", simulate_as)
    if who is None:
        return None
    model = chosen_model(config, config_path, model, who.mode, observer)
    shown = config.dashboard
    spec = RunSpec(
        config=config,
        config_path=config_path.absolute(),
        participant=who,
        live=LiveSettings(
            folder=new_folder(sessions, who),
            address=str(reserve_addresses() if bind is None else Addresses.parse(bind)),
            model=model,
            keys=keys,
            lsl=lsl,
            stranger_prior=config.identify.stranger_prior,
            false_acceptance_rate=config.identify.false_acceptance_rate,
            images=(resolved(config.stimuli.folder, config_path),),
            dashboard=DashboardSettings(
                monitor=shown.screen_number,
                beside=config.screen.number,
                hide_viewer=shown.hide_viewer,
            )
            if shown.open
            else None,
        ),
        simulate_as=simulated_viewer(config, who, simulate_as),
        windowed=windowed or not config.screen.full_screen,
        snapshots=None if snapshots is None else snapshots.absolute(),
        quiet=quiet,
    )
    check(spec, {"--trials": trials, "--seconds": seconds, "--eye": eye}, observer)
    return spec


def with_options(config: ExperimentConfig, **tables: dict[str, Any]) -> ExperimentConfig:
    """Return the configuration with the given options in it."""
    for table, values in tables.items():
        given = {key: value for key, value in values.items() if value is not None}
        changed = msgspec.structs.replace(getattr(config, table), **given)
        config = msgspec.structs.replace(config, **{table: changed})
    for keys, reason in implausibilities(config):
        raise ConfigError(reason, key=keys[0])
    return config


def absolute_replay(device: str | None) -> str | None:
    """Return the device; a recording named on the command line is found from here."""
    name = None if device is None else replay_file(device)
    return f"replay:{Path(name).absolute()}" if name else device


def participant(
    config: ExperimentConfig,
    sessions: Path,
    viewer: str | None,
    session: int | None,
    eye: str | None,
    mode: Mode,
    simulate_as: str | None,
) -> Participant | None:
    """Return who takes part, by the options or by a dialogue; None where it was cancelled."""
    eyes = _eyes(eye or config.tracker.eyes)
    taken = ExistingSessions.in_folder(sessions)
    if viewer is None and _asks(config.tracker.device, mode, simulate_as):
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


def _eyes(text: str) -> Eyes:
    match text.upper():
        case "L" | "R" | "LR" as known:
            return known
        case other:
            raise ConfigError(f"must be L, R or LR, not {other!r}", key="--eye")


def _asks(device: str, mode: Mode, simulate_as: str | None) -> bool:
    """Return whether a dialog asks for the participant if no option names one."""
    if device == "simulated":
        return simulate_as is None and mode == "enrol"
    return device == "eyelink"


def simulated_viewer(
    config: ExperimentConfig, who: Participant, simulate_as: str | None
) -> str | None:
    """Return who sits before a simulated tracker, None before any other."""
    if config.tracker.device != "simulated":
        if simulate_as is not None:
            raise ConfigError(
                f"needs --device simulated, not {config.tracker.device}", key="--simulate-as"
            )
        return None
    if simulate_as is None and who.viewer is None:
        raise ConfigError("give the simulated person", key="--simulate-as")
    return simulate_as or who.viewer


def chosen_model(
    config: ExperimentConfig,
    config_path: Path,
    model: Path | None,
    mode: Mode,
    observer: Observer,
) -> Path | None:
    """Return the model to identify with, if any.

    To enrol none is needed: one that the file names and that cannot be used, perhaps because
    these are the first who are enrolled, is done without.
    """
    if model is not None:
        check_model(config.tracker, model, observer)
        return model
    if config.identify.model is not None:
        named = resolved(config.identify.model, config_path)
        try:
            check_model(config.tracker, named, observer)
        except GazeliveError as error:
            if mode == "identify":
                raise
            observer.warn(f"enrolling without a model: {error}")
            return None
        return named
    if mode == "identify":
        raise ConfigError(
            "identification needs a model: gazelive train SESSIONS -o lab.model, then give it "
            "here or as identify.model in the configuration",
            key="--model",
        )
    return None


def check_model(tracker: Tracker, model: Path, observer: Observer) -> tuple[str, ...]:
    """Return the viewers of a model; raise if it cannot be used for the session.

    Warn if it should be trained again.
    """
    manifest = read_model_manifest(model)
    for warning in () if manifest.detector is None else manifest.detector.warnings:
        observer.warn(warning)
    if replay_file(tracker.device) is None:
        manifest.check_rate(float(tracker.sampling_rate_hz))
    return manifest.viewer_ids


def check(spec: RunSpec, left_out: dict[str, object], observer: Observer) -> None:
    """Raise if the session cannot run.

    `left_out` are the options, by name, that have no effect in a replay.
    """
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
    else:
        for name in (name for name, value in left_out.items() if value is not None):
            observer.warn(f"{name} has no effect in a replay")
    if spec.windowed and spec.config.tracker.device == "eyelink":
        observer.warn(
            "gaze is measured on the whole screen, but images in a window are smaller and "
            "elsewhere: the gate and all positions will be wrong; omit --windowed"
        )
    spec.live.check()
    _check_writable(spec.live.folder.parent, "output.folder")
    if spec.snapshots is not None:
        _check_writable(spec.snapshots, "--snapshots")


def _check_writable(folder: Path, key: str) -> None:
    """Raise if a folder cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(
            f"cannot be written to ({error.strerror}); choose another folder",
            path=folder,
            key=key,
        ) from error
