"""Recordings from files and from memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gazelive.api.common import PathLike, tell
from gazelive.gaze.screen import ScreenGeometry
from gazelive.recordings.columns import Columns, recording_of_columns
from gazelive.recordings.doubts import damage, sentences
from gazelive.recordings.opening import read_recording
from gazelive.recordings.recording import Recording
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns


def read(path: PathLike, *, trial_patterns: TrialPatterns = DEFAULT_PATTERNS) -> Recording:
    """Read a recording: ASC, EDF, a session folder or a sample table.

    `trial_patterns` say which messages start and stop trials, where they are not the usual ones.
    """
    recording = read_recording(Path(path), trial_patterns=trial_patterns)
    tell(sentences(damage(recording)))
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
    recording = replace(
        recording_of_columns(columns, sampling_rate_hz=sampling_rate_hz, screen=screen),
        viewer=viewer,
        session=None if session is None else str(session),
    )
    tell(sentences(damage(recording)))
    return recording
