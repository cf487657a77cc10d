"""Notes on a session: repeated and skipped trials, losses, warnings, damage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from gazelive.gaze import quality_from_message
from gazelive.recordings import DOCUMENTS_NAME, Recording
from gazelive.reporting.engine_findings import EngineFindings
from gazelive.reporting.trial_facts import TrialFacts
from gazelive.wording import counted, percent

MUCH_MISSING = 0.2
"""A trial with a larger fraction of missing gaze gets a note."""
MOST_OF_A_KIND = 20
"""Most notes from the engine; of more, only the number is given."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence; `at_s` is relative to the first sample, None is the whole session."""

    at_s: float | None
    kind: Literal["trial", "loss", "frames", "engine", "damage"]
    text: str


def notes_of(
    recording: Recording,
    trials: Iterable[TrialFacts],
    findings: EngineFindings | None,
    first_us: int,
) -> tuple[Note, ...]:
    """Return the notes: those of the whole session, then the others in order of time."""
    notes = [Note(at_s=None, kind="damage", text=problem.text) for problem in recording.problems]
    for trial in trials:
        notes += _of_trial(trial)
    if findings is not None:
        notes += _of_engine(findings, first_us)
    else:  # the engine's own documents have these
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
        text = f"{name}: {percent(trial.missing_fraction, 0)} of the samples have no gaze"
        notes.append(Note(at_s=at_s, kind="loss", text=text))
    if trial.n_lost_samples:
        text = f"{name}: {counted(trial.n_lost_samples, 'sample')} never arrived"
        notes.append(Note(at_s=at_s, kind="loss", text=text))
    if trial.dropped_frames:
        text = f"{name}: {counted(trial.dropped_frames, 'dropped frame')}"
        notes.append(Note(at_s=at_s, kind="frames", text=text))
    return notes


def _of_device(recording: Recording, first_us: int) -> list[Note]:
    """Return the data problems that the device reported."""
    reported = [
        quality for m in recording.messages if (quality := quality_from_message(m)) is not None
    ]
    return [
        Note(at_s=(each.tracker_time_us - first_us) / 1e6, kind="loss", text=each.text)
        for each in reported
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
        notes.append(
            Note(at_s=None, kind="engine", text=f"{counted(n_more, 'more engine warning')}")
        )
    if findings.n_damaged:
        text = f"{counted(findings.n_damaged, 'unreadable line')} in {DOCUMENTS_NAME}"
        notes.append(Note(at_s=None, kind="damage", text=text))
    return notes
