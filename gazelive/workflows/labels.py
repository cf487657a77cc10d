"""Reference labels of `gazelive compare`, on a grid of times.

They are a table of samples (`t_ms,label`), a table of events (`onset_ms,offset_ms`), the truth
that `simulate` writes, or a recording, whose tracker found events of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gazelive.detection import Runs, mask_of, runs_of
from gazelive.errors import RecordingError
from gazelive.gaze import Floats
from gazelive.recordings import (
    Block,
    Recording,
    describe_names,
    has_table_suffix,
    other_unit,
    read_recording,
    read_table_file,
    read_table_names,
)
from gazelive.workflows.event_spans import (
    KNOWN,
    NO_SACCADE,
    NOT_COMPARABLE,
    NOT_SEARCHED,
    SACCADES,
    TRUTH_COLUMNS,
    USUAL_CODES,
    Codes,
    Searched,
    kinds_of_events,
    label_name,
    no_common_time,
    searched_for,
)

Named = tuple[str, Floats]
"""Name of the events, and first and last time of each in ms, shape (n, 2)."""

LONGEST_MS = 48 * 3.6e6
GRID_MS = 1.0
"""The grid on which tables of events are compared if nothing says their sampling rate."""


@dataclass(frozen=True)
class Labels:
    """A reference on a grid of times."""

    times_ms: Floats
    names: npt.NDArray[np.str_]
    """The label of each time."""
    saccades: Runs
    """First and last time of each saccade, as indices."""
    has_samples: bool = True
    """Whether the times are those of samples; False: of `GRID_MS`, as the rate is not known."""

    @property
    def sampling_rate_hz(self) -> float:
        """The rate of the grid."""
        return 1000.0 / float(np.median(np.diff(self.times_ms)))


def read_labels(
    path: Path,
    events_ms: Floats,
    searched: Searched,
    *,
    codes: Codes = USUAL_CODES,
    progress: Callable[[float], None] | None = None,
) -> Labels:
    """Return the reference that `path` holds, over what was searched where that is known.

    `codes` are those of a table's labels.
    """
    if path.is_file() and has_table_suffix(path):
        names = read_table_names(path)
        if set(names) >= TRUTH_COLUMNS:
            return _of_truth(path, searched)
        if {"t_ms", "label"} <= set(names):
            return _of_samples(path, searched, codes)
        if {"onset_ms", "offset_ms"} <= set(names):
            return _of_event_table(path, events_ms, searched, codes)
        if not any(name.endswith(("x_px", "x_deg")) for name in names):
            raise RecordingError(
                "LABELS is a table t_ms,label, a table of events with onset_ms,offset_ms, or a "
                f"recording, and this one has {describe_names(names)}",
                path=path,
            )
    recording = read_recording(path, progress=progress)
    spans_ms = searched.spans_ms
    if spans_ms is None:
        spans_ms = np.array([_first_and_last_us(b) for b in recording.blocks], np.float64) / 1000
    sample_ms = searched.sample_ms
    if sample_ms is None and recording.blocks:
        sample_ms = min(b.stream.sample_interval_us for b in recording.blocks) / 1000
    return on_grid(path, tracker_labels_ms(recording, searched.eyes), spans_ms, sample_ms)


def _first_and_last_us(block: Block) -> tuple[int, int]:
    """Return the times of the block's samples; a file may hold events only."""
    times_us = block.samples["tracker_time_us"]
    if not len(times_us):
        return block.start_us, block.end_us
    return int(times_us[0]), int(times_us[-1])


