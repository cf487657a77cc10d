"""Times of a sample table: its sampling rate, and repair of missing, repeated or backward times.

One wrong time must not shift the rows after it. The trusted rows are therefore the longest
increasing subsequence of times (as in an ASC file); each other row is interpolated by its place in
the table, and skipped if there is no room for it, such as a row that was written twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazelive.gaze import Flags, Floats, Integers, increasing

NOMINAL_RATES_HZ = (
    *(25, 30, 50, 60, 75, 90, 100, 120, 125, 150, 180, 200, 240, 250, 300, 400, 500),
    *(600, 960, 1000, 1200, 1250, 2000),
)
"""Nominal rates of eye trackers."""
SNAP_FRACTION = 0.01
SLOWEST_HZ, FASTEST_HZ = 1.0, 20_000.0
LATEST_MS = 1e13
"""Three hundred years: a later time is damaged."""
REGULAR_STEPS = 1.5
"""A step of more than this many median steps is a gap."""
LONELY_MS = 60_000.0
"""A first or last row so far from all others has a wrong time."""
SHORTEST_RESTART = 10
"""A step backwards is a restart if this many rows before and after it advance."""
RESTART_FRACTION = 0.05
"""A smaller share of rows out of order is damage."""
UNITS = (("seconds", 1e3), ("microseconds", 1e-3), ("nanoseconds", 1e-6))
"""Other units of a clock, and their milliseconds."""
SHORTEST_STEP_MS, LONGEST_STEP_MS = 0.4, 50.0
"""Steps of trackers between 2500 and 20 Hz."""


@dataclass(frozen=True)
class RepairedTimes:
    """Repaired times of the kept rows."""

    times_us: Integers
    """Increasing."""
    kept: Flags
    """Mask of the rows that are kept."""
    repaired: Flags
    """Mask of the rows that got a new time."""


def estimate_rate_hz(t_ms: Floats) -> float | None:
    """Return the sampling rate of times (in row order, NaN allowed), or None.

    It is one over the mean of all regular steps: gaps and steps backwards do not count, and
    neither do repeated times unless they are a fifth of all (integer milliseconds at 2000 Hz). A
    nominal rate of trackers within 1 % is taken instead.
    """
    step_ms = mean_step_ms(t_ms)
    if step_ms is None or not 1000 / FASTEST_HZ <= step_ms <= 1000 / SLOWEST_HZ:
        return None
    rate_hz = 1000.0 / step_ms
    nominal_hz = min(NOMINAL_RATES_HZ, key=lambda nominal: abs(nominal - rate_hz))
    return float(nominal_hz) if abs(nominal_hz / rate_hz - 1) <= SNAP_FRACTION else rate_hz


def mean_step_ms(t_ms: Floats, latest_ms: float = LATEST_MS) -> float | None:
    """Return the mean regular step from row to row, or None if time never advances."""
    steps_ms = np.diff(t_ms[np.abs(t_ms) < latest_ms])
    if not np.any(steps_ms > 0):
        return None
    longest_ms = REGULAR_STEPS * float(np.median(steps_ms[steps_ms > 0]))
    n_repeats = int(np.sum(steps_ms == 0))
    repeats_count = n_repeats >= max(3, 0.2 * len(steps_ms))
    regular = (steps_ms <= longest_ms) & (steps_ms >= 0 if repeats_count else steps_ms > 0)
    return float(np.mean(steps_ms[regular]))


def other_unit(t_ms: Floats, stated_hz: float | None = None) -> tuple[str, float] | None:
    """Return the likely unit of the times, and its milliseconds, if it is not ms.

    A `stated_hz` that fits the steps as milliseconds is trusted.
    """
    # microseconds since 1970 exceed any time in milliseconds
    step = mean_step_ms(t_ms, LATEST_MS if _is_time(t_ms).any() else np.inf)
    if step is None or (stated_hz is not None and 0.5 <= step * stated_hz / 1000 <= 2):
        return None
    for unit, in_ms in UNITS:
        if SHORTEST_STEP_MS <= step * in_ms <= LONGEST_STEP_MS:
            return unit, in_ms
    return None


def restarts(t_ms: Floats) -> list[int]:
    """Return the rows at which time restarts, such as if every trial starts at 0.

    A few rows with backward times are damaged, not restarts.
    """
    known = np.flatnonzero(_is_time(t_ms))
    times = t_ms[known]
    backwards = np.flatnonzero(np.diff(times) < 0) + 1
    if not len(backwards):
        return []
    n_lost = len(times) - int(increasing(np.round(times * 1000).astype(np.int64)).sum())
    if n_lost < max(SHORTEST_RESTART, RESTART_FRACTION * len(times)):
        return []
    rows = []
    before = None  # a time near the end of the previous long run; its last one may be wrong
    for first, stop in zip([0, *backwards], [*backwards, len(times)], strict=True):
        if stop - first < SHORTEST_RESTART:
            continue
        if before is not None and times[first + 1] < before:
            rows.append(int(known[first]))
        before = times[stop - 2]
    return rows


def repair_times_us(t_ms: Floats, rate_hz: float, *, distrust_ends: bool = True) -> RepairedTimes:
    """Return times in µs that advance at every row; rows keep their order.

    Times of the longest increasing subsequence are trusted and kept. A row between two of them
    whose time is missing or out of order is interpolated if there is room for it, else skipped.
    Rows before and after all of them continue at the nominal rate; without any time, time starts
    at 0. With `distrust_ends`, a first or last time that is far from all others counts as missing.
    """
    times_us = np.zeros(len(t_ms), np.int64)
    known = _is_time(t_ms)
    times_us[known] = np.round(t_ms[known] * 1000)
    if (
        known.all()
        and (np.diff(times_us) > 0).all()
        and not (distrust_ends and _ends_are_lonely(t_ms))
    ):
        return RepairedTimes(times_us, known, np.zeros(len(t_ms), bool))
    from gazelive.recordings.tables.time_kernels import place_rows

    rows = np.flatnonzero(known)
    trusted = np.zeros(len(t_ms), bool)
    trusted[rows[increasing(times_us[known])]] = True
    if distrust_ends:
        _distrust_lonely_ends(times_us, trusted)
    kept = place_rows(times_us, trusted, 1e6 / rate_hz)
    return RepairedTimes(times_us[kept], kept, kept & ~trusted)


def _distrust_lonely_ends(times_us: Integers, trusted: Flags) -> None:
    """Distrust a first or last time that is far from all others."""
    rows = np.flatnonzero(trusted)
    if _ends_are_lonely(times_us[rows] / 1000):
        for end, inner in ((0, 1), (-1, -2)):
            if abs(times_us[rows[end]] - times_us[rows[inner]]) > LONELY_MS * 1000:
                trusted[rows[end]] = False


def _ends_are_lonely(times_ms: Floats) -> bool:
    # among few rows the wrong one cannot be determined
    if len(times_ms) < SHORTEST_RESTART:
        return False
    return bool(max(times_ms[1] - times_ms[0], times_ms[-1] - times_ms[-2]) > LONELY_MS)


def _is_time(t_ms: Floats) -> Flags:
    return np.abs(t_ms) < LATEST_MS
