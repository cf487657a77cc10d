"""Engine findings: identification and warnings from a session's documents file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gazelive.errors import TransportError
from gazelive.gaze import (
    Document,
    Flags,
    Floats,
    Integers,
    MainSequence,
    ModelLoaded,
    Notice,
    Posterior,
    Quality,
    decode_line,
)
from gazelive.live import RunSummary, shown_probability, summarise
from gazelive.recordings import DOCUMENTS_NAME

MOST_CURVES = 5
"""Most viewers in one figure."""
LEAST_SHOWN = 0.05
"""Viewers that never exceed this probability have no curve, except the final leader."""

HIGHEST_LOG_P = 0.001
"""Log probabilities are at most 0, apart from rounding."""


@dataclass(frozen=True)
class PosteriorCourse:
    """Probabilities over the session, one entry per posterior; shapes (n,)."""

    seconds: Floats
    """Viewing time."""
    n_saccades: Integers
    settled: Flags
    viewers: tuple[str, ...]
    """The most probable viewers, the final leader first."""
    p: Floats
    """p·(1 − unknown), shape (viewers, n)."""
    unknown: Floats | None
    """Probability of a stranger; None if strangers cannot be detected."""


@dataclass(frozen=True)
class EngineFindings:
    """Contents of the documents file."""

    summary: RunSummary
    course: PosteriorCourse | None
    """None without a model, or before any evidence."""
    n_enrolled: int
    main_sequence: MainSequence | None
    """Main sequence of the model's training population."""
    notes: tuple[tuple[int | None, str], ...]
    """Warnings, each with its tracker time in µs, if known."""
    n_damaged: int
    """Number of unreadable lines."""


def read_findings(folder: Path) -> EngineFindings | None:
    """Read the documents file; None if no engine ran. Unreadable lines are counted.

    Lines of another protocol version count as unreadable.
    """
    try:
        content = (folder / DOCUMENTS_NAME).read_bytes()
    except FileNotFoundError:
        return None
    documents: list[Document] = []
    n_damaged = 0
    for line in content.splitlines(keepends=True):
        try:
            documents.append(decode_line(line))
        except TransportError:
            n_damaged += 1
    models = [document for document in documents if isinstance(document, ModelLoaded)]
    viewer_ids = models[-1].viewer_ids if models else ()
    posteriors = _named(documents, len(viewer_ids))
    others = [document for document in documents if not isinstance(document, Posterior)]
    return EngineFindings(
        summary=summarise([*others, *posteriors]),
        course=_course(posteriors, viewer_ids) if posteriors else None,
        n_enrolled=len(viewer_ids),
        main_sequence=models[-1].main_sequence if models else None,
        notes=tuple(_notes(documents)),
        n_damaged=n_damaged,
    )


def identified_as(summary: RunSummary) -> str | None:
    """Return the verdict in words; None without a posterior."""
    verdict = summary.verdict
    return None if verdict is None else verdict.headline


def _named(documents: list[Document], n_viewers: int) -> list[Posterior]:
    """Return the posteriors that make sense: the line with the viewers' names may be damaged."""
    return [
        document
        for document in documents
        if isinstance(document, Posterior)
        and document.leading
        and 0 <= min(document.leading) <= max(document.leading) < n_viewers
        and len(document.log_probabilities) == len(document.leading)
        and max(*document.log_probabilities, document.log_unknown or 0.0) < HIGHEST_LOG_P
    ]


def _course(posteriors: list[Posterior], viewer_ids: tuple[str, ...]) -> PosteriorCourse:
    highest: dict[int, float] = {}
    for posterior in posteriors:
        for viewer in posterior.leading:
            shown = shown_probability(posterior, viewer)
            highest[viewer] = max(highest.get(viewer, 0.0), shown)
    last = posteriors[-1].leading[0]
    others = sorted(
        (v for v, p in highest.items() if v != last and p > LEAST_SHOWN), key=lambda v: -highest[v]
    )
    chosen = (last, *others[: MOST_CURVES - 1])
    unknown = None
    if all(posterior.log_unknown is not None for posterior in posteriors):
        unknown = np.array([math.exp(posterior.log_unknown or 0.0) for posterior in posteriors])
    return PosteriorCourse(
        seconds=np.array([posterior.seconds for posterior in posteriors]),
        n_saccades=np.array([posterior.n_saccades for posterior in posteriors]),
        settled=np.array([posterior.settled for posterior in posteriors]),
        viewers=tuple(viewer_ids[viewer] for viewer in chosen),
        p=np.array([[shown_probability(p, viewer) for p in posteriors] for viewer in chosen]),
        unknown=unknown,
    )


def _notes(documents: list[Document]) -> list[tuple[int | None, str]]:
    notes: list[tuple[int | None, str]] = []
    for document in documents:
        match document:
            case Notice(level="warning" | "error"):
                notes.append((None, document.text))
            case Quality() if document.kind != "summary":
                notes.append((document.tracker_time_us, document.text))
    return notes
