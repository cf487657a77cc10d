"""What the process that starts a session tells the one that runs it, on its command line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gazelive.config.reading import replay_file, resolved
from gazelive.config.schema import ExperimentConfig
from gazelive.experiment.display import Participant

RUN_FLAG = "--run"
"""Before the JSON."""


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A session to be run."""

    config: ExperimentConfig
    """As the file says it, with the command's options in their places."""
    config_path: str
    """Paths in the configuration are relative to this file's folder."""
    participant: Participant
    folder: str
    """The session's folder, which must be new."""
    address: str | None = None
    """Where the engine is; None: nobody listens."""
    simulate_as: str | None = None
    """Who sits before a simulated tracker."""
    windowed: bool = False
    window_px: tuple[int, int] | None = None
    snapshots: str | None = None
    """Folder for a picture of each kind of scene; they cost frames."""
    label: dict[str, bool] = {}
    """Further marks for the configuration in the session's description."""
    quiet: bool = False

    @property
    def stimuli(self) -> Path:
        """The folder of the images."""
        return resolved(self.config.stimuli.folder, Path(self.config_path))

    @property
    def replayed(self) -> Path | None:
        """The recording to replay, if it is one."""
        name = replay_file(self.config.tracker.device)
        return None if name is None else resolved(name, Path(self.config_path))


def encode_spec(spec: RunSpec) -> str:
    """Return the JSON."""
    return msgspec.json.encode(spec).decode()


def decode_spec(text: str) -> RunSpec:
    """Read the JSON."""
    return msgspec.json.decode(text, type=RunSpec)
