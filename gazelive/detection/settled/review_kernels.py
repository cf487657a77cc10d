"""Kernels of the review: how gaze moves around a saccade, and whether it comes back."""

from __future__ import annotations

import math

import numpy as np

from gazelive.system import kernel

USUAL = 40.0
"""Percentile of the usual speed: a neighbouring saccade may take half of a window."""


@kernel
def fit_line(
    x_deg: np.ndarray,
    y_deg: np.ndarray,
    start: int,
    stop: int,
    sampling_rate_hz: float,
    line: np.ndarray,
) -> None:
    """Fit a line to the samples start … stop − 1 (those seen).

    `line` gets vx and vy in °/s and the RMS deviation in degrees; NaN where fewer than half of the
    samples were seen.
    """
    line[:] = np.nan
    n = 0
    mean_t = mean_x = mean_y = 0.0
    for i in range(max(start, 0), min(stop, len(x_deg))):
        if math.isfinite(x_deg[i]):
            n += 1
            mean_t += i
            mean_x += x_deg[i]
            mean_y += y_deg[i]
    if n < 3 or 2 * n < stop - start:
        return
    mean_t, mean_x, mean_y = mean_t / n, mean_x / n, mean_y / n
    tt = tx = ty = rest = 0.0
    for i in range(max(start, 0), min(stop, len(x_deg))):
        if math.isfinite(x_deg[i]):
            t, x, y = i - mean_t, x_deg[i] - mean_x, y_deg[i] - mean_y
            tt += t * t
            tx += t * x
            ty += t * y
            rest += x * x + y * y
    line[0] = tx / tt * sampling_rate_hz
    line[1] = ty / tt * sampling_rate_hz
    line[2] = math.sqrt(max(0.0, rest - (tx * tx + ty * ty) / tt) / n)


@kernel
def fit_both_sides(
    x_deg: np.ndarray,
    y_deg: np.ndarray,
    runs: np.ndarray,
    gap: int,
    width: int,
    sampling_rate_hz: float,
    sides: np.ndarray,
) -> None:
    """Fit lines to the gaze before and after each run, `gap` samples away from it.

    `sides` has shape (n, 2, 3), see `fit_line`. Neighbouring saccades are not left out: in a row
    of movements none stands out.
    """
    for k in range(len(runs)):
        stop = runs[k, 0] - gap
        fit_line(x_deg, y_deg, stop - width, stop, sampling_rate_hz, sides[k, 0])
        start = runs[k, 1] + gap
        fit_line(x_deg, y_deg, start, start + width, sampling_rate_hz, sides[k, 1])


@kernel
def usual_speeds(
    speed_deg_s: np.ndarray, runs: np.ndarray, gap: int, width: int, usual_deg_s: np.ndarray
) -> None:
    """Write the usual speed before and after each run, `gap` samples away from it.

    `usual_deg_s` has shape (n, 2); NaN where fewer than half of the samples were seen.
    """
    seen = np.empty(width)
    for k in range(len(runs)):
        for side in range(2):
            start = runs[k, 1] + gap if side else runs[k, 0] - gap - width
            n = 0
            for i in range(max(start, 0), min(start + width, len(speed_deg_s))):
                if math.isfinite(speed_deg_s[i]):
                    seen[n] = speed_deg_s[i]
                    n += 1
            usual_deg_s[k, side] = np.nan if 2 * n < width else np.percentile(seen[:n], USUAL)


@kernel
def find_returns(
    x_deg: np.ndarray,
    y_deg: np.ndarray,
    saccades: np.ndarray,
    runs: np.ndarray,
    longest: int,
    near_fraction: float,
    returns: np.ndarray,
) -> None:
    """Write the sample at which gaze is back where each saccade began, or −1.

    Back is nearer than `near_fraction` of its amplitude, at most `longest` samples after its onset.
    """
    for k in range(len(runs)):
        s = saccades[k]
        amplitude = math.hypot(s.end_x_deg - s.start_x_deg, s.end_y_deg - s.start_y_deg)
        after = runs[k, 1] + 1
        returns[k] = -1
        for i in range(after, min(runs[k, 0] + longest + 1, len(x_deg))):
            away = math.hypot(x_deg[i] - s.start_x_deg, y_deg[i] - s.start_y_deg)
            if away < near_fraction * amplitude:
                returns[k] = i
                break
