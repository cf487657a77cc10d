"""Contents of a recording, a fixation table or a corpus, as `gazelive info --json` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gazelive.observer import Observer
from gazelive.recordings import (
    DEFAULT_PATTERNS,
    Corpus,
    Problem,
    Proposal,
    Recording,
    TrialPatterns,
    group_messages,
    kind_of,
    own_patterns,
    patterns_text,
    propose,
    read_corpus,
)
from gazelive.wording import quoted, shell_quoted
from gazelive.workflows.recordings import read_noting

if TYPE_CHECKING:  # only a fixation table needs Arrow
    from gazelive.recordings import FixationTable

Facts = dict[str, Any]
Content: TypeAlias = "Recording | Corpus | FixationTable"


def inspect(
    path: Path, observer: Observer, trial_patterns: TrialPatterns = DEFAULT_PATTERNS
) -> Content:
    """Read whatever is at `path`."""
    kind = kind_of(path)
    if kind == "corpus":
        return read_corpus(path)
    if kind == "fixation table":
        from gazelive.recordings import read_fixation_table

        with observer.progress(f"Reading {path.resolve().name}") as report:
            return read_fixation_table(path, progress=report)
    return read_noting(path, observer, trial_patterns)


def content_facts(content: Content) -> Facts:
    """Return the facts of what `inspect` read."""
    if isinstance(content, Recording):
        return _of_recording(content)
    return _of_corpus(content) if isinstance(content, Corpus) else _of_fixations(content)


def _of_recording(recording: Recording) -> Facts:
    """Return the facts of a recording."""
    return {
        "format": recording.format,
        "blocks": [
            {
                "eyes": block.stream.eyes,
                "sampling_rate_hz": block.stream.sampling_rate_hz,
                "n_samples": len(block.samples),
                "start_ms": milliseconds(block.start_us),
                "end_ms": milliseconds(block.end_us),
            }
            for block in recording.blocks
        ],
        "n_samples": recording.n_samples,
        "n_messages": len(recording.messages),
        "events": event_counts(recording),
        "trials": len(recording.trials),
        "missing_fraction": recording.missing_fraction,
        "missing_fraction_of": recording.missing_fraction_of,
        "duration_s": recording.duration_s,
        "screen_px": recording.screen_px,
        "px_per_deg": px_per_deg(recording),
        "calibration": [
            {
                "time_ms": milliseconds(calibration.tracker_time_us),
                "kind": calibration.kind,
                "eye": calibration.eye,
                "model": calibration.model,
                "result": calibration.result,
                "mean_error_deg": calibration.mean_error_deg,
                "max_error_deg": calibration.max_error_deg,
            }
            for calibration in recording.calibrations
        ],
        "problems": _problems(recording.problems),
    }


def message_facts(recording: Recording) -> Facts:
    """Return the patterns of the messages, and the proposal for trials and images."""
    patterns = group_messages(recording.messages)
    proposal = propose(recording, patterns)
    return {
        "n_messages": len(recording.messages),
        "patterns": [
            {
                "pattern": pattern.text,
                "n": pattern.n,
                "role": pattern.role,
                "example": pattern.example,
            }
            for pattern in patterns
        ],
        "proposal": None if proposal is None else _of_proposal(proposal, recording.path),
    }


def _of_proposal(proposal: Proposal, path: Path) -> Facts:
    """Return the options of a proposal, the same as TOML, and the intervals that it makes."""
    named = proposal.convention
    flags = ("trial_start", "trial_stop", "image_onset")
    own = own_patterns(proposal.patterns)
    options = {
        f"--{flag.replace('_', '-')}": own[field]
        for flag, field in zip(flags, ("start", "stop", "image_onset"), strict=True)
        if field in own
    }
    if named is not None:
        options = {"--trials": named}
    words = [f"{option} {shell_quoted(value)}" for option, value in options.items()]
    durations_s = proposal.durations_s
    return {
        "options": options,
        "command": " ".join(["gazelive", "detect", quoted(path), "-o", "saccades.csv", *words]),
        "toml": f"convention = '{named}'\n" if named else patterns_text(proposal.patterns),
        "n_trials": len(proposal.trials),
        "n_image_onsets": proposal.n_onsets,
        "median_s": float(np.median(durations_s)),
        "shortest_s": float(durations_s.min()),
        "longest_s": float(durations_s.max()),
        "first_names": [trial.name for trial in proposal.trials[:3]],
    }


def _of_fixations(table: FixationTable) -> Facts:
    """Return the facts of a fixation table."""
    return {
        "format": "fixation table",
        "n_fixations": len(table),
        "viewers": list(table.viewer_names),
        "sessions": [name for name in table.session_names if name],
        "n_images": len(table.image_names),
        "coordinates": table.coordinates.value,
        "problems": _problems(table.problems),
    }


def _of_corpus(corpus: Corpus) -> Facts:
    """Return the facts of a corpus."""
    return {
        "format": "corpus",
        "n_recordings": len(corpus.entries),
        "viewers": list(corpus.viewers),
        "recordings": [
            {"recording": str(entry.recording), "viewer": entry.viewer, "session": entry.session}
            for entry in corpus.entries
        ],
        "skipped": [
            {"recording": str(skipped.recording), "reason": skipped.reason}
            for skipped in corpus.skipped
        ],
    }


def event_counts(recording: Recording) -> dict[str, int]:
    """Count the events that the tracker's parser saw end."""
    kinds = [event.kind for event in recording.tracker_events]
    return {
        "saccades": kinds.count("saccade"),
        "fixations": kinds.count("fixation"),
        "blinks": kinds.count("blink"),
    }


def px_per_deg(recording: Recording) -> tuple[float, float] | None:
    """Return the tracker's own resolution, one for all blocks."""
    found = recording.tracker_resolution
    return None if found is None else found.px_per_deg


def milliseconds(time_us: int) -> int | float:
    """Return milliseconds, whole ones without a decimal point."""
    return time_us // 1000 if time_us % 1000 == 0 else time_us / 1000


def _problems(problems: Iterable[Problem]) -> list[Facts]:
    return [{"line": problem.line, "text": problem.text} for problem in problems]
