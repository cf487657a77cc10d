"""The demo: a simulated person looks at images, and the whole path of the data is walked.

Simulated viewer → replay device → session folder → read back → saccades → table and figures.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gazelive.clock import MonotonicClock
from gazelive.devices.recorder import record
from gazelive.devices.replay import ReplayDevice
from gazelive.errors import ConfigError
from gazelive.gaze.stream import Chunk, StreamDescription
from gazelive.offline.analysis import AnalysedInterval, Analysis, analyse
from gazelive.offline.detection_figure import draw_detection
from gazelive.offline.event_tables import saccade_table
from gazelive.offline.scanpath_figure import draw_scanpath
from gazelive.recordings.recording import Recording
from gazelive.recordings.session_folder import SessionWriter, manifest_of, read_session
from gazelive.recordings.session_manifest import is_session_folder, read_manifest
from gazelive.recordings.session_writer import now_iso
from gazelive.recordings.table_files import write_table_file
from gazelive.simulation.image_pool import (
    ImagePool,
    default_stimuli,
    images_for_session,
    images_in,
)
from gazelive.simulation.lab_session import SCREEN, image_rect_px, simulate_session

VIEWER, SEED = "v005", 1
N_IMAGES, SECONDS = 6, 8.0
SESSION_NAME, TABLE_NAME = "session", "saccades.csv"
FIGURE_NAMES = ("saccades.png", "scanpath.png")
DEMO_KEY = "demo"
"""Marks the session as one that the next demo may remove."""

Report = Callable[[float], None]


@dataclass(frozen=True)
class DemoResult:
    """What the demo made."""

    viewer: str
    session: Path
    recording: Recording
    analysis: Analysis
    table: Path
    figures: tuple[Path, ...]


def simulate_viewer(out: Path, report: Report) -> Recording:
    """Return a simulated session of one person."""
    stimuli = default_stimuli()
    n_pool = N_IMAGES if stimuli is None else len(images_in(stimuli))
    pool = ImagePool(n_pool, stimuli)
    names = images_for_session(pool.names, N_IMAGES, viewer_id=VIEWER, seed=SEED, session=1)
    return simulate_session(
        VIEWER,
        seed=SEED,
        session=1,
        images=[pool.image(name) for name in names],
        seconds=SECONDS,
        sampling_rate_hz=1000.0,
        eyes="R",
        path=out / SESSION_NAME,
        progress=report,
    ).recording


def replay_to_disk(recording: Recording, folder: Path, speed: float | None, report: Report) -> None:
    """Play the recording through the replay device into a new session folder."""
    device = ReplayDevice(recording, clock=MonotonicClock(), speed=speed)
    manifest = manifest_of(recording, started_at=now_iso(), config={DEMO_KEY: True})
    writer = SessionWriter.create(folder, manifest)
    n_written = 0

    def count(chunk: Chunk, _stream: StreamDescription) -> None:
        nonlocal n_written
        n_written += len(chunk.samples)
        report(n_written / recording.n_samples)

    record(device, writer, [count], clock=MonotonicClock())
    device.close()


def analyse_session(folder: Path, out: Path, report: Report) -> DemoResult:
    """Read the session back, find its saccades, and draw what there is to see."""
    recording = read_session(folder)
    analysis = analyse(recording, progress=report)
    table = out / TABLE_NAME
    write_table_file(saccade_table(analysis), table)
    figures = [out / FIGURE_NAMES[0]]
    draw_detection(analysis, figures[0])
    best = max(analysis.intervals, key=lambda i: len(i.gaze.detection.fixations))
    image = _image_file(best)
    if image is not None:
        figures.append(out / FIGURE_NAMES[1])
        draw_scanpath(best, image, image_rect_px(), SCREEN, figures[1])
    return DemoResult(VIEWER, folder, recording, analysis, table, tuple(figures))


def remove_demo(out: Path) -> None:
    """Remove an earlier demo, and nothing that is not one."""
    session = out / SESSION_NAME
    if not is_session_folder(session):
        return
    if not read_manifest(session).config.get(DEMO_KEY):
        raise ConfigError("this session is no demo: give another folder with --out", path=session)
    shutil.rmtree(session)
    for name in (TABLE_NAME, *FIGURE_NAMES):
        (out / name).unlink(missing_ok=True)


def refuse_taken(out: Path) -> None:
    """Raise where the demo would write over something."""
    for name in (SESSION_NAME, TABLE_NAME, *FIGURE_NAMES):
        if (out / name).exists():
            raise ConfigError(
                f"holds {name} already: add --replace if it is an earlier demo, or give another "
                "folder with --out",
                path=out,
            )


def _image_file(analysed: AnalysedInterval) -> Path | None:
    stimuli = default_stimuli()
    if stimuli is None or analysed.interval.image is None:
        return None
    path = stimuli / Path(analysed.interval.image).name
    return path if path.is_file() else None
