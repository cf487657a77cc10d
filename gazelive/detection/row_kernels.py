"""What all parts of the online detector share: findings, thresholds, lengths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gazelive.compilation import kernel


@kernel
def emit(
    s: Any, rows: np.ndarray, kind: int, onset: int, offset: int, onset_us: int, offset_us: int
) -> int:
    """Fill the next row with what all kinds have; return its number."""
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
    """Return the length of a vector; hypot guards against overflow, which no eye needs."""
    return math.sqrt(x * x + y * y)


@kernel
def is_oscillation(p: Any, s: Any, index: int, speed: float) -> bool:
    """Say whether a movement is too slow, so soon after a saccade, to be another one."""
    return bool(
        index - s.oscillation_since <= p.oscillation
        and speed < p.oscillation_peak_fraction * s.previous_peak_deg_s
    )
