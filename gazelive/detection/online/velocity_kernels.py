"""Velocity after Engbert & Kliegl (2003): averaged symmetric differences.

v[n] = rate · Σ_{k=1..m} (x[n+k] − x[n−k]) / (m(m+1)); m = 2 is the authors' five-point form.
"""

from __future__ import annotations

import numpy as np

from gazelive.system import kernel


@kernel
def centred_velocity(
    x_deg: np.ndarray, half_width: int, sampling_rate_hz: float, velocity: np.ndarray
) -> None:
    """Write the velocity in °/s of each sample; NaN where the window has a lost sample or none."""
    n = len(x_deg)
    scale = sampling_rate_hz / (half_width * (half_width + 1))
    for centre in range(n):
        if centre < half_width or centre >= n - half_width:
            velocity[centre] = np.nan
            continue
        total = 0.0
        for k in range(1, half_width + 1):
            total += x_deg[centre + k] - x_deg[centre - k]
        # the centre itself is not in the sum, but a lost centre is a lost sample all the same
        velocity[centre] = total * scale if x_deg[centre] == x_deg[centre] else np.nan


@kernel
def engbert_kliegl_velocity(
    x_deg: np.ndarray, sampling_rate_hz: float, velocity: np.ndarray
) -> None:
    """Write the toolbox's velocity: five points, three next to the ends, 0 at the ends.

    A lost sample has none, though its neighbours would give one.
    """
    n = len(x_deg)
    for centre in range(n):
        if np.isnan(x_deg[centre]):
            velocity[centre] = np.nan
        elif centre == 0 or centre == n - 1:
            velocity[centre] = 0.0
        elif centre == 1 or centre == n - 2:
            velocity[centre] = sampling_rate_hz / 2.0 * (x_deg[centre + 1] - x_deg[centre - 1])
        else:
            velocity[centre] = (
                sampling_rate_hz
                / 6.0
                * (x_deg[centre + 2] + x_deg[centre + 1] - x_deg[centre - 1] - x_deg[centre - 2])
            )


_CLOSE = 1e-9


@kernel
def elliptic_runs(
    vx: np.ndarray,
    vy: np.ndarray,
    threshold_x: float,
    threshold_y: float,
    shortest: int,
    runs: np.ndarray,
) -> int:
    """Write first and last index of each run of at least `shortest` samples outside the ellipse.

    Velocities, thresholds: °/s. `runs` has shape (more than n / (shortest + 1), 2); the number of
    rows written is returned. NaN counts as inside: a lost sample ends a run.
    """
    n_runs = 0
    length = 0
    n = len(vx)
    inverse_x, inverse_y = 1.0 / threshold_x, 1.0 / threshold_y
    for i in range(n + 1):
        distance = 0.0
        if i < n:
            x, y = vx[i] * inverse_x, vy[i] * inverse_y
            distance = x * x + y * y
            if abs(distance - 1.0) < _CLOSE:  # only there can a quotient make a difference
                distance = (vx[i] / threshold_x) ** 2 + (vy[i] / threshold_y) ** 2
        if distance > 1.0:
            length += 1
            continue
        if length >= shortest:
            runs[n_runs, 0] = i - length
            runs[n_runs, 1] = i - 1
            n_runs += 1
        length = 0
    return n_runs


@kernel
def measure_runs(
    x_deg: np.ndarray,
    y_deg: np.ndarray,
    vx: np.ndarray,
    vy: np.ndarray,
    runs: np.ndarray,
    measures: np.ndarray,
) -> None:
    """Write peak speed in °/s, dx, dy, and the amplitudes of x and y in degrees of each run.

    `measures` has shape (n, 5). An amplitude is the range of a component within the run, signed
    by which extreme comes first.
    """
    for k in range(len(runs)):
        first, last = runs[k, 0], runs[k, 1]
        peak = 0.0
        for i in range(first, last + 1):
            squared = vx[i] * vx[i] + vy[i] * vy[i]
            if squared > peak:  # noqa: PLR1730  a lost one is never the peak
                peak = squared
        measures[k, 0] = np.sqrt(peak)
        measures[k, 1] = x_deg[last] - x_deg[first]
        measures[k, 2] = y_deg[last] - y_deg[first]
        measures[k, 3] = _signed_range(x_deg, first, last)
        measures[k, 4] = _signed_range(y_deg, first, last)


@kernel
def _signed_range(position: np.ndarray, first: int, last: int) -> float:
    lowest = highest = first
    for i in range(first + 1, last + 1):
        if position[i] < position[lowest]:
            lowest = i
        if position[i] > position[highest]:
            highest = i
    size = position[highest] - position[lowest]
    return float(size if highest >= lowest else -size)


@kernel
def mean_positions(
    x_deg: np.ndarray, y_deg: np.ndarray, runs: np.ndarray, measures: np.ndarray
) -> None:
    """Write the share of seen samples, and the mean x and y in degrees, of each run.

    `measures` has shape (n, 3); the means of a run that was never seen are 0.
    """
    for k in range(len(runs)):
        first, last = runs[k, 0], runs[k, 1]
        n_seen = 0
        sum_x = sum_y = 0.0
        for i in range(first, last + 1):
            if np.isfinite(x_deg[i]) and np.isfinite(y_deg[i]):
                n_seen += 1
                sum_x += x_deg[i]
                sum_y += y_deg[i]
        measures[k, 0] = n_seen / (last - first + 1)
        measures[k, 1] = sum_x / max(n_seen, 1)
        measures[k, 2] = sum_y / max(n_seen, 1)
