"""Events against labels: what `gazelive compare` reads and how it puts both on one grid of times.

Labels are a table of samples (`t_ms,label`), a table of events (`onset_ms,offset_ms`), the truth
that `simulate` writes, or a recording, whose tracker found events of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gazelive.detection.agreement import Agreement, compare_events, mask_of
from gazelive.detection.between import Runs, runs_of
from gazelive.errors import RecordingError
from gazelive.recordings.column_names import describe_names
from gazelive.recordings.opening import read_recording
from gazelive.recordings.recording import Recording
from gazelive.recordings.table_files import has_table_suffix, read_table_file, read_table_names
from gazelive.recordings.table_times import other_unit

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
KIND_COLUMNS = ("event", "kind", "label", "type")
"""Columns in which a table of events may say what each is."""
SACCADE_WORDS = frozenset({"saccade", "sacc", "isac", "corrective", "microsaccade", "2"})
"""What a saccade is called: here, by REMoDNaV, by the simulator, by coders."""
FIXATION_COLUMNS = frozenset({"dispersion_deg", "drift_speed_deg_s", "x_deg", "y_deg", "x_px"})
SACCADE_COLUMNS = frozenset({"amplitude_deg", "start_x_deg", "peak_velocity_deg_s"})
"""By these, events that do not say what they are can be told."""
TRUTH_COLUMNS = frozenset({"kind", "onset_us", "offset_us", "oscillation_end_us", "lost"})
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
    saccades: Runs
    """First and last time of each saccade, as indices."""

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


def compare(
    events: Path, labels: Path, *, progress: Callable[[float], None] | None = None
) -> Comparison:
    """Compare the saccades in a table of events with labels."""
    spans_ms = read_events(events)
    reference = read_labels(labels, spans_ms, _searched_ms(events), progress=progress)
    found = _runs_on_grid(spans_ms, reference.times_ms)
    _refuse_other_clock(events, labels, spans_ms, found, reference)
    comparable = reference.names != NOT_COMPARABLE
    agreement = compare_events(found, reference.saccades, comparable, reference.sampling_rate_hz)
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
    if path.is_dir():
        raise RecordingError(
            "this is a folder: EVENTS is a table, as detect -o writes it", path=path
        )
    names = read_table_names(path)
    if set(names) >= TRUTH_COLUMNS:
        raise RecordingError(
            "this is the truth of a simulation, which has events of all kinds: give it as LABELS, "
            "and the saccades that were detected as EVENTS",
            path=path,
        )
    if not {"onset_ms", "offset_ms"} <= set(names):
        raise RecordingError(
            "a table of events, as detect -o writes it, has columns onset_ms and offset_ms, and "
            f"this one has {describe_names(names)}",
            path=path,
        )
    kind = next((name for name in KIND_COLUMNS if name in names), None)
    if kind is None and set(names) & FIXATION_COLUMNS and not set(names) & SACCADE_COLUMNS:
        raise RecordingError(
            "this is a table of fixations, and compare takes saccades: those that detect writes "
            "with -o, not with --fixations",
            path=path,
        )
    table = read_table_file(
        path, {"onset_ms": pa.float64(), "offset_ms": pa.float64(), str(kind): pa.string()}
    ).table
    spans = np.stack(
        [table[name].to_numpy().astype(np.float64) for name in ("onset_ms", "offset_ms")], axis=1
    )
    if kind is not None:
        spans = spans[_are_saccades(table[kind].to_pylist(), kind, path)]
    if not np.isfinite(spans).all() or (spans[:, 1] < spans[:, 0]).any():
        raise RecordingError(
            "an event has no onset, no offset, or ends before it begins", path=path
        )
    return spans[np.argsort(spans[:, 0], kind="stable")]


def _are_saccades(words: list[str | None], column: str, path: Path) -> list[bool]:
    """Say which events are saccades; that none of some is one must be a mistake."""
    found = [(word or "").strip().lower().removesuffix(".0") in SACCADE_WORDS for word in words]
    if words and not any(found):
        others = ", ".join(sorted({str(word) for word in words})[:5])
        raise RecordingError(
            f"no {column} in this table is a saccade: there are {others}", path=path
        )
    return found


def read_labels(
    path: Path,
    events_ms: Floats,
    searched_ms: Floats | None,
    *,
    progress: Callable[[float], None] | None = None,
) -> Labels:
    """Return the reference that `path` holds, over what was searched where that is known."""
    if path.is_file() and has_table_suffix(path):
        names = set(read_table_names(path))
        if names >= TRUTH_COLUMNS:
            return _labels_of_truth(path, searched_ms)
        if {"t_ms", "label"} <= names:
            return _labels_of_samples(path)
        if {"onset_ms", "offset_ms"} <= names:
            reference = read_events(path)
            both = np.concatenate((reference, events_ms))
            if not len(both):
                raise RecordingError("neither table has an event to compare", path=path)
            span = np.array([[both.min(), both.max()]]) if searched_ms is None else searched_ms
            return _labels_of_events(str(path), [("saccade", reference)], span)
    recording = read_recording(path, progress=progress)
    spans = searched_ms
    if spans is None:
        spans = np.array([[b.start_us, b.end_us] for b in recording.blocks], np.float64) / 1000
    return _labels_of_events(str(path), tracker_labels_ms(recording), spans)


def tracker_labels_ms(recording: Recording) -> list[tuple[str, Floats]]:
    """Return the blinks and saccades that the tracker found in either eye.

    Saccades that overlap are one. EyeLink's parser puts a saccade around every blink: that is the
    lid, and no saccade.
    """
    found = [event for event in recording.tracker_events if event.kind == "saccade"]
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


def _merged(spans_ms: Floats) -> Floats:
    """Return spans (n, 2) in their order with those that overlap made one."""
    merged: list[tuple[float, float]] = []
    for first, last in spans_ms[np.argsort(spans_ms[:, 0], kind="stable")].tolist():
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return np.array(merged, np.float64).reshape(-1, 2)


def _labels_of_samples(path: Path) -> Labels:
    table = read_table_file(path, {"t_ms": pa.float64(), "label": pa.string()}).table
    times = table["t_ms"].to_numpy().astype(np.float64)
    unit = other_unit(times)
    if unit is not None:
        raise RecordingError(
            f"column t_ms seems to be in {unit[0]}, and must be in milliseconds", path=path
        )
    if len(times) < 2 or not (np.diff(times) > 0).all():
        raise RecordingError("column t_ms must increase from row to row", path=path)
    names = np.array([_label_name(label) for label in table["label"].to_pylist()])
    if not set(names) & set(LABEL_NAMES.values()):
        raise RecordingError(
            f"column label says {', '.join(sorted(set(names))[:5])}: a saccade is called saccade "
            "or 2, a fixation fixation or 1",
            path=path,
        )
    return Labels(str(path), times, names, runs_of(names == "saccade"))


def _label_name(label: str | None) -> str:
    if label is None:
        return NOT_COMPARABLE
    text = label.strip().lower()
    if text in SACCADE_WORDS:
        return "saccade"
    return LABEL_NAMES.get(text.removesuffix(".0"), text or NOT_COMPARABLE)


def _labels_of_truth(path: Path, searched_ms: Floats | None) -> Labels:
    """Return what a simulated eye did; saccades that were lost cannot be found by anybody."""
    times = ("onset_us", "offset_us", "oscillation_end_us")
    types = {**dict.fromkeys(times, pa.float64()), "kind": pa.string(), "lost": pa.bool_()}
    table = read_table_file(path, types).table
    if not table.num_rows:
        raise RecordingError("this truth has no event to compare with", path=path)
    kinds = np.array(table["kind"].to_pylist(), dtype=str)
    lost = np.asarray(table["lost"].fill_null(False), bool)
    onset, offset, still = (table[name].to_numpy().astype(np.float64) / 1000 for name in times)
    spans = np.column_stack((onset, offset))

    def of(*wanted: str) -> list[tuple[str, Floats]]:
        return [(kind, _merged(spans[(kinds == kind) & ~lost])) for kind in wanted]

    saccades = sorted(set(kinds) & SACCADE_WORDS)
    oscillating = np.isfinite(still) & ~lost
    painted = [
        *of("fixation"),
        ("oscillation", np.column_stack((offset, still))[oscillating]),
        *of(*sorted(set(kinds) - {"fixation", *SACCADE_WORDS})),
        *of(*saccades),
        (NOT_COMPARABLE, spans[lost]),
    ]
    whole = np.array([[spans.min(), spans.max()]])
    return _labels_of_events(str(path), painted, whole if searched_ms is None else searched_ms)


def _labels_of_events(
    source: str, painted: Iterable[tuple[str, Floats]], spans_ms: Floats
) -> Labels:
    """Put named events on an even grid over the spans that were searched; later ones win."""
    longest_ms = float((spans_ms[:, 1] - spans_ms[:, 0]).sum()) if len(spans_ms) else 0.0
    if not 0 < longest_ms <= LONGEST_MS:
        raise RecordingError(
            f"there are {longest_ms / 3.6e6:.0f} hours to compare: are both times in ms and of one "
            "clock?",
            path=source,
        )
    times = np.concatenate([np.arange(first, last + GRID_MS, GRID_MS) for first, last in spans_ms])
    names = np.full(len(times), "no saccade", dtype="<U24")
    saccades = np.empty((0, 2), np.int64)
    for name, events_ms in painted:
        runs = _runs_on_grid(events_ms, times)
        names[mask_of(runs, len(times))] = name
        if name in SACCADE_WORDS:
            saccades = np.concatenate((saccades, runs))
    return Labels(source, times, names, saccades[np.argsort(saccades[:, 0], kind="stable")])


def _refuse_other_clock(
    events: Path, labels: Path, spans_ms: Floats, found: Runs, reference: Labels
) -> None:
    """Say so where not one event lies in the time of the labels."""
    if len(spans_ms) and not len(found):
        times = reference.times_ms
        raise RecordingError(
            f"its events lie between {spans_ms.min():.0f} and {spans_ms.max():.0f} ms, and none "
            f"of them within the times of {labels.name} ({times[0]:.0f} to {times[-1]:.0f} ms): "
            "are both in ms, and of one clock?",
            path=events,
        )


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
