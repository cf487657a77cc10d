"""One session of the demo: the real experiment, simulated tracker, engine and dashboard.

Where no window can be opened, everything but the window.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gazelive.demo import windowless_viewing
from gazelive.errors import GazeliveError
from gazelive.experiment import (
    SCRIPT,
    Dashboard,
    ExperimentConfig,
    Participant,
    RunSpec,
    Simulated,
    Stimuli,
    Tracker,
    Trial,
    launch,
)
from gazelive.live import DashboardSettings, LiveSettings, RunSummary, reserve_addresses
from gazelive.observer import Observer, Report
from gazelive.system import has_screen, virtual_display

DEMO_KEY = "demo"
"""Marks a session as one that the next demo may remove."""
WINDOWLESS_KEY = "windowless"
"""Marks a session whose images were in no window."""
DASHBOARD_SIZE, WINDOW_PX = "1280x1000", (640, 360)
"""Side by side they fill the width of a usual screen."""
GETTING_READY_S, TRIAL_OVERHEAD_S = 9.0, 1.3
"""About how long it takes besides the images, for the bar."""


@dataclass(frozen=True)
class LiveSession:
    """Result of one person's session."""

    viewer: str
    folder: Path
    summary: RunSummary
    seen: tuple[Path, ...]
    """All pictures that were saved, of the dashboard and of the experiment."""


def why_no_dashboard() -> str | None:
    """Return what is missing for a dashboard; None if nothing is."""
    missing = [name for name in ("PyQt6", "pyqtgraph") if find_spec(name) is None]
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    return f"{' and '.join(missing)} {verb} not installed (pip install 'gazelive[dashboard]')"


def why_no_window(*, has_some_screen: bool) -> str | None:
    """Return what is missing for the experiment's window; None if nothing is."""
    if find_spec("psychopy") is None:
        return "PsychoPy is not installed (pip install 'gazelive[experiment]')"
    if not has_some_screen:
        return "there is neither a screen nor Xvfb (apt install xvfb)"
    return None


@contextmanager
def some_screen() -> Iterator[bool]:
    """Make sure of a screen while the block runs; yield whether there is one, real or virtual."""
    if has_screen():
        yield True
        return
    with virtual_display() as name:
        if name is None:
            yield False
            return
        os.environ["DISPLAY"] = name
        try:
            yield True
        finally:
            del os.environ["DISPLAY"]


def run_live_session(
    viewer: str,
    *,
    seed: int,
    session: int,
    n_images: int,
    seconds: float,
    stimuli: Path,
    model: Path,
    folder: Path,
    pictures: Path,
    screenshot: Path | None,
    window: bool,
    observer: Observer,
    report: Report,
) -> LiveSession:
    """Run the experiment with a simulated person, engine and dashboard.

    `screenshot` None: without a dashboard; not `window`: without a window for the images.
    """
    config = ExperimentConfig(
        tracker=Tracker(device="simulated"),
        stimuli=Stimuli(folder=str(stimuli.absolute()), n_images=n_images),
        trial=Trial(image_s=seconds, blank_s=0.3),
        simulated=Simulated(seed=seed),
        dashboard=Dashboard(open=screenshot is not None, screen_number=0),
    )
    shown = None
    if screenshot is not None:
        shown = DashboardSettings(monitor=0, save=screenshot, size=DASHBOARD_SIZE)
    spec = RunSpec(
        config=config,
        config_path=folder.absolute() / "demo.toml",
        participant=Participant(viewer=None, session=session, eyes="R", mode="identify"),
        live=LiveSettings(
            folder=folder.absolute(),
            address=str(reserve_addresses()),
            model=model,
            images=(stimuli.absolute(),),
            dashboard=shown,
        ),
        simulate_as=viewer,
        windowed=True,
        window_px=WINDOW_PX,
        snapshots=pictures.absolute(),
        label={DEMO_KEY: True, WINDOWLESS_KEY: not window},
        quiet=True,
    )
    started_s = time.monotonic()
    expected_s = GETTING_READY_S + n_images * (seconds + TRIAL_OVERHEAD_S)
    launched = launch(
        spec,
        SCRIPT if window else Path(windowless_viewing.__file__),
        observer,
        lambda: report(min((time.monotonic() - started_s) / expected_s, 1.0)),
    )
    if launched.was_interrupted:
        raise KeyboardInterrupt
    if launched.summary is None:
        raise GazeliveError("the demo's experiment did not run (see above)")
    saved = (screenshot, pictures / "cross.png", pictures / "picture.png")
    seen = tuple(path for path in saved if path is not None and path.is_file())
    return LiveSession(viewer, folder, launched.summary, seen)
