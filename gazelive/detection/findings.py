"""From the kernel's rows to events: names, milliseconds, confidence."""

from __future__ import annotations

import math

from gazelive.detection import online_state as rows_of
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

_PROBLEMS = {
    rows_of.TIME_GAP: ("time_gap", "samples are missing for {gap_ms:g} ms: taken as lost"),
    rows_of.TIME_ORDER: ("time_order", "a sample is {gap_ms:g} ms older than the one before"),
    rows_of.DUPLICATE: ("duplicate", "a sample has the time of the one before"),
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
    row: rows_of.Records, eye: EventEye, parameters: DetectorParameters, interval_ms: float
) -> DetectorOutput:
    """Return the document that a row of the kernel stands for."""
    kind = int(row["kind"])
    onset_us, offset_us = int(row["onset_us"]), int(row["offset_us"])
    delay_ms = (int(row["decided_us"]) - offset_us) / 1000.0
    strength = float(row["strength"])
    if kind == rows_of.ONSET:
        return SaccadeOnset(
            eye=eye,
            onset_us=onset_us,
            detection_delay_ms=(int(row["decided_us"]) - onset_us) / 1000.0,
            confidence=TRIGGER_CONFIDENCE,
        )
    if kind == rows_of.SACCADE:
        return Saccade(
            eye=eye,
            onset_us=onset_us,
            offset_us=offset_us,
            start_x_deg=float(row["start_x_deg"]),
            start_y_deg=float(row["start_y_deg"]),
            end_x_deg=float(row["end_x_deg"]),
            end_y_deg=float(row["end_y_deg"]),
            peak_velocity_deg_s=float(row["peak_deg_s"]),
            confidence=saccade_confidence(strength),
            detection_delay_ms=delay_ms,
            near_loss=bool(row["near_loss"]),
        )
    if kind == rows_of.FIXATION:
        return Fixation(
            eye=eye,
            onset_us=onset_us,
            offset_us=offset_us,
            x_deg=float(row["start_x_deg"]),
            y_deg=float(row["start_y_deg"]),
            confidence=strength,
            detection_delay_ms=delay_ms,
        )
    if kind == rows_of.LOSS:
        return loss_event(onset_us, offset_us, int(row["decided_us"]), interval_ms, parameters, eye)
    if kind == rows_of.RETRACTION:
        return Retraction(
            eye=eye, onset_us=onset_us, reason="gaze was lost right after it: it was the lid"
        )
    quality, text = _PROBLEMS[kind]
    gap_ms = abs(offset_us - onset_us) / 1000.0
    return Quality(
        tracker_time_us=onset_us,
        kind=quality,  # type: ignore[arg-type]
        text=text.format(gap_ms=gap_ms),
        value=gap_ms,
    )
