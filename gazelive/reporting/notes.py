"""What is worth a second look in a session: repeats, skips, losses, warnings, damage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from gazelive.gaze.quality_messages import told_quality
from gazelive.recordings.recording import Recording
from gazelive.reporting.engine_findings import EngineFindings
from gazelive.reporting.trial_facts import TrialFacts

MUCH_MISSING = 0.2
"""A trial that lacks more of its gaze than this is named."""
MOST_OF_A_KIND = 20
"""Of more sentences from the engine than this only the first are told, and how many there were."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence; `at_s` counts from the session's first sample, None is the whole session."""

    at_s: float | None
    kind: Literal["trial", "loss", "frames", "engine", "damage"]
    text: str


def notes_of(
    recording: Recording,
    trials: Iterable[TrialFacts],
    findings: EngineFindings | None,
    first_us: int,
) -> tuple[Note, ...]:
    """Return the notes, those of the whole session first, then in the order of time."""
    notes = [Note(at_s=None, kind="damage", text=problem.text) for problem in recording.problems]
    for trial in trials:
        notes += _of_trial(trial)
    if findings is not None:
        notes += _of_engine(findings, first_us)
    else:  # an engine says these in its own documents
        notes += _of_device(recording, first_us)
    return tuple(sorted(notes, key=lambda n: -1e18 if n.at_s is None else n.at_s))


def _of_trial(trial: TrialFacts) -> list[Note]:
    at_s, name = trial.start_s, f"trial {trial.name}"
    if trial.name.startswith("block "):
        name = trial.name
    notes = []
    if trial.outcome not in (None, "shown"):
        which = "" if trial.attempt is None else f" (attempt {trial.attempt})"
        text = f"{name}{which} was {trial.outcome}"
        notes.append(Note(at_s=at_s, kind="trial", text=text))
    if trial.gate not in (None, "passed", "replayed"):
        text = f"{name}: the fixation gate {trial.gate}"
        notes.append(Note(at_s=at_s, kind="trial", text=text))
    if trial.missing_fraction is not None and trial.missing_fraction > MUCH_MISSING:
        text = f"{name}: {trial.missing_fraction:.0%} of the samples have no gaze"
        notes.append(Note(at_s=at_s, kind="loss", text=text))
    if trial.n_lost_samples:
        text = f"{name}: {trial.n_lost_samples:,} samples never arrived"
        notes.append(Note(at_s=at_s, kind="loss", text=text))
    if trial.dropped_frames:
        text = f"{name}: {trial.dropped_frames} frames were dropped"
        notes.append(Note(at_s=at_s, kind="frames", text=text))
    return notes


def _of_device(recording: Recording, first_us: int) -> list[Note]:
    """Return what the device itself found wrong with its data."""
    told = [quality for m in recording.messages if (quality := told_quality(m)) is not None]
    return [
        Note(at_s=(each.tracker_time_us - first_us) / 1e6, kind="loss", text=each.text)
        for each in told
    ]


def _of_engine(findings: EngineFindings, first_us: int) -> list[Note]:
    notes = [
        Note(
            at_s=None if time_us is None else (time_us - first_us) / 1e6,
            kind="engine",
            text=text,
        )
        for time_us, text in findings.notes[:MOST_OF_A_KIND]
    ]
    n_more = len(findings.notes) - MOST_OF_A_KIND
    if n_more > 0:
        notes.append(Note(at_s=None, kind="engine", text=f"the engine warned {n_more} times more"))
    if findings.n_damaged:
        text = f"{findings.n_damaged} lines of the engine's documents could not be read"
        notes.append(Note(at_s=None, kind="damage", text=text))
    return notes
