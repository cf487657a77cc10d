"""A session's processes: engine, dashboard and experiment, started and stopped together."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gazelive.engine.addresses import Addresses
from gazelive.engine.child import EngineChild
from gazelive.engine.documents_file import read_documents
from gazelive.engine.keys import own_keys
from gazelive.engine.options import EngineOptions
from gazelive.engine.summary import RunSummary, summarise
from gazelive.engine.threads import one_thread_environment
from gazelive.errors import ConfigError, RecordingError
from gazelive.experiment.ending import OWN_GROUP, EndWishes, pass_on
from gazelive.experiment.spec import RUN_FLAG, RunSpec, encode_spec
from gazelive.experiment.virtual_display import has_screen
from gazelive.recordings.session_folder import (
    DOCUMENTS_NAME,
    SessionManifest,
    is_session_folder,
    read_manifest,
)

LOOK_S = 0.2
"""How often it is looked whether all are alive."""
ENGINE_END_S = 60.0
DASHBOARD_END_S, HASTY_S = 20.0, 3.0
"""How long the dashboard may take for its figure, and where Ctrl-C wants the end."""
N_ENGINES = 4
"""How often an engine may die; then the recording goes on without it."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class DashboardOptions:
    """How the dashboard is opened."""

    screen_number: int | None = 0
    """None: the last."""
    hide_viewer: bool = False
    save: Path | None = None
    """A figure to save at the end, after which it closes by itself."""
    size: str | None = None
    keys: Path | None = None
    """Of the engine, where it wants any; made for this computer if need be."""


@dataclass(frozen=True)
class Launched:
    """What came of it."""

    exit_code: int
    """The experiment's."""
    manifest: SessionManifest | None
    """None where the session was never begun."""
    summary: RunSummary | None
    """None where the engine left nothing."""
    was_interrupted: bool = False
    """Whether Ctrl-C or the like ended it."""


def launch(
    spec: RunSpec,
    script: Path,
    *,
    model: Path | None,
    dashboard: DashboardOptions | None,
    say: Say,
    report: Callable[[], None] = lambda: None,
) -> Launched:
    """Run a session to its end; what was started is ended, whatever happens.

    `report` is called again and again meanwhile.
    """
    if not script.is_file():
        raise ConfigError("there is no such experiment", path=script, key="script")
    assert spec.address is not None
    options = EngineOptions(
        folder=spec.folder,
        address=spec.address,
        model=None if model is None else str(model),
        images=(str(spec.stimuli),),
    )
    window: subprocess.Popen[bytes] | None = None
    experiment: subprocess.Popen[bytes] | None = None
    with EndWishes() as wishes:
        say("Starting the engine …")
        engine = EngineChild(options)
        try:
            # it opens its window meanwhile, and begins when the engine is ready
            command = [sys.executable, str(script), RUN_FLAG, encode_spec(spec)]
            with wishes.kept_from_children():
                if dashboard is not None:
                    window = open_dashboard(spec.address, [spec.stimuli], dashboard)
                experiment = subprocess.Popen(
                    command, env=one_thread_environment(), creationflags=OWN_GROUP
                )
            engine = _watch(experiment, engine, options, wishes, say, report)
            _let_settle(engine, Path(spec.folder), wishes)
            if window is not None and dashboard is not None and dashboard.save is not None:
                _let_save(window, Path(spec.folder), wishes)
        finally:
            if experiment is not None and experiment.poll() is None:
                experiment.terminate()
            engine.close()
            if window is not None:
                close_dashboard(window)
    launched = _result(experiment.returncode, Path(spec.folder))
    return replace(launched, was_interrupted=wishes.count > 0)


def _watch(
    experiment: subprocess.Popen[bytes],
    engine: EngineChild,
    options: EngineOptions,
    wishes: EndWishes,
    say: Say,
    report: Callable[[], None],
) -> EngineChild:
    """Wait for the experiment's end; an engine that dies is started again, and catches up."""
    n_engines, n_heard = 1, 0
    while experiment.poll() is None:
        time.sleep(LOOK_S)
        report()
        if wishes.count > n_heard:
            if n_heard:
                experiment.kill()
            else:
                say("Ending the session in order (Ctrl-C again: at once) …")
                pass_on(experiment)
            n_heard = wishes.count
        if engine.has_ended and n_engines < N_ENGINES and not _is_over(Path(options.folder)):
            n_engines += 1
            if n_engines == N_ENGINES:
                say("The engine dies again and again: the recording goes on without it.")
                continue
            say("The engine has died; a new one catches up. The recording is not touched.")
            engine.close()
            engine = EngineChild(options)
    return engine


def _let_settle(engine: EngineChild, folder: Path, wishes: EndWishes) -> None:
    """Wait for the engine's last words; of a session that was never closed there are none."""
    deadline_s = time.monotonic() + (ENGINE_END_S if _is_over(folder) else 0.0)
    n_heard = wishes.count
    while time.monotonic() < deadline_s and wishes.count == n_heard:
        if engine.wait(LOOK_S):
            return


def _let_save(window: subprocess.Popen[bytes], folder: Path, wishes: EndWishes) -> None:
    """Wait for the dashboard's figure, after which it closes; not long where the end is wanted."""
    patience_s = HASTY_S if wishes.count else DASHBOARD_END_S
    deadline_s = time.monotonic() + (patience_s if _is_over(folder) else 0.0)
    n_heard = wishes.count
    while window.poll() is None and time.monotonic() < deadline_s and wishes.count == n_heard:
        time.sleep(LOOK_S)


def _is_over(folder: Path) -> bool:
    """Say whether the session is closed: then an engine ends by itself."""
    try:
        return is_session_folder(folder) and read_manifest(folder).finished_at is not None
    except RecordingError:  # on Windows nobody can read it while it is being replaced
        return False


def open_dashboard(
    address: str, images: Sequence[Path], options: DashboardOptions
) -> subprocess.Popen[bytes]:
    """Start the dashboard; without a screen it draws for its figure alone."""
    here = str(Addresses.parse(address).here)
    command = [sys.executable, "-m", "gazelive", "dashboard", "--connect", here]
    for folder in images:
        command += ["--images", str(folder)]
    if options.screen_number is not None:
        command += ["--monitor", str(options.screen_number)]
    if options.keys is not None:
        command += ["--keys", str(own_keys(options.keys))]
    if options.hide_viewer:
        command.append("--hide-viewer")
    if options.save is not None:
        command += ["--save", str(options.save)]
    if options.size is not None:
        command += ["--size", options.size]
    environment = dict(os.environ)
    if not has_screen():
        environment["QT_QPA_PLATFORM"] = "offscreen"
        environment["QT_LOGGING_RULES"] = "default.warning=false"  # of what offscreen cannot do
    return subprocess.Popen(command, env=environment, creationflags=OWN_GROUP)


def close_dashboard(window: subprocess.Popen[bytes]) -> None:
    """End the dashboard."""
    if window.poll() is None:
        window.terminate()
        window.wait(DASHBOARD_END_S)


def _result(exit_code: int, folder: Path) -> Launched:
    if not is_session_folder(folder):
        return Launched(exit_code, None, None)
    manifest = read_manifest(folder)
    documents = folder / DOCUMENTS_NAME
    summary = summarise(read_documents(documents)) if documents.is_file() else None
    return Launched(exit_code, manifest, summary)
