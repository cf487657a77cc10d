"""The clock of a sample table: its sampling rate, and times that miss, repeat or run backwards."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

NOMINAL_RATES_HZ = (
    *(25, 30, 50, 60, 75, 90, 100, 120, 125, 150, 180, 200, 240, 250, 300, 400, 500),
    *(600, 960, 1000, 1200, 1250, 2000),
)
"""The rates at which eye trackers are sold."""
SNAP_FRACTION = 0.01
SLOWEST_HZ, FASTEST_HZ = 1.0, 20_000.0
LATEST_MS = 1e13
"""Three hundred years: a time beyond is damage."""


def estimate_rate_hz(t_ms: npt.NDArray[np.float64]) -> float | None:
    """Return the sampling rate that times (in rows' order, NaN allowed) speak of, or None.

    It is one over the median step. Where a fifth of the times or more repeat (integer
    milliseconds at 2000 Hz do), the median says nothing and the mean step is taken instead. A
    tracker's nominal rate within 1 % is taken for the truth.
    """
    known = t_ms[_is_time(t_ms)]
    if len(known) < 2:
        return None
    steps_ms = np.diff(known)
    if np.mean(steps_ms == 0) >= 0.2:
        step_ms = (known[-1] - known[0]) / (len(known) - 1)
    elif np.any(steps_ms > 0):
        step_ms = float(np.median(steps_ms[steps_ms > 0]))
    else:
        return None
    if not 1000 / FASTEST_HZ <= step_ms <= 1000 / SLOWEST_HZ:
        return None
    rate_hz = 1000.0 / float(step_ms)
    nominal_hz = min(NOMINAL_RATES_HZ, key=lambda nominal: abs(nominal - rate_hz))
    return float(nominal_hz) if abs(nominal_hz / rate_hz - 1) <= SNAP_FRACTION else rate_hz


def repair_times_us(
    t_ms: npt.NDArray[np.float64], rate_hz: float
) -> tuple[npt.NDArray[np.int64], int]:
    """Return times in µs that advance at every row, and how many had to be made up.

    The rows keep their order. A time that is missing, or not after the one before it, becomes
    one nominal interval after it; all others stay as they are.
    """
    times_us = np.full(len(t_ms), np.iinfo(np.int64).min)
    known = _is_time(t_ms)
    times_us[known] = np.round(t_ms[known] * 1000)
    if known.all() and (np.diff(times_us) > 0).all():
        return times_us, 0
    from gazelive.recordings.table_time_kernels import advance_times

    return times_us, int(advance_times(times_us, known, 1e6 / rate_hz))


def _is_time(t_ms: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    return np.abs(t_ms) < LATEST_MS
