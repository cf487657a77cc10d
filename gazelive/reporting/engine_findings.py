"""What the engine said of a session while it ran: who it was, and what it warned of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gazelive.engine.summary import RunSummary, shown_probability, summarise
from gazelive.errors import TransportError
from gazelive.gaze.documents import (
    Document,
    MainSequence,
    ModelLoaded,
    Notice,
    Posterior,
    Quality,
    decode_line,
)
from gazelive.recordings.session_folder import DOCUMENTS_NAME

Floats = npt.NDArray[np.float64]

MOST_CURVES = 5
"""How many viewers a figure can tell apart."""
LEAST_SHOWN = 0.05
"""Who was never more probable than this has no curve, unless they lead in the end."""


@dataclass(frozen=True)
class PosteriorCourse:
    """How the probabilities went, posterior by posterior; shapes (n,)."""

    seconds: Floats
    """Of viewing."""
    n_saccades: npt.NDArray[np.int64]
    settled: npt.NDArray[np.bool_]
    viewers: tuple[str, ...]
    """Those who were most probable at some time, the last leader first."""
    p: Floats
    """As shown, p·(1 − unknown), shape (viewers, n)."""
    unknown: Floats | None
    """None where the model knows no strangers."""


@dataclass(frozen=True)
class EngineFindings:
    """What stands in the documents file."""

    summary: RunSummary
    course: PosteriorCourse | None
    """None without a model, or before any evidence."""
    n_enrolled: int
    main_sequence: MainSequence | None
    """Of the population that the model was made from."""
    notes: tuple[tuple[int | None, str], ...]
    """Warnings, each with the tracker's time in µs where it has one."""
    n_damaged: int
    """Lines that could not be read."""


def read_findings(folder: Path) -> EngineFindings | None:
    """Return what the engine found, None where no engine ran; lines that are damaged are counted.

    A line of another version is damage here: a report tells what it can.
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
        except (TransportError, UnicodeDecodeError):
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


def said_to_be(summary: RunSummary) -> str | None:
    """Say in few words who it was, None where nobody said anything."""
    if summary.best is None or summary.p is None:
        return None
    if summary.unknown is not None and summary.unknown > 0.5:
        return f"nobody enrolled ({summary.unknown:.0%})"
    return f"{summary.best} ({summary.p:.0%})"


def _named(documents: list[Document], n_viewers: int) -> list[Posterior]:
    """Return the posteriors whose viewers have names: the line with them may be damaged."""
    return [
        document
        for document in documents
        if isinstance(document, Posterior)
        and document.leading
        and max(document.leading) < n_viewers
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
