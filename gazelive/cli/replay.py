"""`gazelive replay`: a recording as if it happened now, through everything that a live one goes."""

from __future__ import annotations

import contextlib
import json
import os
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.console import (
    Json,
    Quiet,
    ReportProgress,
    announce_first_compile,
    output,
    progress,
    say,
    warn,
)
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
from gazelive.cli.options import OUT
from gazelive.cli.trial_options import (
    TrialStart,
    TrialStop,
    patterns_of_model,
    trial_patterns,
    warn_of_no_trials,
)
from gazelive.cli.wording import counted

if TYPE_CHECKING:
    from gazelive.engine.child import EngineChild
    from gazelive.engine.options import EngineOptions
    from gazelive.engine.summary import RunSummary
    from gazelive.recordings.geometry import GeometryFlags
    from gazelive.recordings.recording import Recording

N_ENGINES = 4
"""How often an engine may die before the replay is given up."""
CATCH_UP_S = 3600.0
"""How long the engine may take to analyse what was played faster than it could."""


def replay(
    recording_path: Annotated[
        Path,
        typer.Argument(
            metavar="RECORDING", help="An ASC or EDF file, a session folder, or a sample table."
        ),
    ],
    model: Model = None,
    speed: Annotated[
        str, typer.Option(help="Times real time, such as 1 or 10, or max: as fast as possible.")
    ] = "1",
    dashboard: Annotated[
        bool | None,
        typer.Option(
            "--dashboard/--no-dashboard",
            help="Show it.",
            show_default="where there is a screen, unless max",
        ),
    ] = None,
    images: Images = None,
    out: Annotated[
        Path | None,
        typer.Option(
            *OUT, help="The session folder to write.", show_default="replays/NAME-DATE-TIME"
        ),
    ] = None,
    bind: Annotated[
        str | None,
        typer.Option(
            "--bind",
            metavar="ADDRESS",
            help="Where dashboards connect.",
            show_default="any free port",
            rich_help_panel=NETWORK,
        ),
    ] = None,
    keys: Keys = None,
    lsl: Lsl = False,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play a recording through the live path: device, session folder, engine, dashboard.

    Says at the end who it was, when that was clear, and what was written.
    """
    announce_first_compile(quiet=quiet)
    import msgspec

    from gazelive.engine.addresses import free_addresses
    from gazelive.engine.documents_file import read_documents
    from gazelive.engine.summary import summarise
    from gazelive.errors import ConfigError
    from gazelive.recordings.doubts import damage, sentences
    from gazelive.recordings.opening import read_recording
    from gazelive.recordings.session_folder import DOCUMENTS_NAME

    times_real = _speed(speed)
    shows = _can_show() and times_real is not None if dashboard is None else dashboard
    if shows and not _can_show():
        raise ConfigError(
            "there is no screen to open it on, or no Qt (pip install 'gazelive[dashboard]')",
            key="--dashboard",
        )
    flags = geometry_flags(screen, size_mm, distance_mm)
    patterns = trial_patterns(trial_start, trial_stop, patterns_of_model(model))
    folder = out or Path("replays") / f"{_stem(recording_path)}-{datetime.now():%Y%m%d-%H%M%S}"
    options = engine_options(
        folder,
        bind or str(free_addresses()),
        model=model,
        images=images,
        keys=keys,
        lsl=lsl,
        flags=flags,
        patterns=patterns,
        stays=shows,
    )
    with progress(f"Reading {recording_path.name}", quiet=quiet) as report:
        recording = read_recording(recording_path, trial_patterns=patterns, progress=report)
    for sentence in sentences(damage(recording)):
        warn(sentence)
    warn_of_no_trials(recording, patterns)
    flags = _checked(recording, recording_path, flags, model)
    options = msgspec.structs.replace(
        options,
        screen_px=flags.screen_px,
        size_mm=flags.size_mm,
        distance_mm=flags.distance_mm,
    )
    started_s = time.monotonic()
    played_s = _play(recording, options, times_real, shows=shows, quiet=quiet)
    summary = summarise(read_documents(folder / DOCUMENTS_NAME))
    if as_json:
        facts = summary.as_json() | {
            "folder": str(folder),
            "documents": str(folder / DOCUMENTS_NAME),
            "recorded_s": recording.duration_s,
            "played_s": played_s,
            "elapsed_s": time.monotonic() - started_s,
        }
        output.print_json(json.dumps(facts))
    else:
        _tell(summary, recording, folder, played_s)


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


def _checked(
    recording: Recording, path: Path, flags: GeometryFlags, model: Path | None
) -> GeometryFlags:
    """Refuse what cannot work before anything is started; return the screen as flags."""
    from gazelive.detection.parameters import check_rate
    from gazelive.engine.engine_model import load_engine_model
    from gazelive.errors import RecordingError
    from gazelive.gaze.screen import ScreenGeometry
    from gazelive.recordings.corpus import screen_in_corpus
    from gazelive.recordings.geometry import GeometryFlags, find_geometry

    blocks = [block for block in recording.blocks if len(block.samples)]
    if not blocks:
        raise RecordingError("has no samples to replay", path=path)
    corpus_screen = screen_in_corpus(path)
    found = [find_geometry(block, recording, flags, corpus_screen) for block in blocks]
    told = {f.source: f.warning for f in reversed(found) if f.warning is not None}
    for warning in told.values():
        warn(f"{path}: {warning}")
    loaded = load_engine_model(model)
    for rate_hz in dict.fromkeys(block.stream.sampling_rate_hz for block in blocks):
        check_rate(rate_hz)
        if loaded.running is not None:
            loaded.running.check_rate(rate_hz)
    geometry = found[0].geometry
    if found[0].source == "corpus" and isinstance(geometry, ScreenGeometry):
        return GeometryFlags(
            (geometry.width_px, geometry.height_px),
            (geometry.width_mm, geometry.height_mm),
            geometry.eye_distance_mm,
        )
    return flags


def _play(
    recording: Recording,
    options: EngineOptions,
    speed: float | None,
    *,
    shows: bool,
    quiet: bool,
) -> float:
    """Play it and wait for the engine; return how long that took from the first sample on."""
    import msgspec

    from gazelive.clock import MonotonicClock
    from gazelive.devices.replay import ReplayDevice
    from gazelive.engine.addresses import Addresses
    from gazelive.engine.child import EngineChild
    from gazelive.engine.player import own_device
    from gazelive.experiment.launch import DashboardOptions, close_dashboard, open_dashboard
    from gazelive.recordings.session_folder import SessionWriter, manifest_of

    clock = MonotonicClock()
    device = ReplayDevice(recording, clock=clock, speed=speed)
    manifest = msgspec.structs.replace(
        manifest_of(
            recording,
            started_at=datetime.now().astimezone().isoformat(timespec="seconds"),
            config={"replay_of": str(recording.path), "n_trials": len(recording.trials) or None},
        ),
        mode="identify",
        calibrations=(),  # the messages tell them, as they do in a live session
        drift_corrections=(),
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(killed_in_order())
        writer = stack.enter_context(SessionWriter.create(Path(options.folder), manifest))
        engine = stack.enter_context(contextlib.closing(EngineChild(options)))
        window = None
        if shows:
            shown = DashboardOptions(
                screen_number=None, keys=None if options.keys is None else Path(options.keys)
            )
            window = open_dashboard(options.address, [*map(Path, options.images)], shown)
            stack.callback(close_dashboard, window)
        say("Starting the engine …", quiet=quiet)
        engine.wait_ready()
        say(f"Playing to {options.folder} (engine at {options.address}).", quiet=quiet)
        started_s = time.monotonic()
        with progress("Replaying", quiet=quiet) as report:

            def meanwhile() -> None:
                _keep_alive(engine)
                playback = device.playback()
                report(playback.position_s / max(playback.duration_s, 1e-9))

            own_device(
                device, writer, Addresses.parse(options.address), clock=clock, meanwhile=meanwhile
            )
        _wait_for_engine(engine, writer.next_chunk, stays=shows, quiet=quiet)
        played_s = time.monotonic() - started_s
        if window is not None:
            say("The recording is over; close the dashboard to end.", quiet=quiet)
            window.wait()
    return played_s


def _keep_alive(engine: EngineChild) -> None:
    """Start an engine that has died again; it catches up from the folder."""
    from gazelive.errors import TransportError

    if engine.has_failed:
        if engine.n_starts >= N_ENGINES:
            raise TransportError(f"the engine died {N_ENGINES} times: the replay was stopped")
        warn("the engine has died; a new one catches up")
        engine.start_again()


def _wait_for_engine(engine: EngineChild, n_chunks: int, *, stays: bool, quiet: bool) -> None:
    """Wait until it has analysed everything."""
    from gazelive.errors import PeerLostError, TransportError

    deadline_s = time.monotonic() + CATCH_UP_S
    with progress("Analysing", quiet=quiet) as report:
        while time.monotonic() < deadline_s:
            if engine.wait(0.05) and not engine.has_failed:
                return
            _keep_alive(engine)
            try:
                status = engine.ask("status", timeout_s=0.1)  # it may end any moment
            except PeerLostError:
                continue
            if stays and status["state"] == "finished":
                return
            _report(report, status.get("next_chunk", 0), n_chunks)
    raise TransportError("the engine does not come to an end")


def _report(report: ReportProgress, done: int, n_chunks: int) -> None:
    report(min(done / max(n_chunks, 1), 1.0))


def _can_show() -> bool:
    """Say whether a dashboard can be opened."""
    from importlib.util import find_spec

    from gazelive.experiment.virtual_display import has_screen

    if find_spec("PyQt6") is None or find_spec("pyqtgraph") is None:
        return False
    return has_screen() or "QT_QPA_PLATFORM" in os.environ


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rsplit(".", 1)[0] or "recording"


def _tell(summary: RunSummary, recording: Recording, folder: Path, played_s: float) -> None:
    from gazelive.cli.record_text import identified
    from gazelive.recordings.session_folder import DOCUMENTS_NAME, JOURNAL_NAME

    for warning in summary.warnings:
        if "approximate" not in warning:  # that was told at the beginning
            warn(warning)
    output.print(
        f"{counted(summary.n_settled_saccades, 'saccade')} in "
        f"{counted(summary.n_intervals, 'interval')}; {recording.duration_s:.0f} s played in "
        f"{played_s:.1f} s ({recording.duration_s / max(played_s, 1e-9):.0f}×)."
    )
    if summary.n_lost_samples:
        output.print(f"{counted(summary.n_lost_samples, 'sample')} never arrived.")
    for line in identified(summary):
        output.print(line, markup=False)
    for level, crossing in summary.crossed.items():
        when = "never"
        if crossing is not None:
            when = f"after {crossing.seconds:.1f} s and {counted(crossing.n_saccades, 'saccade')}"
        output.print(f"  {level:.0%} passed {when}")
    output.print(f"Wrote {folder / JOURNAL_NAME} and {folder / DOCUMENTS_NAME}.", markup=False)
