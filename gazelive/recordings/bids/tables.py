"""Tables of a BIDS run: samples and tracker events of each eye, and the trials."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from typing import Any, Literal

import numpy as np

from gazelive.gaze import EYE_FIELDS, Flags, Integers, Samples, SingleFloats, TrackerEvent
from gazelive.recordings.bids.runs import Run, messages_of
from gazelive.recordings.recording import Recording, Trial

Eye = Literal["L", "R"]
Row = tuple[str, ...]

NOT_KNOWN = "n/a"
SAMPLE_COLUMNS = ("timestamp", "x_coordinate", "y_coordinate", "pupil_size")
EVENT_COLUMNS = ("onset", "duration", "trial_type", "blink", "message")
TRIAL_COLUMNS = ("onset", "duration", "trial_type", "trial", "image")
OWN_VARIABLES = (
    "index",
    "attempt",
    "outcome",
    "evidence",
    "dropped_frames",
    "image_ms",
    "onset_delay_ms",
)
"""Trial variables of gazelive's experiment; those of others get a prefix."""
VARIABLE_PREFIX = "var_"
_CROSS = re.compile(r"cross\s+(-?\d+(?:\.\d+)?)\s+(-?\d+(?:\.\d+)?)\b")


def write_samples(samples: Samples, eye: Eye, path: Path) -> None:
    """Write `timestamp` (ms of the tracker), gaze and pupil of one eye; no header."""
    import pyarrow as pa
    from pyarrow import csv

    x, y, pupil = (samples[field] for field in EYE_FIELDS[eye])
    lost = ~(np.isfinite(x) & np.isfinite(y))
    table = pa.table(
        {
            "timestamp": _timestamps(samples["tracker_time_us"]),
            "x_coordinate": _numbers(x, lost),
            "y_coordinate": _numbers(y, lost),
            "pupil_size": _numbers(pupil, ~np.isfinite(pupil)),
        }
    )
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with packed(path) as file:
        csv.write_csv(table, file, options)


def write_rows(rows: Iterable[Row], path: Path, header: Row | None = None) -> None:
    """Write a table of text; compressed ones (.tsv.gz) have no header."""
    lines = [] if header is None else ["\t".join(header)]
    lines += ["\t".join(row) for row in rows]
    text = "".join(f"{line}\n" for line in lines).encode()
    if path.suffix == ".gz":
        with packed(path) as file:
            file.write(text)
    else:
        path.write_bytes(text)


def event_rows(recording: Recording, run: Run, eye: Eye) -> list[Row]:
    """Return the tracker's events of an eye, and all messages, in time order.

    A saccade around a blink is marked as such, and the blink has a separate row.
    """
    interval_us = run.stream.sample_interval_us
    events = [e for e in recording.tracker_events if e.eye == eye and run.contains(e.start_us)]
    blinks = [event for event in events if event.kind == "blink"]
    timed: list[tuple[int, Row]] = []
    for event in events:
        seconds = (event.end_us - event.start_us + interval_us) / 1e6
        closed = event.kind == "blink" or any(_lies_in(blink, event) for blink in blinks)
        row: Row = (_ms(event.start_us), f"{seconds:.6g}", event.kind, f"{closed:d}", NOT_KNOWN)
        timed.append((event.start_us, row))
    for message in messages_of(run, recording.messages):
        row = (_ms(message.tracker_time_us), NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, cell(message.text))
        timed.append((message.tracker_time_us, row))
    for signal in recording.signals:
        if run.contains(signal.tracker_time_us):
            text = f"{signal.kind.upper()} {signal.number} {signal.value}"
            row = (_ms(signal.tracker_time_us), NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, text)
            timed.append((signal.tracker_time_us, row))
    return [row for _, row in sorted(timed, key=lambda each: each[0])]


def trial_rows(recording: Recording, run: Run) -> tuple[Row, list[Row]]:
    """Return the columns and rows of the stimuli: crosses, images, trials without either.

    Onsets are seconds from the run's first sample.
    """
    trials = [trial for trial in recording.trials if run.contains(trial.start_us)]
    names = _variables(trials)
    timed: list[tuple[int, Row]] = []
    for trial in trials:
        values = [cell(trial.variables.get(name, "")) for name in names]
        for start_us, end_us, kind in _shown(recording, trial):
            image = "" if kind == "cross" else PureWindowsPath(trial.image or "").name
            onset = f"{(start_us - run.start_us) / 1e6:.6f}"
            duration = f"{max(0, end_us - start_us) / 1e6:.6f}"
            timed.append(
                (start_us, (onset, duration, kind, cell(trial.name), cell(image), *values))
            )
    columns = (*TRIAL_COLUMNS, *(variable_column(name) for name in names))
    return columns, [row for _, row in sorted(timed, key=lambda each: each[0])]


def variable_column(name: str) -> str:
    """Return the column of a trial variable; foreign ones must not clash with names of BIDS."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII)
    return plain if name in OWN_VARIABLES else f"{VARIABLE_PREFIX}{plain}"


def cell(text: str) -> str:
    """Return text as one cell of a TSV file."""
    return " ".join(text.split()) or NOT_KNOWN


@contextmanager
def packed(path: Path) -> Iterator[gzip.GzipFile]:
    """Open a .gz file for writing; the same content gives the same bytes."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
        yield file


def _shown(recording: Recording, trial: Trial) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of a trial's stimuli."""
    onset_us = trial.image_onset_us
    before_us = trial.end_us if onset_us is None else onset_us
    for message in recording.messages:
        if trial.start_us <= message.tracker_time_us <= before_us and _CROSS.match(message.text):
            yield message.tracker_time_us, before_us, "cross"
    if onset_us is None:
        yield trial.start_us, trial.end_us, "trial"
    else:
        offset_us = trial.end_us if trial.image_offset_us is None else trial.image_offset_us
        yield onset_us, offset_us, "image"


def _variables(trials: Sequence[Trial]) -> list[str]:
    """Return the names of all trial variables, gazelive's own first, one per column."""
    found = dict.fromkeys(name for trial in trials for name in trial.variables)
    names = [name for name in OWN_VARIABLES if name in found]
    columns = {variable_column(name) for name in names}
    for name in found:
        column = variable_column(name)
        if name not in OWN_VARIABLES and name != "image" and column not in columns:
            names.append(name)
            columns.add(column)
    return names


def _lies_in(blink: TrackerEvent, event: TrackerEvent) -> bool:
    return event.start_us <= blink.start_us and blink.end_us <= event.end_us


def _ms(time_us: int) -> str:
    return str(time_us // 1000) if time_us % 1000 == 0 else f"{time_us / 1000:.3f}"


def _timestamps(times_us: Integers) -> Any:
    """Return milliseconds, whole ones without a decimal point."""
    import pyarrow as pa

    if not (times_us % 1000).any():
        return pa.array(times_us // 1000)
    return pa.array(times_us / 1000)


def _numbers(values: SingleFloats, lost: Flags) -> Any:
    """Return numbers as text, as short as float32 allows, `n/a` where missing."""
    import pyarrow as pa

    return pa.array(values, mask=lost).cast(pa.string()).fill_null(NOT_KNOWN)
