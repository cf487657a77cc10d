"""From the kernel's rows to events: names, milliseconds, confidence."""

from __future__ import annotations

import math
from typing import Any, Literal

from gazelive.detection.online_state import (
    DUPLICATE,
    FIXATION,
    LOSS,
    ONSET,
    RETRACTION,
    SACCADE,
    TIME_GAP,
    TIME_ORDER,
)
from gazelive.detection.parameters import DetectorParameters
from gazelive.gaze.documents import Quality, Retraction, SaccadeOnset
from gazelive.gaze.events import Blink, EventEye, Fixation, Saccade

DetectorOutput = SaccadeOnset | Saccade | Fixation | Blink | Retraction | Quality

# All confidences are shares of what human coders agreed with on the labelled recordings;
# tests/benchmarks/evaluate_detection.py measures them anew.
SACCADE_LOG_ODDS = (1.8, 0.8)
"""Offset and slope over ln(peak / threshold)."""
TRIGGER_CONFIDENCE = 0.9
BLINK_CONFIDENCE = 0.97
"""That a loss of a blink's duration was a blink."""
LOSS_CONFIDENCE = 0.65
"""That any other loss was none (the lid flutters: some are pieces of one)."""

_PROBLEMS: dict[int, tuple[Literal["time_gap", "time_order", "duplicate"], str]] = {
    TIME_GAP: ("time_gap", "samples are missing for {gap_ms:g} ms: taken as lost"),
    TIME_ORDER: ("time_order", "a sample is {gap_ms:g} ms older than the one before"),
    DUPLICATE: ("duplicate", "a sample has the time of the one before"),
}


def saccade_confidence(strength: float) -> float:
    """Return the probability that a coder marks a saccade that peaks at so many thresholds."""
    offset, slope = SACCADE_LOG_ODDS
    return 1.0 / (1.0 + math.exp(-(offset + slope * math.log(max(strength, 1e-6)))))


def loss_event(
    first_us: int,
    last_us: int,
    decided_us: int,
    interval_ms: float,
    parameters: DetectorParameters,
    eye: EventEye,
) -> Blink:
    """Return a loss from its first to its last lost sample; its duration tells a lid's."""
    duration_ms = (last_us - first_us) / 1000.0 + interval_ms
    blink = parameters.shortest_blink_ms <= duration_ms <= parameters.longest_blink_ms
    return Blink(
        eye=eye,
        onset_us=first_us,
        offset_us=last_us,
        cause="blink" if blink else "loss",
        confidence=BLINK_CONFIDENCE if blink else LOSS_CONFIDENCE,
        detection_delay_ms=(decided_us - last_us) / 1000.0,
    )


def to_output(
    row: tuple[Any, ...], eye: EventEye, parameters: DetectorParameters, interval_ms: float
) -> DetectorOutput:
    """Return the document that a row of the kernel stands for.

    `row` is a `ROW` as a plain tuple: reading a record's fields one by one is slow.
    """
    kind, _, _, onset_us, offset_us, decided_us, x, y, end_x, end_y, peak, strength, near = row
    delay_ms = (decided_us - offset_us) / 1000.0
    if kind == ONSET:
        return SaccadeOnset(
            eye=eye,
            onset_us=onset_us,
            detection_delay_ms=(decided_us - onset_us) / 1000.0,
            confidence=TRIGGER_CONFIDENCE,
        )
    if kind == SACCADE:
        return Saccade(
            eye=eye,
            onset_us=onset_us,
            offset_us=offset_us,
            start_x_deg=x,
            start_y_deg=y,
            end_x_deg=end_x,
            end_y_deg=end_y,
            peak_velocity_deg_s=peak,
            confidence=saccade_confidence(strength),
            detection_delay_ms=delay_ms,
            near_loss=bool(near),
        )
    if kind == FIXATION:
        return Fixation(
            eye=eye,
            onset_us=onset_us,
            offset_us=offset_us,
            x_deg=x,
            y_deg=y,
            confidence=strength,
            detection_delay_ms=delay_ms,
        )
    if kind == LOSS:
        return loss_event(onset_us, offset_us, decided_us, interval_ms, parameters, eye)
    if kind == RETRACTION:
        return Retraction(
            eye=eye, onset_us=onset_us, reason="gaze was lost right after it: it was the lid"
        )
    quality, text = _PROBLEMS[kind]
    gap_ms = abs(offset_us - onset_us) / 1000.0
    return Quality(
        tracker_time_us=onset_us,
        kind=quality,
        text=text.format(gap_ms=gap_ms),
        value=gap_ms,
    )
