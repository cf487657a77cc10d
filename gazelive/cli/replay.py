"""`gazelive replay`: a recording played through the live path."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.terminal.console import (
    Json,
    Quiet,
    Terminal,
    announce_first_compile,
    output,
    reached,
    warn,
)
from gazelive.cli.terminal.options import (
    OUT,
    Bind,
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
from gazelive.verdict import STRANGER_PRIOR
from gazelive.wording import counted

if TYPE_CHECKING:
    from gazelive.live import Replayed


def replay(
    recording_path: Annotated[
        Path,
        typer.Argument(
            metavar="RECORDING", help="An ASC or EDF file, a session folder, or a sample table."
        ),
    ],
    model: Model = None,
    far: Far = None,
    stranger_prior: StrangerPrior = STRANGER_PRIOR,
    speed: Annotated[
        str, typer.Option(help="Multiple of real time, such as 1 or 10, or max.")
    ] = "1",
    dashboard: Annotated[
        bool | None,
        typer.Option(
            "--dashboard/--no-dashboard",
            help="Open a dashboard.",
            show_default="if there is a screen, unless max",
        ),
    ] = None,
    images: Images = None,
    out: Annotated[
        Path | None,
        typer.Option(*OUT, help="Session folder to write.", show_default="replays/NAME-DATE-TIME"),
    ] = None,
    bind: Bind = None,
    keys: Keys = None,
    lsl: Lsl = False,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trials: Trials = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    image_onset: ImageOnset = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play a recording through the live path: device, session folder, engine, dashboard.

    Prints the identification, when it was reached, and the files written.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.errors import ConfigError
    from gazelive.identification import read_model_manifest, trial_patterns_of
    from gazelive.live import (
        Addresses,
        DashboardSettings,
        LiveSettings,
        replay_recording,
        reserve_addresses,
    )

    times_real = _speed(speed)
    shows = _can_show() and times_real is not None if dashboard is None else dashboard
    if shows and not _can_show():
        raise ConfigError(
            "needs a screen and Qt (pip install 'gazelive[dashboard]')",
            key="--dashboard",
        )
    flags = geometry_flags(screen, size_mm, distance_mm)
    manifest = None if model is None else read_model_manifest(model)
    usual = None if manifest is None else trial_patterns_of(manifest)
    for text in () if manifest is None or manifest.detector is None else manifest.detector.warnings:
        warn(text)
    stamp = f"{datetime.now():%Y%m%d-%H%M%S}"
    replayed = replay_recording(
        recording_path,
        LiveSettings(
            folder=out or Path("replays") / f"{_stem(recording_path)}-{stamp}",
            address=str(reserve_addresses() if bind is None else Addresses.parse(bind)),
            model=model,
            stranger_prior=stranger_prior,
            false_acceptance_rate=far,
            images=tuple(images or ()),
            keys=keys,
            lsl=lsl,
            geometry=flags,
            patterns=trial_patterns(
                recording_path,
                trials,
                trial_start,
                trial_stop,
                image_onset,
                quiet=quiet,
                usual=usual,
            ),
            stays=shows,
            dashboard=DashboardSettings() if shows else None,
        ),
        speed=times_real,
        model=manifest,
        observer=Terminal(quiet=quiet),
    )
    if as_json:
        output.print_json(json.dumps(replayed.as_json()))
    else:
        _tell(replayed)
    if replayed.was_interrupted:
        raise KeyboardInterrupt


def _speed(text: str) -> float | None:
    from gazelive.errors import ConfigError

    if text == "max":
        return None
    try:
        speed = float(text.removesuffix("x").removesuffix("×"))
    except ValueError:
        speed = 0.0
    if not 0 < speed < 1e6:
        raise ConfigError(f"must be a number such as 1 or 10, or max, not {text!r}", key="--speed")
    return speed


def _can_show() -> bool:
    """Return whether a dashboard can be opened."""
    from importlib.util import find_spec

    from gazelive.system import has_screen

    if find_spec("PyQt6") is None or find_spec("pyqtgraph") is None:
        return False
    return has_screen() or "QT_QPA_PLATFORM" in os.environ


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rsplit(".", 1)[0] or "recording"


def _tell(replayed: Replayed) -> None:
    from gazelive.cli.record import identified
    from gazelive.recordings import JOURNAL_NAME

    summary, recorded_s, played_s = replayed.summary, replayed.recorded_s, replayed.played_s
    for warning in summary.warnings:
        if "approximate" not in warning:  # printed at the beginning
            warn(warning)
    output.print(
        f"{counted(summary.n_settled_saccades, 'saccade')} in "
        f"{counted(summary.n_intervals, 'interval')}; {recorded_s:.0f} s played in "
        f"{played_s:.1f} s ({recorded_s / max(played_s, 1e-9):.0f}×)."
    )
    if summary.n_lost_samples:
        output.print(f"{counted(summary.n_lost_samples, 'sample')} lost.")
    for line in identified(summary):
        output.print(line, markup=False)
    for level, crossing in summary.crossed.items():
        output.print(f"  {reached(level, crossing)}")
    output.print(f"Wrote {replayed.folder / JOURNAL_NAME} and {replayed.documents}.", markup=False)
