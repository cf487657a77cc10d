"""Kernel of the traced detector: what the online detector knows after each sample."""

from __future__ import annotations

import numpy as np

from gazelive.detection.online.online_kernels import take_sample
from gazelive.detection.online.online_state import MAX_ROWS_PER_SAMPLE
from gazelive.detection.online.saccade_kernels import displacement_ratio
from gazelive.system import kernel

NO_TIME = -1

TRACE = np.dtype(
    [
        ("movement", "i8"),  # number of the movement that goes on, from its trigger on; else 0
        ("onset_us", "i8"),  # its estimated onset
        ("dx_deg", "f8"),  # from where gaze was before it
        ("dy_deg", "f8"),
        ("ratio", "f8"),  # that displacement over the trigger's threshold
        ("resting_since_us", "i8"),  # first sample of the fixation, or NO_TIME
        ("lost_since_us", "i8"),  # first sample of the loss, or NO_TIME
    ],
    align=True,
)


@kernel
def push_traced(
    settings: np.ndarray,
    state: np.ndarray,
    rows: np.ndarray,
    times_us: np.ndarray,
    x_deg: np.ndarray,
    y_deg: np.ndarray,
    trace: np.ndarray,
) -> int:
    """Take samples as `push_samples` does, and fill a `TRACE` record after each.

    Returns how many rows were filled; `state[0].n_taken` says how many samples were taken.
    """
    p = settings[0]
    s = state[0]
    s.n_rows = 0
    for i in range(len(times_us)):
        if s.n_rows > len(rows) - MAX_ROWS_PER_SAMPLE:
            s.n_taken = i
            return int(s.n_rows)
        take_sample(p, s, rows, times_us[i], x_deg[i], y_deg[i])
        known = trace[i]
        is_seen = s.in_loss == 0 and s.n_dropped == 0
        if s.armed == 1 and s.in_saccade == 0:
            s.movement = 0
        is_resting = is_seen and s.in_fixation == 1 and s.in_saccade == 0 and s.trigger_pending == 0
        known.movement = s.movement
        known.onset_us = s.movement_onset_us
        known.dx_deg = x_deg[i] - s.movement_x_deg
        known.dy_deg = y_deg[i] - s.movement_y_deg
        known.ratio = displacement_ratio(p, s, known.dx_deg, known.dy_deg)
        known.resting_since_us = s.fixation_start_us if is_resting else NO_TIME
        known.lost_since_us = s.loss_start_us if s.in_loss == 1 else NO_TIME
    s.n_taken = len(times_us)
    return int(s.n_rows)
