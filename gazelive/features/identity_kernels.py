"""Identification features of a saccade: dynamics, after-oscillation, fixation texture.

Everything here uses the fixed bandwidth of 28 ms (`derivatives.identity_filter`) or steps of 4 ms:
the same movement gives the same numbers at 250 and at 2000 Hz. These features identify people and
are not kinematics to report: the filter flattens peaks.

Positions are degrees, y downwards, NaN where lost; `step` is the number of samples in 4 ms.
No absolute position enters: it may fingerprint the calibration instead of the person.
"""

from __future__ import annotations

import enum
import math

import numpy as np

from gazelive.features.kinematics_kernels import (
    all_finite,
    component_dynamics,
    curvature,
    differentiate,
    profile_moments,
)
from gazelive.gaze import Floats
from gazelive.system import kernel

STEP_MS = 4.0
MAX_FIXATION_MS = 2000.0
"""Longest part of a fixation that is used, counted back from the saccade."""
POST_SACCADIC_MS = 48.0
VIGOR_RATE_DEG = 7.0
"""The rate b of the vigor in these features, constant for all models."""


class Movement(enum.IntEnum):
    """Columns of the saccade itself."""

    AMPLITUDE = 0
    DURATION = 1
    PEAK_VELOCITY = 2
    MEAN_VELOCITY = 3
    PEAK_ACCELERATION = 4
    PEAK_DECELERATION = 5
    PEAK_TO_MEAN_VELOCITY = 6
    TIME_TO_PEAK = 7
    ACCELERATION_RATIO = 8
    MEAN_ACCELERATION = 9
    ACCELERATION_TIME = 10
    DECELERATION_TIME = 11
    PEAK_JERK = 12
    AMPLITUDE_X = 13
    AMPLITUDE_Y = 14
    PEAK_VELOCITY_X = 15
    PEAK_VELOCITY_Y = 16
    PEAK_ACCELERATION_X = 17
    PEAK_ACCELERATION_Y = 18
    PEAK_DECELERATION_X = 19
    PEAK_DECELERATION_Y = 20
    VIGOR_X = 21
    VIGOR_Y = 22
    RATIO_X = 23
    RATIO_Y = 24
    CURVATURE = 25
    INITIAL_DIRECTION = 26
    FINAL_DIRECTION = 27
    SKEWNESS = 28
    KURTOSIS = 29
    PERPENDICULAR_VELOCITY = 30


class After(enum.IntEnum):
    """Columns of the 48 ms after the saccade."""

    OSCILLATION_RANGE = 0
    REVERSE_VELOCITY = 1
    SECOND_VELOCITY = 2
    GLISSADE = 3
    OVERSHOOT = 4


class Texture(enum.IntEnum):
    """Columns of the fixation before the saccade."""

    DURATION = 0
    SD_X = 1
    SD_Y = 2
    DETRENDED_SD_X = 3
    DETRENDED_SD_Y = 4
    DRIFT_SPEED = 5
    SLOPE_X = 6
    SLOPE_Y = 7
    MEAN_SPEED = 8
    SPEED_95 = 9
    VELOCITY_SD_X = 10
    VELOCITY_SD_Y = 11
    VELOCITY_SKEW_X = 12
    VELOCITY_SKEW_Y = 13
    VELOCITY_LOG_KURTOSIS_X = 14
    VELOCITY_LOG_KURTOSIS_Y = 15
    SECOND_DIFFERENCE_SD_X = 16
    SECOND_DIFFERENCE_SD_Y = 17
    MEDIAN_STEP_X = 18
    MEDIAN_STEP_Y = 19
    STEP_AUTOCORRELATION_1 = 20
    STEP_AUTOCORRELATION_2 = 21
    STEP_CORRELATION_XY = 22


@kernel
def wrapped_angle(dx: float, dy: float, reference: float) -> float:
    """Return the angle of (dx, dy) from `reference`, in (−π, π]."""
    angle = math.atan2(dy, dx) - reference
    return (angle + math.pi) % (2 * math.pi) - math.pi


