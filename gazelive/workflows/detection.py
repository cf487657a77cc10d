"""Detection of saccades and fixations in a recording: `detect` and the command of that name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gazelive.analysis import Analysis, EyeChoice, Parameters, analyse
from gazelive.detection import Method, preset
from gazelive.features import DEFAULT_RATE_DEG
from gazelive.gaze import ScreenGeometry
from gazelive.observer import Observer
from gazelive.recordings import (
    DEFAULT_PATTERNS,
    GeometryFlags,
    Recording,
    TrialPatterns,
    damage,
    screen_in_corpus,
    sentences,
)
from gazelive.workflows import event_tables
from gazelive.workflows.recordings import read_noting
from gazelive.workflows.sources import PathLike, flags_of, warn_caller


@dataclass(frozen=True)
class Detected:
    """The events of a recording, as tables with one row each; units stand in the names."""

    analysis: Analysis
    """Everything: the gaze of each interval in degrees, its events, features and thresholds."""

    @cached_property
    def saccades(self) -> Any:
        """A `pyarrow.Table` with the columns that `gazelive detect` writes."""
        return event_tables.saccade_table(self.analysis)

    @cached_property
    def fixations(self) -> Any:
        """A `pyarrow.Table` with the columns that `gazelive detect --fixations` writes."""
        return event_tables.fixation_table(self.analysis)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that the tables rest on, as JSON can hold it."""
        return event_tables.provenance(self.analysis, DEFAULT_RATE_DEG)


def detect(
    recording: Recording | PathLike,
    *,
    method: Method = "settled",
    parameters: Parameters | str | None = None,
    eye: EyeChoice | None = None,
    screen: ScreenGeometry | None = None,
    whole_blocks: bool = False,
) -> Detected:
    """Find the saccades and fixations of every viewing interval.

    `method` is `settled`, `online` or `engbert-kliegl`; `parameters` are those of the method, or
    the name of a preset (`scene-viewing`, `microsaccades`, `noisy`). A recording in pixels needs
    a `screen` where it does not tell of one.
    """
    observer = Observer()
    analysis = analyse_source(
        recording if isinstance(recording, Recording) else Path(recording),
        observer,
        method=method,
        parameters=preset(parameters) if isinstance(parameters, str) else parameters,
        eye=eye,
        flags=flags_of(screen),
        whole_blocks=whole_blocks,
    )
    warn_caller(observer.warnings)
    return Detected(analysis)


def analyse_source(
    source: Recording | Path,
    observer: Observer,
    *,
    method: Method = "settled",
    parameters: Parameters | None = None,
    eye: EyeChoice | None = None,
    flags: GeometryFlags | None = None,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    whole_blocks: bool = False,
) -> Analysis:
    """Read a recording unless it is in memory, and analyse every viewing interval.

    The patterns are for a recording that must be read. Damage, missing trials and an approximate
    geometry are warnings.
    """
    if isinstance(source, Recording):
        recording = source
    else:
        recording = read_noting(source, observer, trial_patterns)
        for sentence in sentences(damage(recording)):
            observer.warn(sentence)
    with observer.progress("Detecting") as report:
        analysis = analyse(
            recording,
            method=method,
            parameters=parameters,
            eye=eye,
            flags=flags,
            corpus_screen=screen_in_corpus(recording.path) if recording.path.exists() else None,
            whole_blocks=whole_blocks,
            progress=report,
        )
    for warning in analysis.warnings:
        observer.warn(f"{recording.path}: {warning}")
    return analysis
