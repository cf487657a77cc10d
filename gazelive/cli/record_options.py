"""What the options of `gazelive record` ask for, checked before anything is started."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gazelive.cli.console import warn
from gazelive.errors import ConfigError, GazeliveError

if TYPE_CHECKING:
    from gazelive.config.schema import ExperimentConfig
    from gazelive.experiment.display import Participant
    from gazelive.experiment.spec import RunSpec
    from gazelive.gaze.samples import Eyes

Mode = Literal["enrol", "identify"]


def with_options(config: ExperimentConfig, **tables: dict[str, Any]) -> ExperimentConfig:
    """Return the configuration with what the options say in its place."""
    import msgspec

    from gazelive.config.plausibility import doubts

    for table, values in tables.items():
        given = {key: value for key, value in values.items() if value is not None}
        changed = msgspec.structs.replace(getattr(config, table), **given)
        config = msgspec.structs.replace(config, **{table: changed})
    for keys, reason in doubts(config):
        raise ConfigError(reason, key=keys[0])
    return config


def absolute_replay(device: str | None) -> str | None:
    """Return the device; a recording named on the command line is found from here."""
    from gazelive.config.reading import replay_file

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
    from gazelive.experiment.dialogue import (
        TakenSessions,
        ask_participant,
        session_problem,
        viewer_problem,
    )
    from gazelive.experiment.display import Participant

    eyes = _eyes(eye or config.tracker.eyes)
    taken = TakenSessions.in_folder(sessions)
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
    """Say whether a dialogue is to ask who takes part, where no option says it."""
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
        raise ConfigError("say who sits before the simulated tracker", key="--simulate-as")
    return simulate_as or who.viewer


def chosen_model(
    config: ExperimentConfig, config_path: Path, model: Path | None, mode: Mode
) -> Path | None:
    """Return the model to identify with, if any.

    To enrol none is needed: one that the file names and that cannot be used, perhaps because
    these are the first who are enrolled, is done without.
    """
    from gazelive.config.reading import resolved

    if model is not None:
        _check_model(config, model)
        return model
    if config.identify.model is not None:
        named = resolved(config.identify.model, config_path)
        try:
            _check_model(config, named)
        except GazeliveError as error:
            if mode == "identify":
                raise
            warn(f"enrolling without a model: {error}")
            return None
        return named
    if mode == "identify":
        raise ConfigError(
            "to identify somebody a model is needed: gazelive train SESSIONS -o lab.model, then "
            "give it here or as identify.model in the file",
            key="--model",
        )
    return None


def _check_model(config: ExperimentConfig, model: Path) -> None:
    """Refuse what cannot be used before anybody sits down."""
    from gazelive.engine.engine_model import load_engine_model

    loaded = load_engine_model(model)
    is_live = not config.tracker.device.startswith("replay:")
    if loaded.running is not None and is_live:
        loaded.running.check_rate(float(config.tracker.sampling_rate_hz))


def check(spec: RunSpec, *, left_out: dict[str, object]) -> None:
    """Refuse what cannot work before anything is started.

    `left_out` are options that mean nothing in a replay, by their names: given ones are told.
    """
    from importlib.util import find_spec

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
    else:
        for name in (name for name, value in left_out.items() if value is not None):
            warn(f"{name} means nothing here: a replay is as it was recorded")
    if spec.windowed and spec.config.tracker.device == "eyelink":
        warn(
            "gaze is measured on the whole screen, and images in a window are smaller and "
            "elsewhere: the gate and all positions will be wrong; leave out --windowed to record"
        )
    _check_writable(Path(spec.folder).parent, "output.folder")
    if spec.snapshots is not None:
        _check_writable(Path(spec.snapshots), "--snapshots")


def _check_writable(folder: Path, key: str) -> None:
    """Refuse a folder in which nothing can be written, before anybody is calibrated."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(
            f"nothing can be written there ({error.strerror}): choose another folder",
            path=folder,
            key=key,
        ) from error
