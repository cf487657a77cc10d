"""Events against labels: what `gazelive compare` reads and how it puts both on one grid of times.

Labels are a table of samples (`t_ms,label`), a table of events (`onset_ms,offset_ms`), or a
recording, whose tracker found events of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gazelive.detection.agreement import Agreement, compare_events, mask_of
from gazelive.detection.between import Runs, runs_of
from gazelive.errors import RecordingError
from gazelive.recordings.opening import read_recording
from gazelive.recordings.recording import Recording
from gazelive.recordings.table_files import has_table_suffix, read_table_file, read_table_names

Floats = npt.NDArray[np.float64]

LABEL_NAMES = {
    "0": "undefined",
    "1": "fixation",
    "2": "saccade",
    "3": "oscillation",
    "4": "pursuit",
    "5": "blink",
    "6": "other",
}
"""The codes of hand-labelled corpora (Andersson et al. 2017; Zemblys et al. 2018)."""
NOT_COMPARABLE = "undefined"
LONGEST_MS = 48 * 3.6e6
GRID_MS = 1.0
"""The grid on which two tables of events are compared."""


@dataclass(frozen=True)
class Labels:
    """A reference on a grid of times."""

    source: str
    times_ms: Floats
    names: npt.NDArray[np.str_]
    """The label of each time."""

    @property
    def sampling_rate_hz(self) -> float:
        """The rate of the grid."""
        return 1000.0 / float(np.median(np.diff(self.times_ms)))


@dataclass(frozen=True)
class Comparison:
    """Agreement on saccades, and what each label was taken for."""

    agreement: Agreement
    confusion: dict[str, tuple[int, int]]
    """Samples of each label that were found to be a saccade, and that were not."""
    n_samples: int


def compare(events: Path, labels: Path) -> Comparison:
    """Compare the saccades in a table of events with labels."""
    spans_ms = read_events(events)
    reference = read_labels(labels, spans_ms, _searched_ms(events))
    found = _runs_on_grid(spans_ms, reference.times_ms)
    comparable = reference.names != NOT_COMPARABLE
    agreement = compare_events(
        found, runs_of(reference.names == "saccade"), comparable, reference.sampling_rate_hz
    )
    inside = mask_of(found, len(reference.times_ms))
    confusion = {
        str(name): (
            int((inside & (reference.names == name)).sum()),
            int((~inside & (reference.names == name)).sum()),
        )
        for name in np.unique(reference.names)
    }
    return Comparison(agreement, confusion, int(comparable.sum()))


def read_events(path: Path) -> Floats:
    """Return first and last time of each saccade in ms, shape (n, 2), in their order."""
    names = read_table_names(path)
    if not {"onset_ms", "offset_ms"} <= set(names):
        raise RecordingError(
            f"a table of events has columns onset_ms and offset_ms; this one has "
            f"{', '.join(names) or 'none'}",
            path=path,
        )
    table = read_table_file(
        path, {"onset_ms": pa.float64(), "offset_ms": pa.float64(), "event": pa.string()}
    ).table
    spans = np.stack(
        [table[name].to_numpy().astype(np.float64) for name in ("onset_ms", "offset_ms")], axis=1
    )
    if "event" in table.column_names:
        spans = spans[[event == "saccade" for event in table["event"].to_pylist()]]
    if not np.isfinite(spans).all() or (spans[:, 1] < spans[:, 0]).any():
        raise RecordingError(
            "an event has no onset, no offset, or ends before it begins", path=path
        )
    return spans[np.argsort(spans[:, 0])]


def read_labels(path: Path, events_ms: Floats, searched_ms: Floats | None) -> Labels:
    """Return the reference that `path` holds."""
    if path.is_file() and has_table_suffix(path):
        names = set(read_table_names(path))
        if {"t_ms", "label"} <= names:
            return _labels_of_samples(path)
        if {"onset_ms", "offset_ms"} <= names:
            reference = read_events(path)
            both = np.concatenate((reference, events_ms))
            if not len(both):
                raise RecordingError("neither table has an event to compare", path=path)
            span = np.array([[both.min(), both.max()]]) if searched_ms is None else searched_ms
            return _labels_of_events(str(path), reference, span)
    recording = read_recording(path)
    spans = searched_ms
    if spans is None:
        spans = np.array([[b.start_us, b.end_us] for b in recording.blocks], np.float64) / 1000
    return _labels_of_events(str(path), tracker_saccades_ms(recording), spans)


def tracker_saccades_ms(recording: Recording) -> Floats:
    """Return the saccades that the tracker found in either eye; overlapping ones are one."""
    found = sorted((e.start_us, e.end_us) for e in recording.tracker_events if e.kind == "saccade")
    if not found:
        raise RecordingError(
            "the tracker recorded no saccades here, so there is nothing to compare with",
            path=recording.path,
        )
    merged: list[tuple[int, int]] = []
    for first, last in found:
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return np.array(merged, np.float64) / 1000


def _labels_of_samples(path: Path) -> Labels:
    table = read_table_file(path, {"t_ms": pa.float64(), "label": pa.string()}).table
    times = table["t_ms"].to_numpy().astype(np.float64)
    if len(times) < 2 or not (np.diff(times) > 0).all():
        raise RecordingError("t_ms must increase from row to row", path=path)
    labels = [_label_name(label) for label in table["label"].to_pylist()]
    return Labels(str(path), times, np.array(labels))


def _label_name(label: str | None) -> str:
    if label is None:
        return NOT_COMPARABLE
    text = label.strip().lower()
    return LABEL_NAMES.get(text.removesuffix(".0"), text or NOT_COMPARABLE)


def _labels_of_events(source: str, reference_ms: Floats, spans_ms: Floats) -> Labels:
    """Put events on an even grid over the spans that were searched."""
    longest_ms = float((spans_ms[:, 1] - spans_ms[:, 0]).sum()) if len(spans_ms) else 0.0
    if not 0 < longest_ms <= LONGEST_MS:
        raise RecordingError(
            f"there are {longest_ms / 3.6e6:.0f} hours to compare: are both times in ms and of one "
            "clock?",
            path=source,
        )
    times = np.concatenate([np.arange(first, last + GRID_MS, GRID_MS) for first, last in spans_ms])
    names = np.full(len(times), "no saccade", dtype="<U10")
    names[mask_of(_runs_on_grid(reference_ms, times), len(times))] = "saccade"
    return Labels(source, times, names)


def _runs_on_grid(spans_ms: Floats, times_ms: Floats) -> Runs:
    """Return the first and last index of each span; spans outside the grid are left out."""
    half = float(np.median(np.diff(times_ms))) / 2 if len(times_ms) > 1 else 0.5
    first = np.searchsorted(times_ms, spans_ms[:, 0] - half)
    last = np.searchsorted(times_ms, spans_ms[:, 1] + half) - 1
    inside = last >= first
    return np.column_stack((first, last))[inside].astype(np.int64)


def _searched_ms(events: Path) -> Floats | None:
    """Return the intervals that `detect` searched, where it left word of them."""
    sidecar = events.with_name(events.name + ".meta.json")
    if not sidecar.is_file():
        return None
    try:
        provenance = msgspec.json.decode(sidecar.read_bytes(), type=_Provenance)
    except msgspec.MsgspecError:
        return None  # somebody else's file of that name
    spans = [(i.start_us, i.end_us - 1) for i in provenance.intervals]
    return np.array(spans, np.float64).reshape(-1, 2) / 1000 if spans else None


class _Searched(msgspec.Struct):
    start_us: int
    end_us: int


class _Provenance(msgspec.Struct):
    """What of the file beside `detect`'s table is needed here."""

    intervals: tuple[_Searched, ...] = ()