def tracker_labels_ms(recording: Recording, eyes: str = "LR") -> list[Named]:
    """Return the blinks and saccades that the tracker found in any of `eyes`.

    Saccades that overlap are one. EyeLink's parser puts a saccade around every blink: that is the
    lid, and no saccade.
    """
    found = [e for e in recording.tracker_events if e.kind == "saccade" and e.eye in eyes]
    if not found:
        raise RecordingError(
            "the tracker recorded no saccades here, so there is nothing to compare with",
            path=recording.path,
        )
    blinks = [event for event in recording.tracker_events if event.kind == "blink"]
    starts_us = {
        eye: np.sort([blink.start_us for blink in blinks if blink.eye == eye]) for eye in "LR"
    }
    around_blink: list[tuple[float, float]] = []
    others: list[tuple[float, float]] = []
    for event in found:
        first, beyond = np.searchsorted(starts_us[event.eye], [event.start_us, event.end_us + 1])
        span_ms = event.start_us / 1000, event.end_us / 1000
        (around_blink if beyond > first else others).append(span_ms)
    return [
        (name, _merged(np.array(spans, np.float64).reshape(-1, 2)))
        for name, spans in (("blink", around_blink), ("saccade", others))
    ]


def on_grid(
    path: Path, painted: Iterable[Named], spans_ms: Floats, sample_ms: float | None
) -> Labels:
    """Put named events on the samples of the spans that were searched; later ones win."""
    spans_ms = spans_ms[np.argsort(spans_ms[:, 0], kind="stable")]
    longest_ms = float((spans_ms[:, 1] - spans_ms[:, 0]).sum()) if len(spans_ms) else 0.0
    if not 0 < longest_ms <= LONGEST_MS:
        raise RecordingError(
            f"there are {longest_ms / 3.6e6:.0f} hours to compare: are both times in ms and of one "
            "clock?",
            path=path,
        )
    step_ms = GRID_MS if sample_ms is None else sample_ms
    times = np.concatenate([_sample_times_ms(a, b, step_ms) for a, b in spans_ms.tolist()])
    if not (np.diff(times) > 0).all():  # a sample that two spans share
        times = np.unique(times)
    names = np.full(len(times), NO_SACCADE, dtype="<U24")
    saccades = np.empty((0, 2), np.int64)
    for name, events_ms in painted:
        runs = runs_on_grid(events_ms, times)
        names[mask_of(runs, len(times))] = name
        if name in SACCADES:
            _refuse_other_clock(path, events_ms, times)
            saccades = np.concatenate((saccades, runs))
    in_order = saccades[np.argsort(saccades[:, 0], kind="stable")]
    return Labels(times, names, in_order, has_samples=sample_ms is not None)


def _sample_times_ms(first: float, last: float, step: float) -> Floats:
    """Return the times from `first` to `last`, both included."""
    n_steps = math.floor((last - first) / step + 1e-6)
    return np.asarray(first + step * np.arange(n_steps + 1), np.float64)


def runs_on_grid(spans_ms: Floats, times_ms: Floats) -> Runs:
    """Return the first and last index of each span; spans outside the grid are left out."""
    half = float(np.median(np.diff(times_ms))) / 2 if len(times_ms) > 1 else 0.5
    first = np.searchsorted(times_ms, spans_ms[:, 0] - half)
    last = np.searchsorted(times_ms, spans_ms[:, 1] + half) - 1
    inside = last >= first
    return np.column_stack((first, last))[inside].astype(np.int64)


def _refuse_other_clock(path: Path, events_ms: Floats, times_ms: Floats) -> None:
    if len(events_ms) and not (events_ms.min() <= times_ms[-1] and events_ms.max() >= times_ms[0]):
        raise no_common_time(path, events_ms, "what was searched", times_ms)


def _merged(spans_ms: Floats) -> Floats:
    """Return spans (n, 2) in their order with those that overlap made one."""
    merged: list[tuple[float, float]] = []
    for first, last in spans_ms[np.argsort(spans_ms[:, 0], kind="stable")].tolist():
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return np.array(merged, np.float64).reshape(-1, 2)


