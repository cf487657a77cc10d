"""Agreement of two sets of events: sample κ, event F1, boundary errors.

Events are inclusive first and last sample indices, shape (n, 2), in their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazelive.detection.events import Runs
from gazelive.gaze import Flags, Floats


@dataclass(frozen=True)
class Agreement:
    """Agreement of found events with a reference; errors are found minus reference."""

    kappa: float | None
    """Cohen's κ over samples, saccade or not (None where both sides are constant)."""
    precision: float
    recall: float
    f1: float
    n_matched: int
    n_found: int
    n_reference: int
    onset_errors_ms: Floats
    offset_errors_ms: Floats
    counts: SampleCounts


@dataclass(frozen=True)
class SampleCounts:
    """Numbers of samples inside found and reference saccades."""

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


def mask_of(events: Runs, n_samples: int) -> Flags:
    """Return for each sample whether it is inside an event."""
    mask = np.zeros(n_samples, bool)
    for first, last in events:
        mask[first : last + 1] = True
    return mask


def count_samples(found: Runs, reference: Runs, comparable: Flags) -> SampleCounts:
    """Count the `comparable` samples inside and outside the events of both sides."""
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
    found: Runs, reference: Runs, comparable: Flags, sampling_rate_hz: float
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
