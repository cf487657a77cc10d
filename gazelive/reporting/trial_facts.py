"""Quality of each trial: data loss, precision, numbers of events."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
import numpy as np

from gazelive.analysis import Analysis
from gazelive.features import AnalysedGaze
from gazelive.gaze import GAP_INTERVALS, Integers, Message, missing_mask
from gazelive.recordings import Block, Recording, Trial, ViewingInterval, viewing_intervals
from gazelive.wording import counted

_GATE = re.compile(r"gate_(passed|timeout|replayed)\b")


class TrialFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One trial, or one block of a recording without trials; None is unknown."""

    name: str
    image: str | None = None
    outcome: str | None = None
    """Outcome given by the experiment: shown, repeated, skipped or aborted."""
    attempt: int | None = None
    gate: str | None = None
    """Result of the fixation gate: passed (after n time-outs), timed out, replayed."""
    start_s: float
    """Start of viewing, relative to the session's first sample."""
    viewing_s: float
    """Viewing time: image onset to offset if known, else the whole trial."""
    n_samples: int = 0
    missing_fraction: float | None = None
    """Fraction of the received samples without gaze."""
    n_lost_samples: int = 0
    """Samples that never arrived."""
    n_saccades: int | None = None
    n_fixations: int | None = None
    n_blinks: int | None = None
    rms_s2s_deg: float | None = None
    """Precision: RMS of sample-to-sample steps within a fixation, the median over fixations."""
    dropped_frames: int | None = None


def trial_facts(recording: Recording, analysis: Analysis | None) -> tuple[TrialFacts, ...]:
    """Return the facts of every trial (else of every block), in order of time."""
    intervals = viewing_intervals(recording)
    gazes: dict[tuple[int, int], AnalysedGaze] = {}
    if analysis is not None:
        gazes = {(a.interval.block, a.interval.start_us): a.gaze for a in analysis.intervals}
    first_us = session_start_us(recording)
    facts = []
    viewed: set[int] = set()
    for interval in intervals:
        trial = _trial_of(recording.trials, interval)
        if trial is not None:
            viewed.add(id(trial))
        block = recording.blocks[interval.block]
        gaze = gazes.get((interval.block, interval.start_us))
        facts.append(_facts(interval, trial, block, gaze, recording.messages, first_us))
    facts += [
        _unviewed(trial, recording.messages, first_us)
        for trial in recording.trials
        if id(trial) not in viewed
    ]
    return tuple(sorted(facts, key=lambda fact: fact.start_s))


def session_start_us(recording: Recording) -> int:
    """Return the time of the session's first sample (else of its first message)."""
    for block in recording.blocks:
        if len(block.samples):
            return int(block.samples["tracker_time_us"][0])
    return recording.messages[0].tracker_time_us if recording.messages else 0


def count_lost(times_us: Integers, interval_us: float) -> int:
    """Return the number of samples missing in gaps; 0 where the rate is not known."""
    if not interval_us:
        return 0
    steps_us = np.diff(times_us)
    gaps_us = steps_us[steps_us > GAP_INTERVALS * interval_us]
    return int(np.rint(gaps_us / interval_us - 1).sum())


def rms_s2s_deg(gaze: AnalysedGaze) -> float | None:
    """Return the precision: the median over fixations of their RMS sample-to-sample step.

    With a mean, the edges of a blink in one fixation would outweigh all others.
    """
    of_fixations = []
    for fixation in gaze.detection.fixations:
        first, last = np.searchsorted(gaze.times_us, [fixation.onset_us, fixation.offset_us])
        inside = slice(int(first), int(last) + 1)
        squares = np.diff(gaze.x_deg[inside]) ** 2 + np.diff(gaze.y_deg[inside]) ** 2
        squares = squares[np.isfinite(squares)]
        if len(squares):
            of_fixations.append(float(np.sqrt(squares.mean())))
    return float(np.median(of_fixations)) if of_fixations else None


def _trial_of(trials: Iterable[Trial], interval: ViewingInterval) -> Trial | None:
    """Return the trial of an interval; names may repeat, times do not."""
    for trial in trials:
        same = trial.name == interval.trial and trial.block == interval.block
        if same and trial.start_us <= interval.end_us and trial.end_us >= interval.start_us:
            return trial
    return None


def _facts(
    interval: ViewingInterval,
    trial: Trial | None,
    block: Block,
    gaze: AnalysedGaze | None,
    messages: Iterable[Message],
    first_us: int,
) -> TrialFacts:
    times_us = block.samples["tracker_time_us"]
    start, stop = np.searchsorted(times_us, [interval.start_us, interval.end_us])
    samples = block.samples[start:stop]
    missing = missing_mask(samples, block.stream.eyes)
    detection = None if gaze is None else gaze.detection
    variables = {} if trial is None else trial.variables
    return TrialFacts(
        name=interval.trial or f"block {interval.block + 1}",
        image=interval.image,
        outcome=variables.get("outcome"),
        attempt=_integer(variables.get("attempt")),
        gate=None if trial is None else _gate(trial, messages),
        start_s=(interval.start_us - first_us) / 1e6,
        viewing_s=(interval.end_us - interval.start_us) / 1e6,
        n_samples=len(samples),
        missing_fraction=float(missing.mean()) if len(samples) else None,
        n_lost_samples=count_lost(times_us[start:stop], block.stream.sample_interval_us),
        n_saccades=None if detection is None else len(detection.saccades),
        n_fixations=None if detection is None else len(detection.fixations),
        n_blinks=None if detection is None else len(detection.blinks),
        rms_s2s_deg=None if gaze is None else rms_s2s_deg(gaze),
        dropped_frames=_integer(variables.get("dropped_frames")),
    )


def _unviewed(trial: Trial, messages: Iterable[Message], first_us: int) -> TrialFacts:
    """Return the facts of a trial without a recording."""
    return TrialFacts(
        name=trial.name,
        image=trial.image,
        outcome=trial.variables.get("outcome"),
        attempt=_integer(trial.variables.get("attempt")),
        gate=_gate(trial, messages),
        start_s=(trial.start_us - first_us) / 1e6,
        viewing_s=0.0,
        dropped_frames=_integer(trial.variables.get("dropped_frames")),
    )


def _gate(trial: Trial, messages: Iterable[Message]) -> str | None:
    """Return how the gate of a trial ended, from its messages."""
    words = [
        match[1]
        for message in messages
        if trial.start_us <= message.tracker_time_us <= trial.end_us
        and (match := _GATE.match(message.text))
    ]
    if not words:
        return None
    n_timeouts = words.count("timeout")
    if words[-1] == "timeout":
        return "timed out"
    return words[-1] if not n_timeouts else f"{words[-1]} after {counted(n_timeouts, 'time-out')}"


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
