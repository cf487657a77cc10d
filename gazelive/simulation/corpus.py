"""Write a corpus of simulated recordings: viewers × sessions, each with its truth beside it.

::

    corpus.csv            recording, viewer, session and the screen's geometry
    v001_s1/ …            one session folder per viewer and session, or
    v001_s1.asc …         one ASC file
    truth/v001_s1.csv …   the true events (`truth_table`)

Recordings are simulated one at a time per process, so memory does not grow with the corpus, and
written atomically; `corpus.csv` lists only complete ones. The same plan gives the same corpus, with
any number of processes.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Literal

import msgspec

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze import Eyes
from gazelive.recordings import CorpusEntry, manifest_of, write_asc, write_corpus_csv, write_session
from gazelive.simulation.image_pool import ImagePool, images_for_session
from gazelive.simulation.lab_session import SCREEN, SimulatedSession, simulate_session
from gazelive.simulation.truth_table import write_truth

CorpusFormat = Literal["session", "asc"]

TRUTH_FOLDER = "truth"
STARTED_AT = "2020-01-01T09:00:00+00:00"
"""Start of every simulated session: fixed, so the same plan gives the same bytes."""
SMALLEST_PARALLEL_S = 1800.0
"""Less recording time than this is simulated before a second process has started."""


class CorpusPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Plan of a corpus."""

    n_viewers: int = 32
    first_viewer: int = 1
    """Number of the first viewer; with 7, they are v007, v008 …"""
    n_images: int = 106
    """Images that each viewer sees in each session."""
    n_pool: int = 376
    """Images to choose from."""
    n_sessions: int = 1
    seconds: float = 8.0
    sampling_rate_hz: float = 1000.0
    eyes: Eyes = "R"
    seed: int = 0
    format: CorpusFormat = "session"
    stimuli: Path | None = None
    """Folder of real images; None generates all."""

    def __post_init__(self) -> None:
        for name in ("n_viewers", "first_viewer", "n_images", "n_pool", "n_sessions", "seconds"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"must be above 0, not {getattr(self, name)}", key=name)
        if self.n_images > self.n_pool:
            raise ConfigError(
                f"cannot show {self.n_images} different images from a pool of {self.n_pool}: "
                "enlarge the pool or show fewer"
            )
        if not 250 <= self.sampling_rate_hz <= 2000:
            raise ConfigError(
                f"must be 250 to 2000 Hz, not {self.sampling_rate_hz:g}", key="sampling_rate_hz"
            )

    @property
    def recordings(self) -> list[tuple[str, int]]:
        """Viewer and session of each recording."""
        return [
            (f"v{viewer:03}", session)
            for viewer in range(self.first_viewer, self.first_viewer + self.n_viewers)
            for session in range(1, self.n_sessions + 1)
        ]


class WrittenRecording(msgspec.Struct, frozen=True, kw_only=True):
    """One complete recording on disk."""

    path: Path
    viewer: str
    session: int
    n_trials: int
    duration_s: float
    n_bytes: int


def write_corpus(
    plan: CorpusPlan,
    folder: Path,
    *,
    n_processes: int = 1,
    progress: Callable[[float], None] | None = None,
) -> list[WrittenRecording]:
    """Write the corpus into `folder`, which must be new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RecordingError("already exists and is not empty: choose another folder", path=folder)
    ImagePool(plan.n_pool, plan.stimuli)  # raises early for a folder without images
    (folder / TRUTH_FOLDER).mkdir(parents=True, exist_ok=True)
    written: list[WrittenRecording] = []
    for recording in _written_recordings(plan, folder, n_processes, progress):
        written.append(recording)
        written.sort(key=lambda each: (each.viewer, each.session))
        write_corpus_csv(
            [CorpusEntry(w.path, w.viewer, str(w.session), SCREEN) for w in written], folder
        )
    return written


def _written_recordings(
    plan: CorpusPlan,
    folder: Path,
    n_processes: int,
    progress: Callable[[float], None] | None,
) -> Iterator[WrittenRecording]:
    """Yield each recording when it is written; with several processes in any order."""
    todo = plan.recordings
    total_s = len(todo) * plan.n_images * plan.seconds
    n_processes = min(n_processes, len(todo))
    if n_processes < 2 or total_s < SMALLEST_PARALLEL_S:
        for n_done, (viewer_id, session) in enumerate(todo):
            yield write_recording(
                plan, folder, viewer_id, session, _part(progress, n_done, len(todo))
            )
        return
    # spawned on every system: a forked numba or pyarrow may hang
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_processes, mp_context=context) as executor:
        try:
            jobs = [executor.submit(write_recording, plan, folder, *each) for each in todo]
            for n_done, job in enumerate(as_completed(jobs), start=1):
                yield job.result()
                if progress is not None:
                    progress(n_done / len(todo))
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def write_recording(
    plan: CorpusPlan,
    folder: Path,
    viewer_id: str,
    session: int,
    progress: Callable[[float], None] | None = None,
) -> WrittenRecording:
    """Simulate and write one recording, its truth first."""
    name = f"{viewer_id}_s{session}"
    path = folder / (f"{name}.asc" if plan.format == "asc" else name)
    pool = ImagePool(plan.n_pool, plan.stimuli)
    names = images_for_session(
        pool.names, plan.n_images, viewer_id=viewer_id, seed=plan.seed, session=session
    )
    simulated = simulate_session(
        viewer_id,
        seed=plan.seed,
        session=session,
        images=[pool.image(each) for each in names],
        seconds=plan.seconds,
        sampling_rate_hz=plan.sampling_rate_hz,
        eyes=plan.eyes,
        path=path,
        progress=progress,
    )
    write_truth(simulated, folder / TRUTH_FOLDER / f"{name}.csv")
    _write(simulated, plan, path)
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return WrittenRecording(
        path=path,
        viewer=viewer_id,
        session=session,
        n_trials=len(simulated.trials),
        duration_s=simulated.recording.duration_s,
        n_bytes=sum(file.stat().st_size for file in files),
    )


def _write(simulated: SimulatedSession, plan: CorpusPlan, path: Path) -> None:
    if plan.format == "asc":
        write_asc(simulated.recording, path)
        return
    # the path of the images on this machine is not part of the session
    settings = msgspec.to_builtins(plan, enc_hook=lambda stimuli: stimuli.name)
    if plan.first_viewer == 1:
        del settings["first_viewer"]  # the same bytes as those of 0.1
    config = {"simulated": settings}
    manifest = manifest_of(simulated.recording, started_at=STARTED_AT, config=config)
    write_session(simulated.recording, path, manifest)


def _part(
    progress: Callable[[float], None] | None, n_done: int, n: int
) -> Callable[[float], None] | None:
    """Return a progress callback for one of `n` recordings."""
    if progress is None:
        return None
    return lambda fraction: progress((n_done + fraction) / n)
