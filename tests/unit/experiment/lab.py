"""A whole session on a manual clock: simulated tracker, session folder, no window, no thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from gazelive.devices.protocol import GazeDevice
from gazelive.devices.simulated import SimulatedDevice
from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.experiment.display.display import Participant, Picture
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.experiment.protocol.plan import Plan, PlannedTrial
from gazelive.experiment.protocol.stage import SessionAbortedError
from gazelive.experiment.scene_viewing import scene_viewing
from gazelive.experiment.session import Session
from gazelive.gaze.documents import Posterior
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.manifest import SessionManifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

from ...support.manual_clock import ManualClock
from .manual_display import ManualDisplay


def changed(config: ExperimentConfig, **tables: dict[str, Any]) -> ExperimentConfig:
    """Return the configuration with some keys changed."""
    new = {
        table: msgspec.structs.replace(getattr(config, table), **values)
        for table, values in tables.items()
    }
    return msgspec.structs.replace(config, **new)


SHORT = changed(ExperimentConfig(), trial={"image_s": 1.0, "blank_s": 0.2})


def plan_of_images(n: int, n_foils: int = 0) -> Plan:
    """Return a plan of images whose files are never read."""
    foils = tuple(
        Picture(Path(f"/stimuli/other{number}.png"), 210.0, 40.0, 1500.0, 1000.0)
        for number in range(n_foils)
    )
    trials = tuple(
        PlannedTrial(
            number=number,
            picture=Picture(Path(f"/stimuli/image{number}.png"), 210.0, 40.0, 1500.0, 1000.0),
            cross_px=(400 + 200 * number, 300 + 50 * number),
        )
        for number in range(1, n + 1)
    )
    return Plan(trials, foils=foils, n_available=n + n_foils, seed=0)


@dataclass
class Lab:
    """Everything that a session needs."""

    folder: Path
    config: ExperimentConfig = SHORT
    n_images: int = 3
    n_foils: int = 0
    plan: Plan | None = None
    kind: type[Session] = Session
    mode: str = "enrol"
    attended: bool = False
    device: GazeDevice | None = None
    latest_posterior: Callable[[], Posterior | None] = lambda: None
    clock: ManualClock = field(default_factory=lambda: ManualClock(100.0))
    console: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.display = ManualDisplay(self.clock)
        if self.device is None:
            self.device = SimulatedDevice("anna", seed=1, session=1, clock=self.clock)
        writer = SessionWriter.create(
            self.folder,
            SessionManifest(
                viewer="anna",
                session="1",
                device="simulated EyeLink",
                mode="enrol",
                started_at="2026-01-01T00:00:00+00:00",
                screen=self.display.screen,
            ),
        )
        self.device_thread = DeviceThread(self.device, writer, clock=self.clock)
        self.session = self.kind(
            self.config,
            self.plan or plan_of_images(self.n_images, self.n_foils),
            Participant(viewer="anna", session=1, eyes="R", mode=self.mode),  # type: ignore[arg-type]
            self.display,
            self.device_thread,
            clock=self.clock,
            folder=self.folder,
            attended=self.attended,
            latest_posterior=self.latest_posterior,
            say=self.console.append,
        )
        self.display.each_flip = self.device_thread.turn

    def run(self, script: Callable[[Session], None] = scene_viewing) -> Recording:
        """Run it to its end and return the recording."""
        try:
            script(self.session)
        except SessionAbortedError as abort:
            self.session.report.reason = str(abort)
        finally:
            with closing(self.device_thread.device):
                self.device_thread.close(self.session.report.reason)
        return read_session(self.folder)


def texts(recording: Recording) -> list[str]:
    """Return what the messages say."""
    return [message.text for message in recording.messages]
