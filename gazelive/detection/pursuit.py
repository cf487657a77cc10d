"""Smooth pursuit: gaze that moves on steadily between saccades.

A straight line is fitted to the gaze around each sample. Pursuit is where the line is steep enough
and explains most of the variance, for long enough: drift of a fixating eye is slower, its tremor
and noise have no direction. docs/detection.md says how far that agrees with experts.
"""

from __future__ import annotations

import numpy as np

from gazelive.detection.events import Runs, runs_of
from gazelive.detection.parameters import DetectorParameters, to_samples
from gazelive.gaze import Floats


def find_pursuit(
    x_deg: Floats, y_deg: Floats, rests: Runs, sampling_rate_hz: float, p: DetectorParameters
) -> Runs:
    """Return first and last sample of each pursuit within the rests between saccades."""
    half = to_samples(p.pursuit_window_ms / 2, sampling_rate_hz, at_least=2)
    shortest = to_samples(p.pursuit_shortest_ms, sampling_rate_hz, at_least=half)
    gap = to_samples(p.pursuit_gap_ms, sampling_rate_hz)
    found = []
    for first, last in rests.tolist():
        if last - first + 1 < shortest:
            continue
        speed, linearity = _lines(x_deg[first : last + 1], y_deg[first : last + 1], half)
        is_fast = speed * sampling_rate_hz > p.pursuit_slowest_deg_s
        runs = _joined(runs_of(is_fast & (linearity > p.pursuit_linearity)), gap)
        found.append(first + runs[runs[:, 1] - runs[:, 0] + 1 >= shortest])
    return np.concatenate(found) if found else np.empty((0, 2), np.int64)


def _lines(x_deg: Floats, y_deg: Floats, half: int) -> tuple[Floats, Floats]:
    """Fit a line to 2 · half + 1 samples around each sample (at the ends: of the first or last).

    Return its slope in degrees per sample, and the share of the variance that it explains.
    """
    n, t = len(x_deg), np.arange(len(x_deg), dtype=np.float64)
    seen = np.isfinite(x_deg)
    x, y = (np.interp(t, t[seen], a[seen]) - a[seen].mean() for a in (x_deg, y_deg))
    start = np.clip(np.arange(n) - half, 0, max(0, n - 2 * half - 1))
    stop = np.minimum(start + 2 * half + 1, n)

    def sums(values: Floats) -> Floats:
        so_far = np.concatenate(([0.0], np.cumsum(values)))
        return np.asarray(so_far[stop] - so_far[start])

    size = stop - start
    sum_t, sum_x, sum_y = sums(t), sums(x), sums(y)
    tt = sums(t * t) - sum_t**2 / size
    slope_x = (sums(t * x) - sum_t * sum_x / size) / tt
    slope_y = (sums(t * y) - sum_t * sum_y / size) / tt
    variance = sums(x * x) - sum_x**2 / size + sums(y * y) - sum_y**2 / size
    explained = (slope_x**2 + slope_y**2) * tt
    return np.hypot(slope_x, slope_y), explained / np.maximum(variance, 1e-12)


def _joined(runs: Runs, gap: int) -> Runs:
    """Join runs that are at most `gap` samples apart."""
    if len(runs) < 2:
        return runs
    apart = runs[1:, 0] - runs[:-1, 1] - 1 > gap
    first = np.concatenate(([True], apart))
    return np.column_stack((runs[first, 0], runs[np.append(apart, True), 1]))
