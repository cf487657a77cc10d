"""Export a recording to BIDS: a new dataset, or one more session of an existing one.

`docs/bids.md` lists the rules. Everything is written to a temporary folder and renamed, so a
dataset has the complete session or nothing of it.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from gazelive.errors import RecordingError
from gazelive.gaze import EYE_FIELDS, Coordinates, Samples
from gazelive.recordings.bids.dataset import (
    DATATYPE,
    BidsTarget,
    add_participant,
    check_dataset,
    write_dataset_files,
    write_json,
)
from gazelive.recordings.bids.runs import Run, even_samples, runs_of
from gazelive.recordings.bids.sidecars import event_sidecar, sample_sidecar, trial_sidecar
from gazelive.recordings.bids.tables import (
    Eye,
    event_rows,
    trial_rows,
    write_rows,
    write_samples,
)
from gazelive.recordings.geometry import HOW_TO_GIVE
from gazelive.recordings.recording import Recording
from gazelive.system import storage_error


def export_bids(
    recording: Recording,
    target: BidsTarget,
    *,
    config: dict[str, Any] | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Path, ...]:
    """Write the recording into the dataset and return the files of its runs.

    `config` is the snapshot of the experiment's configuration, if there is one.
    """
    check_dataset(target)
    runs = runs_of(recording)
    _check_recording(recording, runs)
    dataset = target.dataset.resolve()
    # inside an existing dataset, which may be on another disk; a new one appears complete
    beside = dataset.parent if target.is_new else dataset
    aside = beside / f".{dataset.name}.{secrets.token_hex(4)}.part"
    try:
        try:
            written = _write_runs(recording, runs, target, aside, config or {}, progress)
            if target.is_new:
                write_dataset_files(target, aside)
                if dataset.exists():
                    dataset.rmdir()  # Windows does not rename over an empty folder
                aside.rename(dataset)
            else:
                # first, so an export interrupted here can simply be repeated
                add_participant(target)
                place = dataset / target.folder
                place.parent.mkdir(exist_ok=True)
                (aside / target.folder).rename(place)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise storage_error(error, dataset) from error
    return tuple(target.dataset / path.relative_to(aside) for path in written)


def what_bids_loses(recording: Recording) -> list[str]:
    """Name what the export loses of a recording."""
    lost = []
    extras = sorted({name for block in recording.blocks for name in block.extras})
    if extras:
        lost.append(f"further columns of the samples ({', '.join(extras)})")
    if any(block.samples["status"].any() for block in recording.blocks):
        lost.append("the status flags of the samples")
    return lost


def _check_recording(recording: Recording, runs: Sequence[Run]) -> None:
    if not runs:
        raise RecordingError("has no samples to export", path=recording.path)
    on_screen = any(run.stream.coordinates is Coordinates.SCREEN_PX for run in runs)
    if on_screen and any((run.stream.screen or recording.screen) is None for run in runs):
        raise RecordingError(
            "does not give the size and distance of the screen, which BIDS requires for gaze on "
            f"a screen: add {HOW_TO_GIVE}, with your screen's numbers",
            path=recording.path,
        )


def _write_runs(
    recording: Recording,
    runs: Sequence[Run],
    target: BidsTarget,
    root: Path,
    config: dict[str, Any],
    progress: Callable[[float], None] | None,
) -> list[Path]:
    folder = root / target.folder / DATATYPE
    folder.mkdir(parents=True)
    written: list[Path] = []
    n_files = sum(len(run.stream.eyes) for run in runs)
    n_done = 0
    for number, run in enumerate(runs, start=1):
        stem = folder / target.stem(number if len(runs) > 1 else None)
        samples = even_samples(run)
        for place, eye in enumerate(_eyes(run), start=1):
            beginning = f"{stem}_recording-eye{place}"
            written += _write_eye(recording, run, eye, samples, beginning, target.task)
            n_done += 1
            if progress is not None:
                progress(n_done / n_files)
        columns, rows = trial_rows(recording, run)
        screen = run.stream.screen or recording.screen
        events, sidecar = Path(f"{stem}_events.tsv"), Path(f"{stem}_events.json")
        write_rows(rows, events, columns)
        write_json(sidecar, trial_sidecar(columns, target.task, screen, config))
        written += [events, sidecar]
    return written


def _write_eye(
    recording: Recording, run: Run, eye: Eye, samples: Samples, beginning: str, task: str
) -> list[Path]:
    paths = [
        Path(f"{beginning}_{suffix}")
        for suffix in (
            "physio.tsv.gz",
            "physio.json",
            "physioevents.tsv.gz",
            "physioevents.json",
        )
    ]
    table, sidecar, events, events_sidecar = paths
    write_samples(samples, eye, table)
    write_json(sidecar, sample_sidecar(recording, run, eye, task))
    write_rows(event_rows(recording, run, eye), events)
    write_json(events_sidecar, event_sidecar(task))
    return paths


def _eyes(run: Run) -> tuple[Eye, ...]:
    """Return the eyes in BIDS order: eye1 is the left of two eyes, or the only one."""
    return tuple(cast("Eye", eye) for eye in EYE_FIELDS if eye in run.stream.eyes)
