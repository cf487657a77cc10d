"""Summary of a run from its documents: identification, and when it was reached."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gazelive.gaze import (
    Document,
    IntervalSettled,
    ModelLoaded,
    Notice,
    Posterior,
    Quality,
    QualitySummary,
    RunStarted,
    RunStopped,
)
from gazelive.verdict import Verdict, verdict_of

LEVELS = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class Crossing:
    """Viewing time and saccades when a probability was first reached."""

    seconds: float
    n_saccades: int


@dataclass
class RunSummary:
    """Result of a run."""

    session: str = ""
    viewer: str | None = None
    stop_reason: str | None = None
    model: str | None = None
    method: str | None = None
    best: str | None = None
    """Most probable viewer; None without a model or without evidence."""
    p: float | None = None
    """Probability of `best` as shown: p·(1 − unknown)."""
    unknown: float | None = None
    """Probability of a stranger; None if strangers cannot be detected."""
    accepted: bool | None = None
    """Whether `best` is accepted; None if strangers cannot be detected, or in runs of 0.1."""
    more_s: float | None = None
    """Seconds of viewing until it would probably have been accepted, if any."""
    false_acceptance_rate: float | None = None
    n_enrolled: int | None = None
    n_saccades: int = 0
    """Saccades that counted as evidence; without a model, all that were detected."""
    n_images: int = 0
    seconds: float = 0.0
    crossed: dict[float, Crossing | None] = field(default_factory=dict)
    """Time at which the final best match reached each level."""
    n_intervals: int = 0
    n_settled_saccades: int = 0
    n_lost_samples: int = 0
    warnings: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict | None:
        """Who, how sure, and whether that is enough; None without a posterior."""
        if self.best is None or self.p is None:
            return None
        return verdict_of(
            self.best if self.n_saccades else None,
            self.p,
            unknown=self.unknown,
            accepted=self.accepted,
            more_s=self.more_s,
            false_acceptance_rate=self.false_acceptance_rate,
            n_enrolled=self.n_enrolled,
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        verdict = self.verdict
        return {
            "session": self.session,
            "viewer": self.viewer,
            "model": self.model,
            "method": self.method,
            "best": self.best,
            "p": self.p,
            "unknown": self.unknown,
            "accepted": self.accepted,
            "more_s": self.more_s,
            "headline": None if verdict is None else verdict.headline,
            "n_saccades": self.n_saccades,
            "n_images": self.n_images,
            "seconds": self.seconds,
            "crossed_s": {
                f"{level:g}": None if crossing is None else round(crossing.seconds, 3)
                for level, crossing in self.crossed.items()
            },
            "crossed_saccades": {
                f"{level:g}": None if crossing is None else crossing.n_saccades
                for level, crossing in self.crossed.items()
            },
            "intervals": self.n_intervals,
            "saccades": self.n_settled_saccades,
            "lost_samples": self.n_lost_samples,
            "warnings": self.warnings,
            "stop_reason": self.stop_reason,
        }


def summarise(documents: Iterable[Document]) -> RunSummary:
    """Return the summary of one run's documents."""
    summary = RunSummary()
    posteriors: list[Posterior] = []
    viewer_ids: tuple[str, ...] = ()
    for document in documents:
        match document:
            case RunStarted():
                summary.session, summary.viewer = document.session, document.viewer
            case ModelLoaded():
                summary.model, summary.method = document.model, document.method
                viewer_ids = document.viewer_ids
                summary.n_enrolled = len(viewer_ids)
                summary.false_acceptance_rate = document.false_acceptance_rate
            case Posterior():
                posteriors.append(document)
            case IntervalSettled():
                summary.n_intervals += 1
                summary.n_settled_saccades += len(document.saccades)
            case QualitySummary():
                summary.n_lost_samples = document.n_lost_samples
            case Notice(level="warning" | "error") | Quality(kind="interval" | "message"):
                summary.warnings.append(document.text)
            case RunStopped():
                summary.stop_reason = document.reason
    if posteriors:
        _take_posteriors(summary, posteriors, viewer_ids)
    else:
        summary.n_saccades = summary.n_settled_saccades
    return summary


def shown_probability(posterior: Posterior, viewer: int) -> float:
    """Return the displayed probability of a viewer, p·(1 − unknown); 0 if others lead."""
    if viewer not in posterior.leading:
        return 0.0
    p = math.exp(posterior.log_probabilities[posterior.leading.index(viewer)])
    return p if posterior.log_unknown is None else p * -math.expm1(posterior.log_unknown)


def _take_posteriors(
    summary: RunSummary, posteriors: list[Posterior], viewer_ids: tuple[str, ...]
) -> None:
    last = posteriors[-1]
    best = last.leading[0]
    summary.best = viewer_ids[best]
    summary.p = shown_probability(last, best)
    summary.unknown = None if last.log_unknown is None else math.exp(last.log_unknown)
    summary.accepted, summary.more_s = last.accepted, last.more_s
    summary.n_saccades, summary.n_images = last.n_saccades, last.n_images
    summary.seconds = last.seconds
    for level in LEVELS:
        passed = (p for p in posteriors if shown_probability(p, best) >= level)
        first = next(passed, None)
        summary.crossed[level] = (
            None if first is None else Crossing(first.seconds, first.n_saccades)
        )
