"""Simulated people."""

from __future__ import annotations

from pathlib import Path

from gazelive.api.common import PathLike
from gazelive.simulation.corpus import CorpusPlan, write_corpus
from gazelive.simulation.image_pool import default_stimuli


def simulate(
    folder: PathLike,
    *,
    n_viewers: int = 32,
    n_images: int = 106,
    n_sessions: int = 1,
    seconds: float = 8.0,
    sampling_rate_hz: float = 1000.0,
    seed: int = 0,
) -> Path:
    """Write a corpus of simulated viewers into a new folder, and return the folder.

    The same seed is the same people; what really happened stands in its folder `truth`.
    """
    plan = CorpusPlan(
        n_viewers=n_viewers,
        n_images=n_images,
        n_sessions=n_sessions,
        seconds=seconds,
        sampling_rate_hz=sampling_rate_hz,
        seed=seed,
        stimuli=default_stimuli(),
    )
    write_corpus(plan, Path(folder))
    return Path(folder)
