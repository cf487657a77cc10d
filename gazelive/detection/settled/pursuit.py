"""Smooth pursuit: gaze that moves on steadily between saccades.

A straight line is fitted to the gaze around each sample. Pursuit is where the line is steep enough
and explains most of the variance, for long enough: drift of a fixating eye is slower, its tremor
and noise have no direction. docs/detection.md says how far that agrees with experts.
"""

from __future__ import annotations

import numpy as np

from gazelive.detection.events import Runs, runs_of
from gazelive.detection.parameters import DetectorParameters, to_samples
from gazelive.detection.settled.pursuit_kernels import fit_lines
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
    """Return the slope of the line around each sample and its share of the variance."""
    seen = np.isfinite(x_deg)
    if not seen.all():
        index = np.arange(len(x_deg))
        x_deg, y_deg = (np.interp(index, index[seen], a[seen]) for a in (x_deg, y_deg))
    slopes, shares = np.empty(len(x_deg)), np.empty(len(x_deg))
    fit_lines(np.ascontiguousarray(x_deg), np.ascontiguousarray(y_deg), half, slopes, shares)
    return slopes, shares


def _joined(runs: Runs, gap: int) -> Runs:
    """Join runs that are at most `gap` samples apart."""
    if len(runs) < 2:
        return runs
    apart = runs[1:, 0] - runs[:-1, 1] - 1 > gap
    first = np.concatenate(([True], apart))
    return np.column_stack((runs[first, 0], runs[np.append(apart, True), 1]))
