"""The open fixation of the online detector: begun, and closed with what it was like."""

from __future__ import annotations

from typing import Any

import numpy as np

from gazelive.compilation import kernel
from gazelive.detection.online_state import FIXATION, RING_MASK
from gazelive.detection.row_kernels import emit


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
