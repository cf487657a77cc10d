"""Launch of a session: its specification, and the experiment beside engine and dashboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from gazelive.errors import ConfigError
from gazelive.experiment.config.reading import replay_file, resolved
from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.experiment.display.display import Participant
from gazelive.live import LiveSettings, SessionResult, decode_settings, encode_settings, run_owner
from gazelive.observer import Observer
from gazelive.system import python_module

RUN_FLAG = "--run"
"""Before the JSON of a `RunSpec` on the experiment's command line."""


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A session to run."""

    config: ExperimentConfig
    """The file's configuration, with the command's options in their places."""
    config_path: Path
    """Paths in the configuration are relative to this file's folder."""
    participant: Participant
    live: LiveSettings
    """Its folder must be new; without an address there is no engine."""
    simulate_as: str | None = None
    """The person before a simulated tracker."""
    windowed: bool = False
    window_px: tuple[int, int] | None = None
    snapshots: Path | None = None
    """Folder for a picture of each kind of scene; they cost frames."""
    label: dict[str, bool] = {}
    """Further marks for the configuration in the session's description."""
    quiet: bool = False

    @property
    def stimuli(self) -> Path:
        """The folder of the images."""
        return resolved(self.config.stimuli.folder, self.config_path)

    @property
    def dashboard_screen(self) -> int | None:
        """Number of the dashboard's screen, if there is a dashboard."""
        return None if self.live.dashboard is None else self.live.dashboard.monitor

    @property
    def replayed(self) -> Path | None:
        """The recording that takes the tracker's place, if any."""
        name = replay_file(self.config.tracker.device)
        return None if name is None else resolved(name, self.config_path)


def decode_spec(text: str) -> RunSpec:
    """Return the specification that is in JSON on the experiment's command line."""
    return decode_settings(text, RunSpec)


def launch(
    spec: RunSpec,
    script: Path,
    observer: Observer,
    report: Callable[[], None] = lambda: None,
) -> SessionResult:
    """Run an experiment's script with engine and dashboard to the end of the session.

    `report` is called again and again.
    """
    if not script.is_file():
        raise ConfigError("there is no such experiment", path=script, key="script")
    command = python_module("gazelive.experiment", str(script), RUN_FLAG, encode_settings(spec))
    return run_owner(command, spec.live, observer, report)
