"""Rows of findings, thresholds and the open fixation of the online detector."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gazelive.detection.online.online_state import FIXATION, RING_MASK
from gazelive.system import kernel


@kernel
def emit(
    s: Any, rows: np.ndarray, kind: int, onset: int, offset: int, onset_us: int, offset_us: int
) -> int:
    """Fill the fields that all kinds of rows have; return the number of the row."""
    number = int(s.n_rows)
    s.n_rows += 1
    row = rows[number]
    row.kind = kind
    row.onset = onset
    row.offset = offset
    row.onset_us = onset_us
    row.offset_us = offset_us
    row.decided_us = s.arrived_us
    row.strength = 0.0
    row.near_loss = 0
    row.saccade_kind = 0
    row.arrival_us = offset_us
    return number


@kernel
def thresholds(p: Any, s: Any) -> tuple[float, float]:
    """Return the velocity thresholds of x and y in °/s."""
    return (
        max(p.threshold_noise * s.noise_x_deg_s, p.threshold_floor_deg_s),
        max(p.threshold_noise * s.noise_y_deg_s, p.threshold_floor_deg_s),
    )


@kernel
def length_of(x: float, y: float) -> float:
    """Return the length of a vector, without the overflow guard of hypot."""
    return math.sqrt(x * x + y * y)


@kernel
def is_oscillation(p: Any, s: Any, index: int, speed: float) -> bool:
    """Return whether a movement soon after a saccade is too slow to be another one."""
    return bool(
        index - s.oscillation_since <= p.oscillation
        and speed < p.oscillation_peak_fraction * s.previous_peak_deg_s
    )


@kernel
def open_fixation(
    s: Any, start: int, start_us: int, sum_x: float, sum_y: float, n_valid: int, n_calm: int
) -> None:
    """Begin a fixation; the sums are those up to the sample before it."""
    s.in_fixation = 1
    s.fixation_start = start
    s.fixation_start_us = start_us
    s.fixation_sum_x_deg = sum_x
    s.fixation_sum_y_deg = sum_y
    s.fixation_n_valid = n_valid
    s.fixation_n_calm = n_calm


@kernel
def close_fixation(p: Any, s: Any, rows: np.ndarray, end: int, n_calm: int) -> None:
    """End the open fixation, if there is one, with sample `end`."""
    if s.in_fixation == 0:
        return
    s.in_fixation = 0
    length = end - s.fixation_start + 1
    slot = end & RING_MASK
    n_valid = s.n_valid[slot] - s.fixation_n_valid
    if length < p.shortest_fixation or n_valid <= 0:
        return
    row = emit(s, rows, FIXATION, s.fixation_start, end, s.fixation_start_us, s.time_us[slot])
    rows[row].start_x_deg = (s.sum_x_deg[slot] - s.fixation_sum_x_deg) / n_valid
    rows[row].start_y_deg = (s.sum_y_deg[slot] - s.fixation_sum_y_deg) / n_valid
    rows[row].strength = min(1.0, max(0.0, (n_calm - s.fixation_n_calm) / length))
