"""The clock of a sample table: its sampling rate, and times that miss, repeat or run backwards.

One wild time must not move the rows after it. So the rows that are believed are the longest
increasing run of times (as in an ASC file); each of the others gets the time that its place in the
table speaks for, and where there is no place for it, as for a row that was written twice, it is
left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.recordings.time_order import increasing

Times = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

NOMINAL_RATES_HZ = (
    *(25, 30, 50, 60, 75, 90, 100, 120, 125, 150, 180, 200, 240, 250, 300, 400, 500),
    *(600, 960, 1000, 1200, 1250, 2000),
)
"""The rates at which eye trackers are sold."""
SNAP_FRACTION = 0.01
SLOWEST_HZ, FASTEST_HZ = 1.0, 20_000.0
LATEST_MS = 1e13
"""Three hundred years: a time beyond is damage."""
REGULAR_STEPS = 1.5
"""A step of more than so many median steps is a gap."""
LONELY_MS = 60_000.0
"""A first or last row so far from all others has a wild time."""
SHORTEST_RESTART = 10
"""Rows that run on in time before and after it make a restart of one step backwards."""
RESTART_FRACTION = 0.05
"""Fewer rows than this out of order are damaged ones."""
UNITS = (("seconds", 1e3), ("microseconds", 1e-3), ("nanoseconds", 1e-6))
"""What else a clock may count, and how many milliseconds that is."""
SHORTEST_STEP_MS, LONGEST_STEP_MS = 0.4, 50.0
"""The steps of trackers between 2500 and 20 Hz."""


@dataclass(frozen=True)
class MendedTimes:
    """The times of those rows that stay."""

    times_us: npt.NDArray[np.int64]
    """They increase."""
    kept: Mask
    """Which of all rows they belong to."""
    mended: Mask
    """Which of all rows got another time than they had."""


def estimate_rate_hz(t_ms: Times) -> float | None:
    """Return the sampling rate that times (in rows' order, NaN allowed) speak of, or None.

    It is one over the mean of all regular steps: gaps and steps backwards do not count, and
    neither do repeated times unless they are a fifth of all (integer milliseconds at 2000 Hz). A
    tracker's nominal rate within 1 % is taken for the truth.
    """
    step_ms = mean_step_ms(t_ms)
    if step_ms is None or not 1000 / FASTEST_HZ <= step_ms <= 1000 / SLOWEST_HZ:
        return None
    rate_hz = 1000.0 / step_ms
    nominal_hz = min(NOMINAL_RATES_HZ, key=lambda nominal: abs(nominal - rate_hz))
    return float(nominal_hz) if abs(nominal_hz / rate_hz - 1) <= SNAP_FRACTION else rate_hz


def mean_step_ms(t_ms: Times, latest_ms: float = LATEST_MS) -> float | None:
    """Return the mean regular step from row to row, or None where time never advances."""
    steps_ms = np.diff(t_ms[np.abs(t_ms) < latest_ms])
    if not np.any(steps_ms > 0):
        return None
    longest_ms = REGULAR_STEPS * float(np.median(steps_ms[steps_ms > 0]))
    n_repeats = int(np.sum(steps_ms == 0))
    repeats_count = n_repeats >= max(3, 0.2 * len(steps_ms))
    regular = (steps_ms <= longest_ms) & (steps_ms >= 0 if repeats_count else steps_ms > 0)
    return float(np.mean(steps_ms[regular]))


def other_unit(t_ms: Times, stated_hz: float | None = None) -> tuple[str, float] | None:
    """Return the unit that times seem to be in, and its milliseconds, where it is not ms.

    A `stated_hz` that fits the steps as milliseconds is believed.
    """
    # microseconds since 1970 are later than any millisecond
    step = mean_step_ms(t_ms, LATEST_MS if _is_time(t_ms).any() else np.inf)
    if step is None or (stated_hz is not None and 0.5 <= step * stated_hz / 1000 <= 2):
        return None
    for unit, in_ms in UNITS:
        if SHORTEST_STEP_MS <= step * in_ms <= LONGEST_STEP_MS:
            return unit, in_ms
    return None


def restarts(t_ms: Times) -> list[int]:
    """Return the rows at which time begins anew, as where every trial counts from 0.

    Time that runs backwards at a few rows only is damaged there, and does not begin anew.
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
    before = None  # a time near the end of the long run before; its last may be the wild one
    for first, beyond in zip([0, *backwards], [*backwards, len(times)], strict=True):
        if beyond - first < SHORTEST_RESTART:
            continue
        if before is not None and times[first + 1] < before:
            rows.append(int(known[first]))
        before = times[beyond - 2]
    return rows


def mend_times_us(t_ms: Times, rate_hz: float, *, doubt_ends: bool = True) -> MendedTimes:
    """Return times in µs that advance at every row; rows keep their order.

    Times of the longest increasing run stay as they are. A row between two of them whose time is
    missing or out of order is put on an even step between them if there is room for it, and left
    out if there is none. Rows before and after them all are counted on at the nominal rate;
    without any time at all, time begins at 0. With `doubt_ends`, a first or last time that is far
    from all others counts as missing.
    """
    times_us = np.zeros(len(t_ms), np.int64)
    known = _is_time(t_ms)
    times_us[known] = np.round(t_ms[known] * 1000)
    if (
        known.all()
        and (np.diff(times_us) > 0).all()
        and not (doubt_ends and _ends_are_lonely(t_ms))
    ):
        return MendedTimes(times_us, known, np.zeros(len(t_ms), bool))
    from gazelive.recordings.table_time_kernels import place_rows

    rows = np.flatnonzero(known)
    believed = np.zeros(len(t_ms), bool)
    believed[rows[increasing(times_us[known])]] = True
    if doubt_ends:
        _doubt_lonely_ends(times_us, believed)
    kept = place_rows(times_us, believed, 1e6 / rate_hz)
    return MendedTimes(times_us[kept], kept, kept & ~believed)


def _doubt_lonely_ends(times_us: npt.NDArray[np.int64], believed: Mask) -> None:
    """Believe no first or last time that is far from all others; a longest run has them."""
    rows = np.flatnonzero(believed)
    if _ends_are_lonely(times_us[rows] / 1000):
        for end, inner in ((0, 1), (-1, -2)):
            if abs(times_us[rows[end]] - times_us[rows[inner]]) > LONELY_MS * 1000:
                believed[rows[end]] = False


def _ends_are_lonely(times_ms: Times) -> bool:
    # of three rows nobody can say which one is the wild one
    if len(times_ms) < SHORTEST_RESTART:
        return False
    return bool(max(times_ms[1] - times_ms[0], times_ms[-1] - times_ms[-2]) > LONELY_MS)


def _is_time(t_ms: Times) -> Mask:
    return np.abs(t_ms) < LATEST_MS
