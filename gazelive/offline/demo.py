"""The demo: a simulated person looks at images, and the whole path of the data is walked.

Simulated viewer → replay device → session folder → read back → saccades → table and figures.
"""

from __future__ import annotations

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
        path=out / "session",
        progress=report,
    ).recording


def replay_to_disk(recording: Recording, folder: Path, speed: float | None, report: Report) -> None:
    """Play the recording through the replay device into a new session folder."""
    device = ReplayDevice(recording, clock=MonotonicClock(), speed=speed)
    writer = SessionWriter.create(folder, manifest_of(recording, started_at=now_iso()))
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
    table = out / "saccades.csv"
    write_table_file(saccade_table(analysis), table)
    figures = [out / "saccades.png"]
    draw_detection(analysis, figures[0])
    best = max(analysis.intervals, key=lambda i: len(i.gaze.detection.fixations))
    image = _image_file(best)
    if image is not None:
        figures.append(out / "scanpath.png")
        draw_scanpath(best, image, image_rect_px(), SCREEN, figures[1])
    return DemoResult(VIEWER, folder, recording, analysis, table, tuple(figures))


def refuse_taken(out: Path) -> None:
    """Raise where the demo would write over something."""
    if (out / "session").exists():
        raise ConfigError(
            "holds a demo already: remove it, or give another folder with --out", path=out
        )


def _image_file(analysed: AnalysedInterval) -> Path | None:
    stimuli = default_stimuli()
    if stimuli is None or analysed.interval.image is None:
        return None
    path = stimuli / Path(analysed.interval.image).name
    return path if path.is_file() else None
