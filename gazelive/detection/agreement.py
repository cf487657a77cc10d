"""How well two sets of events agree: sample κ, event F1, boundary errors, confusion.

Events are inclusive first and last sample indices, shape (n, 2), in their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.detection.between import Runs, runs_of

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Agreement:
    """What `compare` says; errors are found minus reference, in milliseconds."""

    kappa: float | None
    """Cohen's κ over samples, saccade or not (None where both sides are constant)."""
    precision: float
    recall: float
    f1: float
    n_matched: int
    n_found: int
    n_reference: int
    onset_errors_ms: npt.NDArray[np.float64]
    offset_errors_ms: npt.NDArray[np.float64]
    counts: SampleCounts


@dataclass(frozen=True)
class SampleCounts:
    """Samples by what was found and what the reference says."""

    both: int
    only_found: int
    only_reference: int
    neither: int

    def __add__(self, other: SampleCounts) -> SampleCounts:
        return SampleCounts(
            self.both + other.both,
            self.only_found + other.only_found,
            self.only_reference + other.only_reference,
            self.neither + other.neither,
        )

    @property
    def kappa(self) -> float | None:
        """Cohen's κ; None where chance alone explains everything."""
        n = self.both + self.only_found + self.only_reference + self.neither
        if n == 0:
            return None
        observed = (self.both + self.neither) / n
        found, reference = self.both + self.only_found, self.both + self.only_reference
        expected = (found * reference + (n - found) * (n - reference)) / n**2
        return (observed - expected) / (1 - expected) if expected < 1 else None


def mask_of(events: Runs, n_samples: int) -> Mask:
    """Return for each sample whether it is inside an event."""
    mask = np.zeros(n_samples, bool)
    for first, last in events:
        mask[first : last + 1] = True
    return mask


def count_samples(found: Runs, reference: Runs, comparable: Mask) -> SampleCounts:
    """Count the samples of `comparable` by what both sides say of them."""
    f, r = mask_of(found, len(comparable)), mask_of(reference, len(comparable))
    return SampleCounts(
        both=int((f & r & comparable).sum()),
        only_found=int((f & ~r & comparable).sum()),
        only_reference=int((~f & r & comparable).sum()),
        neither=int((~f & ~r & comparable).sum()),
    )


def match_events(reference: Runs, found: Runs) -> list[tuple[int, int]]:
    """Pair events one to one, largest overlap first; return (reference, found) indices."""
    pairs = []
    first_candidate = 0
    for i, (a, b) in enumerate(reference):
        while first_candidate < len(found) and found[first_candidate, 1] < a:
            first_candidate += 1
        j = first_candidate
        while j < len(found) and found[j, 0] <= b:
            overlap = min(b, found[j, 1]) - max(a, found[j, 0]) + 1
            if overlap > 0:
                pairs.append((-int(overlap), i, j))
            j += 1
    pairs.sort()
    used_reference: set[int] = set()
    used_found: set[int] = set()
    matched = []
    for _, i, j in pairs:
        if i not in used_reference and j not in used_found:
            used_reference.add(i)
            used_found.add(j)
            matched.append((i, j))
    return sorted(matched)


def compare_events(
    found: Runs, reference: Runs, comparable: Mask, sampling_rate_hz: float
) -> Agreement:
    """Compare found events with a reference over the samples that are `comparable`."""
    counts = count_samples(found, reference, comparable)
    matched = match_events(reference, found)
    precision = len(matched) / len(found) if len(found) else 0.0
    recall = len(matched) / len(reference) if len(reference) else 0.0
    f1 = 2 * precision * recall / (precision + recall) if matched else 0.0
    pairs = np.array(matched, np.int64).reshape(-1, 2)
    errors = (found[pairs[:, 1]] - reference[pairs[:, 0]]).astype(np.float64)
    errors_ms = errors * np.float64(1000.0 / sampling_rate_hz)
    return Agreement(
        kappa=counts.kappa,
        precision=precision,
        recall=recall,
        f1=f1,
        n_matched=len(matched),
        n_found=len(found),
        n_reference=len(reference),
        onset_errors_ms=errors_ms[:, 0],
        offset_errors_ms=errors_ms[:, 1],
        counts=counts,
    )


def confusion_matrix(
    found_labels: npt.NDArray[np.str_],
    reference_labels: npt.NDArray[np.str_],
    names: tuple[str, ...],
) -> npt.NDArray[np.int64]:
    """Count samples by label: rows are the reference's, columns the found one's, as in `names`.

    A label outside `names` is not counted.
    """
    matrix = np.zeros((len(names), len(names)), np.int64)
    for i, reference in enumerate(names):
        for j, found in enumerate(names):
            matrix[i, j] = int(((reference_labels == reference) & (found_labels == found)).sum())
    return matrix


__all__ = [
    "Agreement",
    "SampleCounts",
    "compare_events",
    "confusion_matrix",
    "count_samples",
    "mask_of",
    "match_events",
    "runs_of",
]
