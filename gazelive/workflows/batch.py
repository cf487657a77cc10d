"""Detection in several recordings over several processes: `gazelive detect *.edf -o FOLDER`.

Each recording gets its own table. A recording that fails does not stop the others: its row of the
summary says why.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.analysis import Analysis, EyeChoice, Parameters
from gazelive.detection import Method
from gazelive.errors import ConfigError, GazeliveError
from gazelive.features import DEFAULT_RATE_DEG
from gazelive.observer import Observer, Report
from gazelive.recordings import (
    DEFAULT_PATTERNS,
    GeometryFlags,
    PatternOptions,
    find_patterns,
    sidecar_path,
    write_table_file,
)
from gazelive.system import get_logger, limit_to_one_thread
from gazelive.workflows.detection import analyse_source, outcome_warnings, write_detection

SUMMARY_NAME = "summary.csv"
SMALLEST_PARALLEL_BYTES = 10_000_000
"""Less than this is analysed before a second process has started."""
log = get_logger(__name__)


@dataclass(frozen=True)
class BatchSettings:
    """Settings for all recordings, as for `detect`."""

    method: Method = "settled"
    parameters: Parameters | None = None
    eye: EyeChoice | None = None
    flags: GeometryFlags | None = None
    trials: PatternOptions = field(default_factory=PatternOptions)
    """What was given; each recording may have a lab's file beside it."""
    whole_blocks: bool = False
    vigor_rate_deg: float = DEFAULT_RATE_DEG


@dataclass(frozen=True)
class BatchJob:
    """A recording and the tables to write."""

    recording: Path
    saccades: Path
    fixations: Path | None = None


@dataclass(frozen=True)
class BatchRow:
    """One row of the summary; numbers are None where a recording failed or has none."""

    recording: str
    duration_s: float | None = None
    sampling_rate_hz: float | None = None
    eye: str | None = None
    lost_percent: float | None = None
    intervals: int | None = None
    saccades: int | None = None
    threshold_x_deg_s: float | None = None
    threshold_y_deg_s: float | None = None
    """Median over the intervals; it grows with the noise."""
    warnings: tuple[str, ...] = ()
    error: str | None = None


COLUMNS = fields(BatchRow)


def plan_batch(
    recordings: Sequence[Path], folder: Path, fixations: Path | None = None
) -> list[BatchJob]:
    """Return the tables to write; raise if two of them, or one and a recording, are one file."""
    names = _names(recordings)
    jobs = [
        BatchJob(
            path, folder / f"{name}.csv", None if fixations is None else fixations / f"{name}.csv"
        )
        for path, name in zip(recordings, names, strict=True)
    ]
    tables = [table for job in jobs for table in (job.saccades, job.fixations) if table is not None]
    written = [folder / SUMMARY_NAME, *tables, *map(sidecar_path, tables)]
    taken = {path.resolve() for path in recordings}
    taken |= {sidecar_path(path).resolve() for path in recordings if not path.is_dir()}
    for target in (path.resolve() for path in written):
        if target in taken:
            raise ConfigError(
                "would overwrite a recording or another output; choose another folder", path=target
            )
        taken.add(target)
    return jobs


def _names(recordings: Sequence[Path]) -> list[str]:
    """Return a name for each recording, with its folder where the file's name is not enough."""
    stems = [path.resolve().name.split(".")[0] or path.resolve().name for path in recordings]
    n_of = Counter(stems)
    return [
        stem if n_of[stem] == 1 else f"{path.resolve().parent.name}_{path.resolve().name}"
        for path, stem in zip(recordings, stems, strict=True)
    ]


def detect_batch(
    jobs: Sequence[BatchJob], settings: BatchSettings, *, n_processes: int, progress: Report
) -> list[BatchRow]:
    """Write the tables of every recording; return the summary in the order of the jobs."""
    n_processes = min(n_processes, len(jobs))
    if n_processes < 2 or sum(_n_bytes(job.recording) for job in jobs) < SMALLEST_PARALLEL_BYTES:
        rows = {}
        for number, job in enumerate(jobs):
            rows[number] = detect_job(job, settings)
            progress((number + 1) / len(jobs))
    else:
        rows = {}
        for number, row in _in_processes(jobs, settings, n_processes):
            rows[number] = row
            progress(len(rows) / len(jobs))
    return [rows[number] for number in range(len(jobs))]


