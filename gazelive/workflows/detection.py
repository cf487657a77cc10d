"""Detection of saccades and fixations in a recording: `detect` and the command of that name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from gazelive.analysis import Analysis, EyeChoice, Parameters, analyse, noise_warnings
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
    sidecar_path,
    write_table_file,
)
from gazelive.system import write_bytes
from gazelive.wording import counted
from gazelive.workflows import event_tables
from gazelive.workflows.recordings import read_noting
from gazelive.workflows.sources import PathLike, flags_of, warn_caller


@dataclass(frozen=True)
class Detected:
    """The events of a recording, as tables with one row each; units stand in the names."""

    analysis: Analysis
    """Everything: the gaze of each interval in degrees, its events, features and thresholds."""

    def __repr__(self) -> str:
        events = f"{counted(self.saccades.num_rows, 'row')} of saccades"
        fixations = f"{counted(self.fixations.num_rows, 'row')} of fixations"
        name = self.analysis.recording.path.name
        return f"<Detected in {name} ({self.analysis.method}): {events}, {fixations}>"

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
    warn_caller([*observer.warnings, *noise_warnings(analysis)])
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


def outcome_warnings(analysis: Analysis) -> Iterator[str]:
    """Yield sentences about noise, and about intervals without saccades for each reason."""
    yield from noise_warnings(analysis)
    reasons: dict[str, list[str]] = {}
    for analysed in analysis.intervals:
        if not analysed.gaze.detection.saccades:
            interval = analysed.interval
            name = f"block {interval.block + 1}"
            if interval.trial is not None:
                name = f"trial {interval.trial}"
            reasons.setdefault(analysed.gaze.detection.outcome.sentence, []).append(name)
    for sentence, names in reasons.items():
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        yield f"no saccades in {', '.join(names[:5])}{more}: {sentence}"


def write_detection(
    analysis: Analysis,
    *,
    saccades: Path | None = None,
    fixations: Path | None = None,
    plot: Path | None = None,
    plot_trial: str | None = None,
    vigor_rate_deg: float = DEFAULT_RATE_DEG,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
) -> list[Path]:
    """Write the requested files, and the settings beside each; return the files."""
    written = []
    if saccades is not None:
        write_table_file(event_tables.saccade_table(analysis, vigor_rate_deg), saccades)
        written.append(saccades)
    if fixations is not None:
        write_table_file(event_tables.fixation_table(analysis), fixations)
        written.append(fixations)
    if plot is not None:
        from gazelive.workflows.detection_figure import draw_detection

        draw_detection(analysis, plot, plot_trial)
        written.append(plot)
    used = msgspec.json.encode(event_tables.provenance(analysis, vigor_rate_deg, trial_patterns))
    for path in written:
        write_bytes(sidecar_path(path), msgspec.json.format(used, indent=2))
    return written
