"""From the kernel's rows to events: names, milliseconds, confidence."""

from __future__ import annotations

import math

from gazelive.detection import online_state as rows_of
from gazelive.detection.parameters import DetectorParameters
from gazelive.gaze.documents import Quality, Retraction, SaccadeOnset
from gazelive.gaze.events import Blink, EventEye, Fixation, Saccade

DetectorOutput = SaccadeOnset | Saccade | Fixation | Blink | Retraction | Quality

SACCADE_CONFIDENCE = (0.7, 2.6)
"""Offset and slope of the log odds over ln(peak / threshold), fitted to hand labels."""
TRIGGER_CONFIDENCE = (1.5, 1.0)

_PROBLEMS = {
    rows_of.TIME_GAP: ("time_gap", "samples are missing for {gap_ms:g} ms: taken as lost"),
    rows_of.TIME_ORDER: ("time_order", "a sample is {gap_ms:g} ms older than the one before"),
    rows_of.DUPLICATE: ("duplicate", "a sample has the time of the one before"),
}


def logistic_confidence(strength: float, fit: tuple[float, float]) -> float:
    """Return the probability that a human would mark what is `strength` thresholds strong."""
    return 1.0 / (1.0 + math.exp(-(fit[0] + fit[1] * math.log(max(strength, 1e-6)))))


def is_blink(duration_ms: float, parameters: DetectorParameters) -> bool:
    """Say whether a loss of that duration is a lid's."""
    return parameters.shortest_blink_ms <= duration_ms <= parameters.longest_blink_ms


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
            confidence=logistic_confidence(strength, TRIGGER_CONFIDENCE),
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
            confidence=logistic_confidence(strength, SACCADE_CONFIDENCE),
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
        blink = is_blink((offset_us - onset_us) / 1000.0 + interval_ms, parameters)
        return Blink(
            eye=eye,
            onset_us=onset_us,
            offset_us=offset_us,
            cause="blink" if blink else "loss",
            detection_delay_ms=delay_ms,
        )
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