def _in_processes(
    jobs: Sequence[BatchJob], settings: BatchSettings, n_processes: int
) -> Iterator[tuple[int, BatchRow]]:
    """Yield the row of each job when it is done."""
    # large files first, so that no process is left with one at the end
    order = sorted(range(len(jobs)), key=lambda number: -_n_bytes(jobs[number].recording))
    again = []
    with _processes(n_processes) as executor:
        numbers: dict[Future[BatchRow], int] = {}
        try:
            for number in order:
                numbers[executor.submit(detect_job, jobs[number], settings)] = number
            for done in as_completed(numbers):
                try:
                    yield numbers[done], done.result()
                except BrokenProcessPool:
                    again.append(numbers[done])
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
    for number in again:  # a process died, and nobody knows of which recording
        with _processes(1) as executor:
            try:
                yield number, executor.submit(detect_job, jobs[number], settings).result()
            except BrokenProcessPool:
                name = str(jobs[number].recording)
                yield number, BatchRow(name, error=f"{name}: the process that read it died")


def _processes(n_processes: int) -> ProcessPoolExecutor:
    # spawned on every system: a forked numba or pyarrow may hang
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(n_processes, mp_context=context, initializer=_begin_process)


def _begin_process() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    limit_to_one_thread()


def detect_job(job: BatchJob, settings: BatchSettings) -> BatchRow:
    """Write the tables of one recording."""
    name, observer = str(job.recording), Observer()
    try:
        patterns = find_patterns(settings.trials, job.recording, DEFAULT_PATTERNS).patterns
        analysis = analyse_source(
            job.recording,
            observer,
            method=settings.method,
            parameters=settings.parameters,
            eye=settings.eye,
            flags=settings.flags,
            trial_patterns=patterns,
            whole_blocks=settings.whole_blocks,
        )
        write_detection(
            analysis,
            saccades=job.saccades,
            fixations=job.fixations,
            vigor_rate_deg=settings.vigor_rate_deg,
            trial_patterns=patterns,
        )
    except (GazeliveError, OSError) as error:
        return BatchRow(name, warnings=tuple(observer.warnings), error=str(error))
    except Exception as error:  # one recording must not end the batch
        log.exception("%s failed", name)
        return BatchRow(name, error=f"{name}: {type(error).__name__}: {error}")
    return _row(name, analysis, (*observer.warnings, *outcome_warnings(analysis)))


def _row(name: str, analysis: Analysis, warnings: tuple[str, ...]) -> BatchRow:
    recording = analysis.recording
    detections = [one.gaze.detection for one in analysis.intervals]
    rates = sorted({detection.sampling_rate_hz for detection in detections})
    thresholds = [d.thresholds_deg_s for d in detections if d.thresholds_deg_s is not None]
    medians = np.median(thresholds, axis=0).tolist() if thresholds else [None, None]
    return BatchRow(
        name,
        duration_s=recording.duration_s,
        sampling_rate_hz=rates[0] if len(rates) == 1 else None,
        eye=" ".join(sorted({detection.eye for detection in detections})),
        lost_percent=100 * recording.missing_fraction,
        intervals=len(detections),
        saccades=analysis.n_saccades,
        threshold_x_deg_s=medians[0],
        threshold_y_deg_s=medians[1],
        warnings=warnings,
    )


def write_summary(rows: Sequence[BatchRow], folder: Path) -> Path:
    """Write the summary, one row per recording; return its path."""
    import pyarrow as pa

    columns = {field.name: [_cell(getattr(row, field.name)) for row in rows] for field in COLUMNS}
    path = folder / SUMMARY_NAME
    write_table_file(pa.table(columns), path)
    return path


def _cell(value: Any) -> Any:
    if isinstance(value, tuple):
        return " | ".join(value) or None
    return round(value, 3) if isinstance(value, float) else value


def _n_bytes(path: Path) -> int:
    try:
        files = path.rglob("*") if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files)
    except OSError:  # reading it will say why
        return 0