def _of_samples(path: Path, searched: Searched, codes: Codes) -> Labels:
    table = read_table_file(path, {"t_ms": pa.float64(), "label": pa.string()}).table
    times = table["t_ms"].to_numpy().astype(np.float64)
    unit = other_unit(times)
    if unit is not None:
        raise RecordingError(
            f"column t_ms seems to be in {unit[0]}, and must be in milliseconds", path=path
        )
    if len(times) < 2:
        raise RecordingError("holds no labels: two rows at least are needed", path=path)
    backwards = np.flatnonzero(~(np.diff(times) > 0))
    if len(backwards):
        row = int(backwards[0]) + 2
        raise RecordingError(
            f"column t_ms must increase from row to row, and does not at row {row} "
            f"({times[row - 2]:g}, {times[row - 1]:g})",
            path=path,
        )
    names = np.array([label_name(label, codes) for label in table["label"].to_pylist()])
    if not set(names) & KNOWN:
        raise RecordingError(
            f"column label says {', '.join(sorted(set(names))[:5])}: a saccade is called saccade "
            "or 2, a fixation fixation or 1; for other codes, add --codes",
            path=path,
        )
    if searched.spans_ms is not None:
        first = np.searchsorted(times, searched.spans_ms[:, 0])
        last = np.searchsorted(times, searched.spans_ms[:, 1], side="right") - 1
        inside = mask_of(np.column_stack((first, last)), len(times))
        if not inside.any():
            raise no_common_time(path, times, "what was searched", searched.spans_ms)
        names = np.where(inside, names, NOT_SEARCHED)
    if np.isin(names, (NOT_COMPARABLE, NOT_SEARCHED)).all():
        raise RecordingError("no label says anything: all are 0, empty or undefined", path=path)
    return Labels(times, names, runs_of(np.isin(names, list(SACCADES))))


def _of_event_table(path: Path, events_ms: Floats, searched: Searched, codes: Codes) -> Labels:
    kinds = kinds_of_events(path, codes)
    named = [
        *((name, spans) for name, spans in kinds.items() if name not in SACCADES),
        *((name, spans) for name, spans in kinds.items() if name in SACCADES),
    ]
    both = np.concatenate([*kinds.values(), events_ms])
    if not len(both):
        raise RecordingError("neither table has an event to compare", path=path)
    span = np.array([[both.min(), both.max()]])
    span = span if searched.spans_ms is None else searched.spans_ms
    sample_ms = searched.sample_ms or searched_for(path).sample_ms
    return on_grid(path, named, span, sample_ms)


def _of_truth(path: Path, searched: Searched) -> Labels:
    """Return the movements of a simulated eye without lost saccades, which cannot be detected."""
    times = ("onset_us", "offset_us", "oscillation_end_us")
    types = {**dict.fromkeys(times, pa.float64()), "kind": pa.string(), "lost": pa.bool_()}
    table = read_table_file(path, {**types, "eye": pa.string()}).table
    table = table.filter(pa.array([eye in searched.eyes for eye in table["eye"].to_pylist()]))
    if not table.num_rows:
        raise RecordingError(
            f"this truth has no event of eye {' or '.join(searched.eyes)} to compare with",
            path=path,
        )
    kinds = np.array(table["kind"].to_pylist(), dtype=str)
    lost = np.asarray(table["lost"].fill_null(False), bool)
    onset, offset, still = (table[name].to_numpy().astype(np.float64) / 1000 for name in times)
    spans = np.column_stack((onset, offset))

    def of(*wanted: str) -> list[Named]:
        return [(kind, _merged(spans[(kinds == kind) & ~lost])) for kind in wanted]

    oscillating = np.isfinite(still) & ~lost
    painted = [
        *of("fixation"),
        ("oscillation", np.column_stack((offset, still))[oscillating]),
        *of(*sorted(set(kinds) - {"fixation", *SACCADES})),
        *of(*sorted(set(kinds) & SACCADES)),
        (NOT_COMPARABLE, spans[lost]),
    ]
    whole = np.array([[spans.min(), spans.max()]])
    spans_ms = whole if searched.spans_ms is None else searched.spans_ms
    return on_grid(path, painted, spans_ms, searched.sample_ms)
