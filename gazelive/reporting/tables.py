"""Tables of a session as text, for terminal and page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gazelive.gaze import Message
from gazelive.reporting.calibration_history import Check, last_validation
from gazelive.reporting.engine_findings import identified_as
from gazelive.reporting.session_facts import SessionFacts
from gazelive.reporting.trial_facts import TrialFacts
from gazelive.wording import (
    EYE_WORDS,
    NOTHING,
    clock_time,
    count,
    counted,
    date_time,
    degrees,
    duration,
    file_name,
    listed,
    percent,
)


@dataclass(frozen=True)
class Column:
    """A column: its name, its cells from top to bottom, and whether they are numbers."""

    name: str
    cells: tuple[str, ...]
    is_number: bool = False


def summary_rows(facts: SessionFacts) -> dict[str, str]:
    """Return name and text of each fact of the whole session."""
    manifest, recording = facts.manifest, facts.recording
    validation = last_validation(facts.checks)
    rows = {
        "viewer": _viewer(facts),
        "session": f"{manifest.session} ({manifest.purpose})",
        "started": date_time(manifest.started_at),
        "ended": _ending(facts),
        "device": _device(facts),
        "recorded": f"{duration(recording.duration_s)} in "
        f"{counted(len(recording.blocks), 'block')}, {counted(recording.n_samples, 'sample')}",
        "missing": f"{percent(recording.missing_fraction)} of the samples without gaze, "
        f"{facts.n_lost_samples:,} lost"
        if recording.n_samples
        else NOTHING,
        "trials": _outcomes(facts.trials) if recording.trials else "none",
        "saccades": NOTHING if facts.analysis is None else count(facts.analysis.n_saccades),
        "validation": NOTHING
        if validation is None
        else f"mean error {degrees(validation[0])}, maximum {degrees(validation[1])} (last one)",
        "screen": _screen(facts),
    }
    if (answers := recognition(recording.messages)) is not None:
        rows["recognition"] = answers
    if facts.clock_drift_ppm is not None:
        rows["clock drift"] = f"{facts.clock_drift_ppm:+.1f} ppm (tracker relative to host)"
    if facts.findings is not None and facts.findings.course is not None:
        summary = facts.findings.summary
        rows["model"] = f"{summary.model}, {facts.findings.n_enrolled} enrolled"
        rows["identified as"] = (
            f"{identified_as(summary)} (after {counted(summary.n_images, 'image')}, "
            f"{counted(summary.n_saccades, 'saccade')}, {summary.seconds:.1f} s of viewing)"
        )
    return rows


def crossing_rows(facts: SessionFacts) -> tuple[str, ...]:
    """Return when the final leader reached each probability level."""
    if facts.findings is None or facts.findings.course is None:
        return ()
    summary = facts.findings.summary
    return tuple(
        f"{summary.best} never reached {percent(level, 0)}"
        if crossing is None
        else f"{summary.best} reached {percent(level, 0)} after {crossing.seconds:.1f} s of "
        f"viewing, {counted(crossing.n_saccades, 'saccade')}"
        for level, crossing in summary.crossed.items()
    )


def trial_columns(trials: Sequence[TrialFacts]) -> list[Column]:
    """Return the quality per trial, without empty columns."""
    columns = [
        Column("trial", tuple(t.name for t in trials)),
        Column("image", tuple(file_name(t.image) for t in trials)),
        Column("outcome", tuple(_outcome(t) for t in trials)),
        Column("gate", tuple(t.gate or NOTHING for t in trials)),
        Column("at", tuple(clock_time(t.start_s) for t in trials), is_number=True),
        Column("seconds", tuple(f"{t.viewing_s:.1f}" for t in trials), is_number=True),
        Column("missing", tuple(percent(t.missing_fraction) for t in trials), is_number=True),
        Column("lost", tuple(count(t.n_lost_samples) for t in trials), is_number=True),
        Column("saccades", tuple(count(t.n_saccades) for t in trials), is_number=True),
        Column("fixations", tuple(count(t.n_fixations) for t in trials), is_number=True),
        Column("blinks", tuple(count(t.n_blinks) for t in trials), is_number=True),
        Column("RMS-S2S", tuple(degrees(t.rms_s2s_deg, 3) for t in trials), is_number=True),
        Column("frames dropped", tuple(count(t.dropped_frames) for t in trials), is_number=True),
    ]
    return [column for column in columns if set(column.cells) != {NOTHING}]


def check_columns(checks: Sequence[Check]) -> list[Column]:
    """Return the calibration history."""
    columns = [
        Column("at", tuple(clock_time(c.at_s) for c in checks), is_number=True),
        Column("before trial", tuple(c.before_trial or NOTHING for c in checks)),
        Column("type", tuple(c.kind for c in checks)),
        Column("eye", tuple(EYE_WORDS[c.eye] for c in checks)),
        Column("targets", tuple(c.model or NOTHING for c in checks)),
        Column("result", tuple(c.result or NOTHING for c in checks)),
        Column("mean error", tuple(degrees(c.mean_error_deg) for c in checks), is_number=True),
        Column("max error", tuple(degrees(c.max_error_deg) for c in checks), is_number=True),
    ]
    return [column for column in columns if set(column.cells) != {NOTHING}]


def _outcomes(trials: Iterable[TrialFacts]) -> str:
    """Return `20 (18 shown, 1 repeated, 1 skipped)`, or only the number."""
    trials = tuple(trials)
    outcomes = Counter(trial.outcome for trial in trials if trial.outcome is not None)
    parts = [f"{n} {outcome}" for outcome, n in outcomes.most_common()]
    return f"{len(trials):,}" + (f" ({', '.join(parts)})" if parts else "")


def _outcome(trial: TrialFacts) -> str:
    if trial.outcome is None:
        return NOTHING
    again = trial.attempt is not None and trial.attempt > 1
    return f"{trial.outcome} (attempt {trial.attempt})" if again else trial.outcome


def _viewer(facts: SessionFacts) -> str:
    """Return the viewer; in an identification session only a simulation knows it."""
    named = facts.manifest.viewer or "not given"
    simulated = facts.manifest.config.get("simulated_viewer")
    if simulated is None or simulated == facts.manifest.viewer:
        return named
    return f"{named} (simulated: {simulated})"


def _ending(facts: SessionFacts) -> str:
    manifest = facts.manifest
    source = manifest.converted_from
    if source is not None:  # the manifest has the time of the conversion
        return f"unknown (converted from {source})"
    if manifest.finished_at is None:
        return "not yet: still recording, or the process was terminated"
    why = f" ({manifest.stop_reason})" if manifest.stop_reason else ""
    return f"{date_time(manifest.finished_at)}{why}"


def _device(facts: SessionFacts) -> str:
    streams = [block.stream for block in facts.recording.blocks]
    rates = sorted({stream.sampling_rate_hz for stream in streams})
    eyes = sorted({EYE_WORDS[stream.eyes] for stream in streams})
    if not streams:
        return facts.manifest.device
    eye_words = "both eyes" if eyes == ["both"] else f"{listed(eyes)} eye"
    return f"{facts.manifest.device}, {listed([f'{r:g}' for r in rates])} Hz, {eye_words}"


def _screen(facts: SessionFacts) -> str:
    screen, screen_px = facts.recording.screen, facts.recording.screen_px
    if screen is not None:
        return (
            f"{screen.width_px} × {screen.height_px} px, {screen.width_mm:g} × "
            f"{screen.height_mm:g} mm at {screen.eye_distance_mm:g} mm"
        )
    if screen_px is None:
        return "unknown"
    return f"{screen_px[0]} × {screen_px[1]} px, size in mm unknown"


_ANSWER = re.compile(r"recognition .+ shown ([01]) answer ([01])$")


def recognition(messages: Iterable[Message]) -> str | None:
    """Return hits and false alarms of the recognition questions; None if none were asked."""
    answers = [
        (match[1] == "1", match[2] == "1")
        for message in messages
        if (match := _ANSWER.match(message.text)) is not None
    ]
    if not answers:
        return None
    seen = [said_yes for was_shown, said_yes in answers if was_shown]
    others = [said_yes for was_shown, said_yes in answers if not was_shown]
    return (
        f"{sum(seen)} of {len(seen)} shown images recognised, {sum(others)} of {len(others)} new "
        "images mistaken for shown ones"
    )
