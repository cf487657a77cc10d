"""Kernel of the cyclopean gaze, without jumps where an eye is lost or found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gazelive.system import kernel

CYCLOPEAN = np.dtype(
    [
        ("x_deg", "f8"),
        ("y_deg", "f8"),
        ("left_x_deg", "f8"),
        ("left_y_deg", "f8"),
        ("right_x_deg", "f8"),
        ("right_y_deg", "f8"),
        ("left_seen", "i8"),
        ("right_seen", "i8"),  # samples without a break
        ("leak", "f8"),
        ("largest_pull_deg", "f8"),
        ("trusted_after", "i8"),
        ("longest_step_us", "f8"),
        ("time_us", "i8"),
        ("begun", "i8"),
    ],
    align=True,
)
"""The newest cyclopean position and each eye's own; NaN where there is none."""


@kernel
def carry_on(s: Any, time_us: int) -> bool:
    """Return whether a sample is later than the one before; forget the eyes in a gap."""
    if s.begun == 1:
        step_us = time_us - s.time_us
        if step_us <= 0:
            return False
        if step_us > s.longest_step_us:
            s.x_deg = s.left_x_deg = s.right_x_deg = np.nan
            s.left_seen = s.right_seen = 0
    s.begun = 1
    s.time_us = time_us
    return True


@kernel
def follow_both_eyes(
    state: np.ndarray,
    times_us: np.ndarray,
    left_x: np.ndarray,
    left_y: np.ndarray,
    right_x: np.ndarray,
    right_y: np.ndarray,
    x_deg: np.ndarray,
    y_deg: np.ndarray,
) -> None:
    """Write the cyclopean position of each sample; everything in degrees.

    It moves by the mean movement of the eyes that were seen in this sample and in the one
    before, and is drawn towards the mean position with a time constant of `1 / leak` samples, but
    slowly enough that no detector takes it for a movement. So it *is* the mean while both eyes are
    seen, and half the distance between the eyes is no movement when one of them is lost or found.
    An eye that returns is wild at first: beside the other eye it counts after `trusted_after`
    samples. Where no eye carries over, the sample is lost; in a gap of times (n,) none does, and a
    sample that is not later than the one before is none.
    """
    s = state[0]
    for i in range(len(left_x)):
        if not carry_on(s, times_us[i]):
            x_deg[i] = y_deg[i] = np.nan
            continue
        left = math.isfinite(left_x[i]) and math.isfinite(left_y[i])
        right = math.isfinite(right_x[i]) and math.isfinite(right_y[i])
        s.left_seen = s.left_seen + 1 if left else 0
        s.right_seen = s.right_seen + 1 if right else 0
        left_carries = left and not math.isnan(s.left_x_deg)
        right_carries = right and not math.isnan(s.right_x_deg)
        if left_carries and right_carries:
            left_trusted = s.left_seen > s.trusted_after or s.left_seen >= s.right_seen
            right_trusted = s.right_seen > s.trusted_after or s.right_seen >= s.left_seen
            left_carries, right_carries = left_trusted, right_trusted
        x = _mean(left, left_x[i], right, right_x[i])
        y = _mean(left, left_y[i], right, right_y[i])
        if left_carries or right_carries:
            moved_x = _mean(
                left_carries, left_x[i] - s.left_x_deg, right_carries, right_x[i] - s.right_x_deg
            )
            moved_y = _mean(
                left_carries, left_y[i] - s.left_y_deg, right_carries, right_y[i] - s.right_y_deg
            )
            x = _drawn(s, x, s.x_deg + moved_x)
            y = _drawn(s, y, s.y_deg + moved_y)
        elif not math.isnan(s.x_deg):
            # seen before, but by the other eye: a jump that is no movement
            x = y = np.nan
        lost = math.isnan(x)
        s.x_deg = x
        s.y_deg = y
        s.left_x_deg = left_x[i] if left and not lost else np.nan
        s.left_y_deg = left_y[i] if left and not lost else np.nan
        s.right_x_deg = right_x[i] if right and not lost else np.nan
        s.right_y_deg = right_y[i] if right and not lost else np.nan
        x_deg[i] = x
        y_deg[i] = y


@kernel
def _drawn(s: Any, mean: float, position: float) -> float:
    """Return a position drawn towards the mean of the eyes."""
    pull = s.leak * (mean - position)
    return float(position + min(s.largest_pull_deg, max(-s.largest_pull_deg, pull)))


@kernel
def _mean(a_counts: bool, a: float, b_counts: bool, b: float) -> float:
    """Return the mean of those of two numbers that count; NaN for none."""
    if a_counts and b_counts:
        return 0.5 * (a + b)
    if a_counts:
        return a
    return b if b_counts else np.nan