@kernel
def fill_component(
    x: Floats,
    displacement: float,
    onset: int,
    offset: int,
    step: int,
    v_weights: Floats,
    a_weights: Floats,
    row: Floats,
    axis: int,
) -> None:
    """Fill the columns of the horizontal (axis 0) or vertical (axis 1) component."""
    velocity, up, down = component_dynamics(
        x, displacement, onset, offset, step, v_weights, a_weights
    )
    if not math.isfinite(velocity):
        return
    amplitude = abs(displacement)
    row[Movement.AMPLITUDE_X + axis] = amplitude
    row[Movement.PEAK_VELOCITY_X + axis] = velocity
    row[Movement.PEAK_ACCELERATION_X + axis] = up
    row[Movement.PEAK_DECELERATION_X + axis] = down
    row[Movement.VIGOR_X + axis] = velocity / (1 - math.exp(-amplitude / VIGOR_RATE_DEG))
    if up > 0 and down > 0:
        row[Movement.RATIO_X + axis] = up / down


@kernel
def fill_shape(x: Floats, y: Floats, onset: int, offset: int, step: int, row: Floats) -> None:
    """Fill the columns of the path's shape: its curvature, where it sets out and comes in."""
    dx, dy = x[offset] - x[onset], y[offset] - y[onset]
    amplitude, direction = math.hypot(dx, dy), math.atan2(dy, dx)
    row[Movement.CURVATURE] = curvature(
        x, y, onset, offset, dx / amplitude, dy / amplitude, amplitude
    )
    part = max(2 * step, (offset - onset) // 3)
    if onset + part <= offset:
        row[Movement.INITIAL_DIRECTION] = wrapped_angle(
            x[onset + part] - x[onset], y[onset + part] - y[onset], direction
        )
        row[Movement.FINAL_DIRECTION] = wrapped_angle(
            x[offset] - x[offset - part], y[offset] - y[offset - part], direction
        )


@kernel
def movement_features(
    x: Floats,
    y: Floats,
    onset: int,
    offset: int,
    rate_hz: float,
    step: int,
    v_weights: Floats,
    a_weights: Floats,
    row: Floats,
) -> None:
    """Fill `row` with the columns of `Movement`; all NaN where samples around are lost."""
    row[:] = np.nan
    half = len(v_weights) // 2
    if not all_finite(x, y, onset - 2 * step - half, offset + 2 * step + half):
        return
    dx, dy = x[offset] - x[onset], y[offset] - y[onset]
    amplitude = math.hypot(dx, dy)
    if amplitude <= 0:
        return
    ux, uy = dx / amplitude, dy / amplitude
    n, step_s = offset - onset + 1, step / rate_hz

    # speed from `step` before to `step` after, for its central differences
    speed = np.empty(n + 2 * step)
    across_sum, across_squares = 0.0, 0.0
    for k in range(n + 2 * step):
        i = onset - step + k
        vx, vy = differentiate(x, i, v_weights), differentiate(y, i, v_weights)
        speed[k] = math.hypot(vx, vy)
        if onset <= i <= offset:
            across = -vx * uy + vy * ux
            across_sum += across
            across_squares += across * across
    inside = speed[step : step + n]
    peak_at = int(np.argmax(inside))
    peak, mean, change = inside[peak_at], inside.mean(), 0.0
    if peak <= 0:
        return
    for k in range(step, step + n):
        change += abs(speed[k + step] - speed[k - step]) / (2 * step_s)

    # acceleration along the saccade from 2 steps before to 2 steps after, for the jerk
    along = np.empty(n + 4 * step)
    for k in range(n + 4 * step):
        i = onset - 2 * step + k
        along[k] = differentiate(x, i, a_weights) * ux + differentiate(y, i, a_weights) * uy
    highest, lowest = along[step : n + 3 * step].max(), along[step : n + 3 * step].min()
    jerk = 0.0
    for k in range(n + 3 * step):
        jerk = max(jerk, abs(along[k + step] - along[k]) / step_s)

    row[Movement.AMPLITUDE] = amplitude
    row[Movement.DURATION] = n / rate_hz
    row[Movement.PEAK_VELOCITY], row[Movement.MEAN_VELOCITY] = peak, mean
    row[Movement.PEAK_TO_MEAN_VELOCITY] = peak / mean
    row[Movement.PEAK_ACCELERATION], row[Movement.PEAK_DECELERATION] = highest, -lowest
    if highest > 0 and lowest < 0:
        row[Movement.ACCELERATION_RATIO] = -highest / lowest
    row[Movement.MEAN_ACCELERATION] = change / n
    # one step is added to both times: they stay positive and keep the meaning of their ratio
    row[Movement.ACCELERATION_TIME] = peak_at / rate_hz + step_s
    row[Movement.DECELERATION_TIME] = (n - 1 - peak_at) / rate_hz + step_s
    row[Movement.TIME_TO_PEAK] = row[Movement.ACCELERATION_TIME] / (
        row[Movement.ACCELERATION_TIME] + row[Movement.DECELERATION_TIME]
    )
    row[Movement.PEAK_JERK] = jerk
    fill_component(x, dx, onset, offset, step, v_weights, a_weights, row, 0)
    fill_component(y, dy, onset, offset, step, v_weights, a_weights, row, 1)

    fill_shape(x, y, onset, offset, step, row)
    row[Movement.SKEWNESS], row[Movement.KURTOSIS] = profile_moments(inside, n)
    variance = across_squares / n - (across_sum / n) ** 2
    row[Movement.PERPENDICULAR_VELOCITY] = math.sqrt(max(variance, 0.0)) / peak


@kernel
def after_features(
    x: Floats, y: Floats, onset: int, offset: int, step: int, v_weights: Floats, row: Floats
) -> None:
    """Fill `row` with the columns of `After`; all NaN where samples are lost or not there yet."""
    row[:] = np.nan
    half = len(v_weights) // 2
    n_after = 12 * step
    if not all_finite(x, y, onset, offset + max(n_after, 9 * step + half)):
        return
    dx, dy = x[offset] - x[onset], y[offset] - y[onset]
    amplitude = math.hypot(dx, dy)
    if amplitude <= 0:
        return
    ux, uy = dx / amplitude, dy / amplitude
    early_highest, early_lowest, highest = -np.inf, np.inf, -np.inf
    rest_x, rest_y, n_rest = 0.0, 0.0, 0
    for k in range(n_after + 1):
        px, py = x[offset + k] - x[onset], y[offset + k] - y[onset]
        along = px * ux + py * uy
        highest = max(highest, along)
        if k <= 8 * step:
            early_highest, early_lowest = max(early_highest, along), min(early_lowest, along)
        if k > 8 * step:
            rest_x, rest_y, n_rest = rest_x + px, rest_y + py, n_rest + 1
    rest_x, rest_y = rest_x / n_rest, rest_y / n_rest
    row[After.OSCILLATION_RANGE] = early_highest - early_lowest + 1e-3
    row[After.OVERSHOOT] = (highest - (rest_x * ux + rest_y * uy)) / amplitude
    row[After.GLISSADE] = math.hypot(rest_x - dx, rest_y - dy) + 1e-3

    back, forth_after_back = np.inf, -np.inf
    for k in range(step, 9 * step + 1):
        v = (
            differentiate(x, offset + k, v_weights) * ux
            + differentiate(y, offset + k, v_weights) * uy
        )
        if v < back:
            back, forth_after_back = v, v
        forth_after_back = max(forth_after_back, v)
    row[After.REVERSE_VELOCITY] = max(-back, 0.1)
    row[After.SECOND_VELOCITY] = max(forth_after_back, 0.1)


@kernel
def central_moments(values: Floats) -> tuple[float, float, float]:
    """Return SD, skewness and log kurtosis."""
    mean = values.mean()
    m2, m3, m4 = 0.0, 0.0, 0.0
    for v in values:
        d = v - mean
        m2 += d * d
        m3 += d * d * d
        m4 += d * d * d * d
    n = len(values)
    sd = math.sqrt(m2 / n) + 1e-9
    return sd, m3 / n / sd**3, math.log(max(m4 / n / sd**4, 1e-9))


@kernel
def binned(values: Floats, first: int, step: int, n_bins: int) -> Floats:
    """Return the means of `n_bins` runs of `step` samples from `first` on."""
    bins = np.empty(n_bins)
    for b in range(n_bins):
        total = 0.0
        for k in range(step):
            total += values[first + b * step + k]
        bins[b] = total / step
    return bins


@kernel
def axis_texture(p: Floats, v: Floats, row: Floats, axis: int) -> tuple[float, Floats]:
    """Fill one axis' columns from its binned positions and velocities; return slope and steps."""
    n = len(p)
    mean, middle = p.mean(), (n - 1) / 2
    covariance, squares = 0.0, 0.0
    for i in range(n):
        covariance += (i - middle) * (p[i] - mean)
        squares += (i - middle) ** 2
    slope_per_bin = covariance / squares
    residual = 0.0
    for i in range(n):
        residual += (p[i] - mean - slope_per_bin * (i - middle)) ** 2
    slope = slope_per_bin / (STEP_MS / 1000)
    row[Texture.SD_X + axis] = p.std() + 1e-4
    row[Texture.DETRENDED_SD_X + axis] = math.sqrt(residual / n) + 1e-4
    row[Texture.SLOPE_X + axis] = slope
    sd, skew, log_kurtosis = central_moments(v)
    row[Texture.VELOCITY_SD_X + axis] = sd + 1e-3
    row[Texture.VELOCITY_SKEW_X + axis] = skew
    row[Texture.VELOCITY_LOG_KURTOSIS_X + axis] = log_kurtosis
    steps = p[1:] - p[:-1]
    row[Texture.SECOND_DIFFERENCE_SD_X + axis] = (steps[1:] - steps[:-1]).std() + 1e-4
    steps = steps - steps.mean()
    row[Texture.MEDIAN_STEP_X + axis] = np.median(np.abs(steps)) + 1e-4
    return slope, steps


@kernel
def texture_features(
    x: Floats, y: Floats, gap: int, onset: int, rate_hz: float, step: int, row: Floats
) -> None:
    """Fill `row` with the columns of `Texture`: the fixation before the saccade at `onset`.

    `gap` is the onset minus the offset of the saccade before, 0 where there is none. The 24 ms
    after that saccade (it may still oscillate) and the last 8 ms are left out, and so is what
    lies more than two seconds back.
    """
    row[:] = np.nan
    if gap < 8 * step:
        return
    row[Texture.DURATION] = (gap - 1) / rate_hz
    n = min((gap - 8 * step) // step, int(MAX_FIXATION_MS / STEP_MS))
    first = onset - 2 * step - n * step
    # two more bins on each side for the five-point velocity
    if n < 10 or not all_finite(x, y, first - 2 * step, onset - 1):
        return
    px, py = binned(x, first - 2 * step, step, n + 4), binned(y, first - 2 * step, step, n + 4)
    scale = 1000 / STEP_MS / 10
    vx, vy, speed = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        vx[i] = scale * (2 * (px[i + 4] - px[i]) + px[i + 3] - px[i + 1])
        vy[i] = scale * (2 * (py[i + 4] - py[i]) + py[i + 3] - py[i + 1])
        speed[i] = math.hypot(vx[i], vy[i])
    slope_x, steps_x = axis_texture(px[2 : n + 2], vx, row, 0)
    slope_y, steps_y = axis_texture(py[2 : n + 2], vy, row, 1)
    row[Texture.DRIFT_SPEED] = math.hypot(slope_x, slope_y) + 1e-2
    row[Texture.MEAN_SPEED] = speed.mean()
    row[Texture.SPEED_95] = np.percentile(speed, 95)
    square_x, square_y = (steps_x * steps_x).mean(), (steps_y * steps_y).mean()
    both = (square_x + square_y) / 2 + 1e-12
    lag1 = (steps_x[1:] * steps_x[:-1]).mean() + (steps_y[1:] * steps_y[:-1]).mean()
    lag2 = (steps_x[2:] * steps_x[:-2]).mean() + (steps_y[2:] * steps_y[:-2]).mean()
    row[Texture.STEP_AUTOCORRELATION_1] = lag1 / 2 / both
    row[Texture.STEP_AUTOCORRELATION_2] = lag2 / 2 / both
    row[Texture.STEP_CORRELATION_XY] = (steps_x * steps_y).mean() / math.sqrt(
        square_x * square_y + 1e-12
    )
