"""What `gazelive info --json` writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gazelive.recordings.corpus import Corpus
from gazelive.recordings.recording import Problem, Recording

if TYPE_CHECKING:  # only a fixation table needs Arrow
    from gazelive.recordings.fixation_table import FixationTable

Facts = dict[str, Any]


def of_recording(recording: Recording) -> Facts:
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


def of_fixations(table: FixationTable) -> Facts:
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


def of_corpus(corpus: Corpus) -> Facts:
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
    """Return the resolution of the first block that knows it."""
    known = (block.stream.px_per_deg for block in recording.blocks)
    return next((value for value in known if value is not None), None)


def milliseconds(time_us: int) -> int | float:
    """Return milliseconds, whole ones without a decimal point."""
    return time_us // 1000 if time_us % 1000 == 0 else time_us / 1000


def _problems(problems: Iterable[Problem]) -> list[Facts]:
    return [{"line": problem.line, "text": problem.text} for problem in problems]
