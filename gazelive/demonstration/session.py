"""One person before the demo's tracker where there is no window to show images in.

Device → disk → engine → dashboard, as in the lab; the simulated viewer needs no picture to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gazelive.clock import MonotonicClock
from gazelive.demonstration.presenter import Presenter
from gazelive.devices.simulated import SimulatedDevice, generated_image, images_in
from gazelive.engine.addresses import free_addresses
from gazelive.engine.child import EngineChild
from gazelive.engine.documents_file import read_documents
from gazelive.engine.options import EngineOptions
from gazelive.engine.player import own_device
from gazelive.engine.summary import RunSummary, summarise
from gazelive.experiment.launch import DashboardOptions, close_dashboard, open_dashboard
from gazelive.recordings.session_folder import DOCUMENTS_NAME, SessionWriter
from gazelive.recordings.session_manifest import SessionManifest
from gazelive.recordings.session_writer import now_iso

DEMO_KEY = "demo"
"""Marks a session as one that the next demo may remove."""
WINDOW_SIZE = "1600x1000"
ENGINE_END_S = 30.0

Report = Callable[[float], None]


@dataclass(frozen=True)
class LiveSession:
    """What one person's session left behind."""

    viewer: str
    folder: Path
    summary: RunSummary
    screenshot: Path | None
    """None where there is no dashboard."""
    pictures: tuple[Path, ...] = ()
    """Of the experiment's own window."""

    @property
    def seen(self) -> tuple[Path, ...]:
        """All pictures that were saved."""
        return self.pictures if self.screenshot is None else (self.screenshot, *self.pictures)


def run_live_session(
    viewer: str,
    *,
    seed: int,
    session: int,
    images: Sequence[str],
    seconds: float,
    stimuli: Path | None,
    model: Path,
    folder: Path,
    screenshot: Path | None,
    report: Report,
) -> LiveSession:
    """Let a simulated person look at images in real time, and watch who the engine says it is."""
    addresses = free_addresses()
    clock = MonotonicClock()
    options = EngineOptions(folder=str(folder), address=str(addresses), model=str(model))
    with EngineChild(options) as engine:
        # while the engine gets ready, so does everything else
        window = None
        if screenshot is not None:
            folders = [] if stimuli is None else [stimuli]
            shown = DashboardOptions(save=screenshot, size=WINDOW_SIZE)
            window = open_dashboard(str(addresses), folders, shown)
        saliency_of = generated_image if stimuli is None else images_in(stimuli)
        device = SimulatedDevice(
            viewer, seed=seed, session=session, clock=clock, saliency_of=saliency_of
        )
        for image in images:
            saliency_of(image)
        engine.wait_ready()
        manifest = SessionManifest(
            session=f"demo {viewer}",
            device=device.describe().device,
            started_at=now_iso(),
            mode="identify",
            screen=device.describe().screen,
            config={DEMO_KEY: True, "n_trials": len(images)},
        )
        writer = SessionWriter.create(folder, manifest)
        presenter = Presenter(device, images, seconds, clock)
        started_s = clock.now_s()

        def meanwhile() -> str | None:
            report((clock.now_s() - started_s) / presenter.duration_s)
            return presenter.step()

        own_device(device, writer, addresses, clock=clock, meanwhile=meanwhile)
        device.close()
        engine.wait(ENGINE_END_S)
        if window is not None:
            close_dashboard(window, waits=True)
    summary = summarise(read_documents(folder / DOCUMENTS_NAME))
    taken = screenshot if screenshot is not None and screenshot.is_file() else None
    return LiveSession(viewer, folder, summary, taken)


def why_no_dashboard() -> str | None:
    """Return what is missing for a dashboard, None where nothing is."""
    missing = [name for name in ("PyQt6", "pyqtgraph") if find_spec(name) is None]
    if not missing:
        return None
    return f"{' and '.join(missing)} is not installed: pip install 'gazelive[dashboard]'"
