"""The fast trigger of the online detector: gaze leaves its place."""

from __future__ import annotations

from typing import Any

import numpy as np

from gazelive.compilation import kernel
from gazelive.detection.online_state import ONSET, RING_MASK
from gazelive.detection.row_kernels import emit, is_oscillation, length_of, thresholds


@kernel
def watch_displacement(p: Any, s: Any, rows: np.ndarray) -> None:
    """Trigger when the newest samples leave the place where gaze was just before.

    A displacement needs no samples after the one it tells of, so it is faster than a velocity.
    """
    if s.trigger_pending == 1 and s.newest - s.last_trigger > p.trigger_patience:
        s.trigger_pending = 0
        s.last_false_alarm = s.newest
    ratio, speed, support = _displacement(p, s)
    if s.armed == 0:
        rested = s.newest - s.last_trigger > p.trigger_rearm
        if rested and ratio < 1.0 and s.in_saccade == 0:
            s.armed = 1
        return
    if (
        ratio > 1.0
        and s.guarded == 0
        and p.trigger_support < support < 1.0 - p.trigger_support
        and s.newest - s.last_false_alarm > p.trigger_caution
        and not is_oscillation(p, s, s.newest, speed)
    ):
        pull_trigger(s, rows, s.newest - p.half_width, ratio)


@kernel
def _displacement(p: Any, s: Any) -> tuple[float, float, float]:
    """Return the newest displacement over its threshold, its speed in °/s, and its support.

    Support is how much of it the sample before shows already.
    """
    last = s.newest & RING_MASK
    between = (s.newest - p.trigger_newest) & RING_MASK
    end = (s.newest - p.trigger_newest - p.trigger_gap) & RING_MASK
    start = (s.newest - p.trigger_newest - p.trigger_gap - p.trigger_baseline) & RING_MASK
    base_x = (s.sum_x_deg[end] - s.sum_x_deg[start]) / p.trigger_baseline
    base_y = (s.sum_y_deg[end] - s.sum_y_deg[start]) / p.trigger_baseline
    dx = (s.sum_x_deg[last] - s.sum_x_deg[between]) / p.trigger_newest - base_x
    dy = (s.sum_y_deg[last] - s.sum_y_deg[between]) / p.trigger_newest - base_y
    threshold_x, threshold_y = thresholds(p, s)
    ratio = length_of(dx / threshold_x, dy / threshold_y) / p.trigger_scale_s
    distance = length_of(dx, dy)
    if distance == 0.0:
        return 0.0, 0.0, 0.0
    apart = p.trigger_gap + 0.5 * (p.trigger_newest + p.trigger_baseline)
    along = (s.x_deg[between] - base_x) * dx + (s.y_deg[between] - base_y) * dy
    return ratio, distance * p.sampling_rate_hz / apart, along / (distance * distance)


@kernel
def pull_trigger(s: Any, rows: np.ndarray, onset: int, ratio: float) -> None:
    """Give the trigger, and rest."""
    s.armed = 0
    s.trigger_pending = 1
    s.last_trigger = s.newest
    onset_us = s.time_us[onset & RING_MASK]
    row = emit(s, rows, ONSET, onset, s.newest, onset_us, s.arrived_us)
    rows[row].strength = ratio
