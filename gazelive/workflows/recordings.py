"""Recordings from files, from memory and from the simulator: `read`, `from_columns`, `simulate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gazelive.gaze import ScreenGeometry
from gazelive.observer import Observer
from gazelive.recordings import (
    DEFAULT_PATTERNS,
    Recording,
    TrialPatterns,
    damage,
    read_recording,
    sentences,
    trials_not_found,
)
from gazelive.workflows.sources import PathLike, warn_caller

if TYPE_CHECKING:  # only tables need Arrow
    from gazelive.recordings import Columns


def read(path: PathLike, *, trial_patterns: TrialPatterns = DEFAULT_PATTERNS) -> Recording:
    """Read a recording: ASC, EDF, a session folder or a sample table.

    `trial_patterns` say which messages start and stop trials, where they are not the usual ones.
    """
    recording = read_recording(Path(path), trial_patterns=trial_patterns)
    warn_caller(sentences(damage(recording)))
    return recording


def from_columns(
    columns: Columns,
    *,
    sampling_rate_hz: float | None = None,
    screen: ScreenGeometry | None = None,
    viewer: str | None = None,
    session: str | int | None = None,
) -> Recording:
    """Return arrays (or a pandas, polars or Arrow table) as a recording.

    The names are those of a sample table: `t_ms` and `x_deg`, `y_deg` or `x_px`, `y_px`; two eyes
    as `left_x_deg` … `right_y_deg`; optionally `pupil`, `trial`, `image`, `valid`, `block`.
    `viewer` and `session` say who looked and when, for `train`.
    """
    from gazelive.recordings import recording_of_columns

    recording = replace(
        recording_of_columns(columns, sampling_rate_hz=sampling_rate_hz, screen=screen),
        viewer=viewer,
        session=None if session is None else str(session),
    )
    warn_caller(sentences(damage(recording)))
    return recording


def simulate(
    folder: PathLike,
    *,
    n_viewers: int = 32,
    first_viewer: int = 1,
    n_images: int = 106,
    n_sessions: int = 1,
    seconds: float = 8.0,
    sampling_rate_hz: float = 1000.0,
    seed: int = 0,
) -> Path:
    """Write a corpus of simulated viewers into a new folder, and return the folder.

    The same seed is the same people, numbered from `first_viewer`; what really happened stands in
    its folder `truth`.
    """
    from gazelive.simulation import CorpusPlan, default_stimuli, write_corpus

    plan = CorpusPlan(
        n_viewers=n_viewers,
        first_viewer=first_viewer,
        n_images=n_images,
        n_sessions=n_sessions,
        seconds=seconds,
        sampling_rate_hz=sampling_rate_hz,
        seed=seed,
        stimuli=default_stimuli(),
    )
    write_corpus(plan, Path(folder))
    return Path(folder)


def read_noting(
    path: Path, observer: Observer, trial_patterns: TrialPatterns = DEFAULT_PATTERNS
) -> Recording:
    """Read a recording for a command; warn if patterns of the user's own find no trial."""
    with observer.progress(f"Reading {path.resolve().name}") as report:
        recording = read_recording(path, trial_patterns=trial_patterns, progress=report)
    sentence = trials_not_found(recording, trial_patterns)
    if sentence is not None:
        observer.warn(f"{recording.path}: {sentence}")
    return recording
