"""The kinematics of one saccade, as `gazelive detect` reports them: short filter, plain arrays.

Positions are degrees, y downwards, NaN where lost. Onset and offset are the indices of the first
and last sample inside. Undefined values are NaN (masked).
"""

from __future__ import annotations

import enum
import math

import numpy as np

from gazelive.gaze import Floats
from gazelive.system import kernel

MIN_COMPONENT_DEG = 0.5
"""Below this a horizontal or vertical component has no dynamics of its own."""


class Kinematics(enum.IntEnum):
    """The columns of a kinematics row."""

    AMPLITUDE_DEG = 0
    DURATION_MS = 1
    DIRECTION_DEG = 2
    DX_DEG = 3
    DY_DEG = 4
    PEAK_VELOCITY_DEG_S = 5
    MEAN_VELOCITY_DEG_S = 6
    MEAN_ACCELERATION_DEG_S2 = 7
    PEAK_ACCELERATION_DEG_S2 = 8
    PEAK_DECELERATION_DEG_S2 = 9
    PEAK_VELOCITY_X_DEG_S = 10
    PEAK_VELOCITY_Y_DEG_S = 11
    RATIO_X = 12
    RATIO_Y = 13
    VELOCITY_SKEWNESS = 14
    CURVATURE = 15


N_KINEMATICS: int = len(Kinematics)


@kernel
def differentiate(values: Floats, index: int, weights: Floats) -> float:
    """Return the weighted sum of the samples around `index`."""
    half = len(weights) // 2
    total = 0.0
    for k in range(len(weights)):
        total += weights[k] * values[index - half + k]
    return total


@kernel
def all_finite(x: Floats, y: Floats, first: int, last: int) -> bool:
    """Return whether samples `first` … `last` all exist and are not lost."""
    if first < 0 or last >= len(x):
        return False
    for i in range(first, last + 1):  # noqa: SIM110  numba has no all()
        if not (math.isfinite(x[i]) and math.isfinite(y[i])):
            return False
    return True


@kernel
def component_dynamics(
    x: Floats,
    displacement: float,
    onset: int,
    offset: int,
    margin: int,
    v_weights: Floats,
    a_weights: Floats,
) -> tuple[float, float, float]:
    """Return peak velocity, peak acceleration and peak deceleration of one component.

    All are along the component's own direction; NaN where it is too small to have any.
    """
    if abs(displacement) <= MIN_COMPONENT_DEG:
        return np.nan, np.nan, np.nan
    sign = 1.0 if displacement > 0 else -1.0
    velocity = -np.inf
    for i in range(onset, offset + 1):
        velocity = max(velocity, sign * differentiate(x, i, v_weights))
    highest, lowest = -np.inf, np.inf
    for i in range(onset - margin, offset + margin + 1):
        a = sign * differentiate(x, i, a_weights)
        highest, lowest = max(highest, a), min(lowest, a)
    return velocity, highest, -lowest


@kernel
def profile_moments(speed: Floats, n: int) -> tuple[float, float]:
    """Return skewness and kurtosis of a velocity profile read as a density over time."""
    total, mean = 0.0, 0.0
    for i in range(n):
        total += speed[i]
        mean += speed[i] * i
    mean /= total
    m2, m3, m4 = 0.0, 0.0, 0.0
    for i in range(n):
        d = i - mean
        w = speed[i] / total
        m2 += w * d * d
        m3 += w * d * d * d
        m4 += w * d * d * d * d
    if m2 <= 0:
        return np.nan, np.nan
    return m3 / m2**1.5, m4 / (m2 * m2)


@kernel
def curvature(
    x: Floats, y: Floats, onset: int, offset: int, ux: float, uy: float, amplitude: float
) -> float:
    """Return the largest distance from the straight line, as a fraction of the amplitude.

    Positive is clockwise of the direction of the saccade as seen on the screen.
    """
    furthest = 0.0
    for i in range(onset, offset + 1):
        d = -(x[i] - x[onset]) * uy + (y[i] - y[onset]) * ux
        if abs(d) > abs(furthest):
            furthest = d
    return furthest / amplitude


@kernel
def saccade_kinematics(
    x: Floats,
    y: Floats,
    onset: int,
    offset: int,
    rate_hz: float,
    v_weights: Floats,
    a_weights: Floats,
    row: Floats,
) -> None:
    """Fill `row` (N_KINEMATICS) with the kinematics of one saccade."""
    row[:] = np.nan
    dx, dy = x[offset] - x[onset], y[offset] - y[onset]
    amplitude = math.hypot(dx, dy)
    row[Kinematics.DURATION_MS] = (offset - onset + 1) * 1000.0 / rate_hz
    if not math.isfinite(amplitude):
        return
    row[Kinematics.AMPLITUDE_DEG] = amplitude
    row[Kinematics.DX_DEG], row[Kinematics.DY_DEG] = dx, dy
    if amplitude <= 0:
        return
    row[Kinematics.DIRECTION_DEG] = math.degrees(math.atan2(-dy, dx))
    half = len(v_weights) // 2
    if not all_finite(x, y, onset - 1 - half, offset + 1 + half):
        return
    ux, uy = dx / amplitude, dy / amplitude
    row[Kinematics.CURVATURE] = curvature(x, y, onset, offset, ux, uy, amplitude)

    n = offset - onset + 1
    speed = np.empty(n)
    total_speed, total_change, peak = 0.0, 0.0, 0.0
    highest, lowest = -np.inf, np.inf
    for i in range(onset - 1, offset + 2):
        ax, ay = differentiate(x, i, a_weights), differentiate(y, i, a_weights)
        along = ax * ux + ay * uy
        highest, lowest = max(highest, along), min(lowest, along)
        if onset <= i <= offset:
            vx, vy = differentiate(x, i, v_weights), differentiate(y, i, v_weights)
            v = math.hypot(vx, vy)
            speed[i - onset] = v
            total_speed += v
            peak = max(peak, v)
            if v > 0:
                total_change += abs(ax * vx + ay * vy) / v
    if peak <= 0:
        return
    row[Kinematics.PEAK_VELOCITY_DEG_S] = peak
    row[Kinematics.MEAN_VELOCITY_DEG_S] = total_speed / n
    row[Kinematics.MEAN_ACCELERATION_DEG_S2] = total_change / n
    if highest > 0:
        row[Kinematics.PEAK_ACCELERATION_DEG_S2] = highest
    if lowest < 0:
        row[Kinematics.PEAK_DECELERATION_DEG_S2] = -lowest
    row[Kinematics.VELOCITY_SKEWNESS], _ = profile_moments(speed, n)

    vx, up, down = component_dynamics(x, dx, onset, offset, 1, v_weights, a_weights)
    row[Kinematics.PEAK_VELOCITY_X_DEG_S] = vx
    if up > 0 and down > 0:
        row[Kinematics.RATIO_X] = up / down
    vy, up, down = component_dynamics(y, dy, onset, offset, 1, v_weights, a_weights)
    row[Kinematics.PEAK_VELOCITY_Y_DEG_S] = vy
    if up > 0 and down > 0:
        row[Kinematics.RATIO_Y] = up / down
