"""Comparison of events with labels, for `gazelive compare`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gazelive.detection import Agreement, Runs, compare_events, mask_of, match_events
from gazelive.gaze import Floats
from gazelive.workflows.event_spans import (
    KNOWN,
    NOT_COMPARABLE,
    NOT_SEARCHED,
    USUAL_CODES,
    Codes,
    no_common_time,
    saccades_of_events,
    searched_for,
)
from gazelive.workflows.labels import Labels, read_labels, runs_on_grid

FEWEST_TO_SHIFT = 5
FARTHEST_SHIFT_MS = 5000.0
SHIFT_STEP_MS = 10.0
MOST_TO_SHIFT = 300
"""Number of events of each side that are used to estimate a shift between clocks."""


@dataclass(frozen=True)
class Mismatch:
    """A labelled saccade that was missed, or a saccade that was found and not labelled."""

    what: Literal["missed", "extra"]
    onset_ms: float
    offset_ms: float
    label: str
    """The most frequent label during it."""


@dataclass(frozen=True)
class Comparison:
    """Agreement on saccades, and what each label was taken for."""

    agreement: Agreement
    confusion: dict[str, tuple[int, int]]
    """Samples of each label that were found to be a saccade, and that were not."""
    n_samples: int
    sample_ms: float | None
    """Interval of the samples; None if it is not known, and milliseconds were counted."""
    mismatches: tuple[Mismatch, ...] = ()
    """In the order of time."""
    warnings: tuple[str, ...] = ()
    """Doubts about the figures."""


def compare(
    events: Path,
    labels: Path,
    *,
    codes: Codes = USUAL_CODES,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Compare the saccades in a table of events with labels; `codes` are those of the labels.

    Found saccades during which no sample can be compared are left out.
    """
    spans_ms = saccades_of_events(events)
    searched = searched_for(events)
    reference = read_labels(labels, spans_ms, searched, codes=codes, progress=progress)
    found = runs_on_grid(spans_ms, reference.times_ms)
    if len(spans_ms) and not len(found):
        raise no_common_time(events, spans_ms, labels.name, reference.times_ms)
    comparable = ~np.isin(reference.names, (NOT_COMPARABLE, NOT_SEARCHED))
    found = found[np.array([comparable[a : b + 1].any() for a, b in found.tolist()], bool)]
    agreement = compare_events(found, reference.saccades, comparable, reference.sampling_rate_hz)
    inside = mask_of(found, len(reference.times_ms))
    confusion = {
        str(name): (
            int((inside & (reference.names == name)).sum()),
            int((~inside & (reference.names == name)).sum()),
        )
        for name in np.unique(reference.names)
    }
    doubts = (
        _unknown_words(labels, confusion),
        _nothing_to_find(labels, reference),
        _shifted_clock(labels, spans_ms, reference, agreement),
    )
    return Comparison(
        agreement=agreement,
        confusion=confusion,
        n_samples=int(comparable.sum()),
        sample_ms=1000 / reference.sampling_rate_hz if reference.has_samples else None,
        mismatches=_mismatches(reference, found),
        warnings=tuple(doubt for doubt in doubts if doubt),
    )


def _mismatches(reference: Labels, found: Runs) -> tuple[Mismatch, ...]:
    matched = np.array(match_events(reference.saccades, found), np.int64).reshape(-1, 2)
    missed = np.delete(reference.saccades, matched[:, 0], axis=0)
    extra = np.delete(found, matched[:, 1], axis=0)

    def of(what: Literal["missed", "extra"], runs: Runs) -> Iterator[Mismatch]:
        for first, last in runs.tolist():
            names, counts = np.unique(reference.names[first : last + 1], return_counts=True)
            onset_ms, offset_ms = reference.times_ms[[first, last]].tolist()
            yield Mismatch(what, onset_ms, offset_ms, str(names[np.argmax(counts)]))

    both = (*of("missed", missed), *of("extra", extra))
    return tuple(sorted(both, key=lambda mismatch: mismatch.onset_ms))


def mismatch_table(comparison: Comparison) -> Any:
    """Return what was missed and what was extra as an Arrow table."""
    import pyarrow as pa

    rows = comparison.mismatches
    return pa.table(
        {
            "what": pa.array([row.what for row in rows], pa.string()),
            "onset_ms": pa.array([row.onset_ms for row in rows], pa.float64()),
            "offset_ms": pa.array([row.offset_ms for row in rows], pa.float64()),
            "label": pa.array([row.label for row in rows], pa.string()),
        }
    )


def _nothing_to_find(labels: Path, reference: Labels) -> str | None:
    if len(reference.saccades):
        return None
    return f"{labels}: there is no saccade to compare with (one is called saccade or 2)"


def _unknown_words(labels: Path, confusion: dict[str, tuple[int, int]]) -> str | None:
    unknown = sorted(set(confusion) - KNOWN - {NOT_SEARCHED})
    if not unknown:
        return None
    return (
        f"{labels}: label {', '.join(unknown[:5])} is not known and counts as no saccade (one is "
        "called saccade or 2; --codes names others)"
    )


def _shifted_clock(
    labels: Path, spans_ms: Floats, reference: Labels, agreement: Agreement
) -> str | None:
    """Return a warning if events match badly, but well after a constant shift of the labels."""
    found_ms = spans_ms[:MOST_TO_SHIFT, 0]
    labelled_ms = reference.times_ms[reference.saccades[:MOST_TO_SHIFT, 0]]
    fewest = min(len(found_ms), len(labelled_ms))
    if fewest < FEWEST_TO_SHIFT or agreement.f1 > 0.5:
        return None
    lags_ms = (found_ms[:, None] - labelled_ms[None, :]).ravel()
    lags_ms = lags_ms[np.abs(lags_ms) < FARTHEST_SHIFT_MS]
    n_bins = round(2 * FARTHEST_SHIFT_MS / SHIFT_STEP_MS)
    counts, _ = np.histogram(lags_ms, n_bins, (-FARTHEST_SHIFT_MS, FARTHEST_SHIFT_MS))
    # a lag at the edge of a bin falls into both its neighbours
    best = int(np.argmax(counts[:-1] + counts[1:]))
    if counts[best] + counts[best + 1] < 0.7 * fewest:
        return None
    start_ms = best * SHIFT_STEP_MS - FARTHEST_SHIFT_MS
    near = (lags_ms >= start_ms) & (lags_ms <= start_ms + 2 * SHIFT_STEP_MS)
    return (
        f"most events would match if all times of {labels.name} were moved by "
        f"{np.median(lags_ms[near]):+.0f} ms: do both use the same clock?"
    )
