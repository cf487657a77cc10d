"""Kernels of the online detector: what each new sample changes.

The algorithm and its reasons are in docs/detection.md. `p` is a `SETTINGS` record, `s` a `STATE`
record; `newest` is the sample that has just come, `centre` the one whose velocity is known now,
half a velocity window earlier. This file takes in samples; saccades and their trigger, fixations
and noise have files of their own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gazelive.detection.online.online_state import (
    DUPLICATE,
    LOSS,
    MAX_ROWS_PER_SAMPLE,
    RETRACTION,
    RING_MASK,
    TIME_GAP,
    TIME_ORDER,
)
from gazelive.detection.online.row_kernels import (
    close_fixation,
    emit,
    length_of,
    open_fixation,
    thresholds,
)
from gazelive.detection.online.saccade_kernels import end_saccade, take_velocity, watch_displacement
from gazelive.system import kernel


@kernel
def push_samples(
    settings: np.ndarray,
    state: np.ndarray,
    rows: np.ndarray,
    times_us: np.ndarray,
    x_deg: np.ndarray,
    y_deg: np.ndarray,
) -> int:
    """Take samples until they or the `rows` are used up; return how many rows were filled.

    Afterwards `state[0].n_taken` says how many samples were taken: all, where no row was filled.
    −1 means that the arrays differ in length.
    """
    if len(times_us) != len(x_deg) or len(times_us) != len(y_deg):
        return -1
    p = settings[0]
    s = state[0]
    s.n_rows = 0
    for i in range(len(times_us)):
        if s.n_rows > len(rows) - MAX_ROWS_PER_SAMPLE:
            s.n_taken = i
            return int(s.n_rows)
        take_sample(p, s, rows, times_us[i], x_deg[i], y_deg[i])
    s.n_taken = len(times_us)
    return int(s.n_rows)


@kernel
def finish(settings: np.ndarray, state: np.ndarray, rows: np.ndarray) -> int:
    """End the stretch: open events end with the newest sample; return the rows filled."""
    p = settings[0]
    s = state[0]
    s.n_rows = 0
    _give_up_dropped(p, s, rows)
    if s.newest < 0:
        return 0
    if s.in_saccade == 1:
        end_saccade(p, s, rows, s.newest)
    if s.in_loss == 1:
        close_fixation(p, s, rows, s.before_loss, s.n_calm_in_all)
        emit(s, rows, LOSS, s.loss_start, s.last_lost, s.loss_start_us, s.last_lost_us)
    else:
        close_fixation(p, s, rows, s.newest, s.n_calm_in_all)
    return int(s.n_rows)


@kernel
def take_sample(p: Any, s: Any, rows: np.ndarray, time_us: int, x: float, y: float) -> None:
    """Take a sample: seen, lost but possibly bridged later, or lost."""
    if s.newest >= 0 and not _in_order(p, s, rows, time_us):
        return
    s.arrived_us = time_us
    if math.isfinite(x) and math.isfinite(y):
        if s.n_dropped > 0:
            _bridge(p, s, rows, x, y)
        _add_seen(p, s, rows, time_us, x, y)
    else:
        _take_lost(p, s, rows, time_us)


@kernel
def _take_lost(p: Any, s: Any, rows: np.ndarray, time_us: int) -> None:
    """Take a lost sample: it waits to be bridged, or is lost for good."""
    if s.n_dropped < p.dropout and (
        s.n_dropped > 0 or (s.valid_run > 0 and s.newest - s.last_unseen >= p.dropout_after)
    ):
        s.dropped_us[s.n_dropped] = time_us
        s.n_dropped += 1
    else:
        _give_up_dropped(p, s, rows)
        _add_lost(p, s, rows, time_us)


@kernel
def _bridge(p: Any, s: Any, rows: np.ndarray, x: float, y: float) -> None:
    """Put samples on a line to (x, y) in the place of those that dropped out."""
    n = s.n_dropped
    s.n_dropped = 0
    s.last_unseen = s.newest + n
    emit(s, rows, LOSS, s.newest + 1, s.newest + n, s.dropped_us[0], s.dropped_us[n - 1])
    from_x = s.x_deg[s.newest & RING_MASK]
    from_y = s.y_deg[s.newest & RING_MASK]
    for k in range(n):
        share = (k + 1) / (n + 1)
        x_k = from_x + share * (x - from_x)
        y_k = from_y + share * (y - from_y)
        _add_seen(p, s, rows, s.dropped_us[k], x_k, y_k)


@kernel
def _give_up_dropped(p: Any, s: Any, rows: np.ndarray) -> None:
    """Count as lost what waited to be bridged."""
    n = s.n_dropped
    s.n_dropped = 0
    for k in range(n):
        _add_lost(p, s, rows, s.dropped_us[k])


@kernel
def _add_lost(p: Any, s: Any, rows: np.ndarray, time_us: int) -> None:
    _lose(p, s, rows, s.newest + 1, s.newest + 1, time_us, time_us)
    _move_on(s, 1, time_us)


@kernel
def _move_on(s: Any, n: int, last_us: int) -> None:
    """Make room for `n` more samples; the sums stay what they are."""
    before = s.newest & RING_MASK
    nothing_before = s.newest < 0
    s.newest += n
    slot = s.newest & RING_MASK
    s.time_us[slot] = last_us
    s.sum_x_deg[slot] = 0.0 if nothing_before else s.sum_x_deg[before]
    s.sum_y_deg[slot] = 0.0 if nothing_before else s.sum_y_deg[before]
    s.n_valid[slot] = 0 if nothing_before else s.n_valid[before]


@kernel
def _add_seen(p: Any, s: Any, rows: np.ndarray, time_us: int, x: float, y: float) -> None:
    """Take a sample with a position, and look at what it changes."""
    _move_on(s, 1, time_us)
    slot = s.newest & RING_MASK
    if s.in_loss == 1:
        s.in_loss = 0
        emit(s, rows, LOSS, s.loss_start, s.last_lost, s.loss_start_us, s.last_lost_us)
    if s.in_fixation == 0:
        open_fixation(
            s,
            s.newest,
            time_us,
            s.sum_x_deg[slot],
            s.sum_y_deg[slot],
            s.n_valid[slot],
            s.n_calm_in_all,
        )
    s.x_deg[slot] = x
    s.y_deg[slot] = y
    s.sum_x_deg[slot] += x
    s.sum_y_deg[slot] += y
    s.n_valid[slot] += 1
    s.valid_run += 1
    if s.valid_run > 2:
        _mend_spike(p, s)
    if p.settled == 0 and s.valid_run > p.trigger_newest + p.trigger_gap + p.trigger_baseline:
        watch_displacement(p, s, rows)
    if s.valid_run > 2 * p.half_width:
        take_velocity(p, s, rows, s.newest - p.half_width)
    if s.newest >= p.half_width:
        s.n_calm[(s.newest - p.half_width) & RING_MASK] = s.n_calm_in_all


@kernel
def _mend_spike(p: Any, s: Any) -> None:
    """Put the sample before the newest between its neighbours, if it alone is far from them.

    Only the newest velocity contains it so far and is corrected, which is faster than waiting for
    the sample after each sample.
    """
    after = s.newest & RING_MASK
    spike = (s.newest - 1) & RING_MASK
    before = (s.newest - 2) & RING_MASK
    middle_x = 0.5 * (s.x_deg[before] + s.x_deg[after])
    middle_y = 0.5 * (s.y_deg[before] + s.y_deg[after])
    off_x = s.x_deg[spike] - middle_x
    off_y = s.y_deg[spike] - middle_y
    threshold_x, threshold_y = thresholds(p, s)
    if length_of(off_x / threshold_x, off_y / threshold_y) <= p.spike_scale_s:
        return
    apart = length_of(s.x_deg[after] - s.x_deg[before], s.y_deg[after] - s.y_deg[before])
    if apart >= p.spike_return_fraction * length_of(off_x, off_y):
        return
    s.x_deg[spike] = middle_x
    s.y_deg[spike] = middle_y
    for slot in (spike, after):
        s.sum_x_deg[slot] -= off_x
        s.sum_y_deg[slot] -= off_y
    if s.valid_run > 2 * p.half_width + 1:
        centre = (s.newest - 1 - p.half_width) & RING_MASK
        s.vx_deg_s[centre] -= off_x * p.velocity_scale_hz
        s.vy_deg_s[centre] -= off_y * p.velocity_scale_hz


@kernel
def _in_order(p: Any, s: Any, rows: np.ndarray, time_us: int) -> bool:
    """Return whether the sample is later than the newest; fill the gap before it."""
    step_us = time_us - s.arrived_us
    if step_us <= 0:
        kind = DUPLICATE if step_us == 0 else TIME_ORDER
        emit(s, rows, kind, s.newest, s.newest, s.arrived_us, time_us)
        return False
    missing = math.ceil(step_us / p.interval_us - p.gap_intervals)
    if missing > 0:
        emit(s, rows, TIME_GAP, s.newest, s.newest + missing, s.arrived_us, time_us)
        _fill_gap(p, s, rows, time_us, missing)
    return True


@kernel
def _fill_gap(p: Any, s: Any, rows: np.ndarray, time_us: int, missing: int) -> None:
    """Take the `missing` samples before `time_us` as lost ones: a short gap is bridged too.

    They come at the nominal interval, as `analysis.grid.fill_gaps` has them.
    """
    before_us = s.arrived_us
    s.arrived_us = time_us  # they become known with this sample
    n_filled = min(missing, p.longest_filled)
    for k in range(1, n_filled + 1):
        _take_lost(p, s, rows, before_us + round(k * p.interval_us))
    if missing > n_filled:
        rest = missing - n_filled
        last_us = time_us - round(p.interval_us)
        _lose(p, s, rows, s.newest + 1, s.newest + rest, last_us, last_us)
        _move_on(s, rest, last_us)


@kernel
def _lose(
    p: Any, s: Any, rows: np.ndarray, first: int, last: int, first_us: int, last_us: int
) -> None:
    """Note that the samples `first` … `last` are lost."""
    if s.in_loss == 0:
        s.in_loss = 1
        s.loss_start = first
        s.loss_start_us = first_us
        s.before_loss = first - 1
        s.in_saccade = 0
        s.run_length = 0
        s.trigger_pending = 0
        s.movement = 0
        for k in range(s.n_recent):
            if first - s.recent_offset[k] <= p.loss_retracts:
                onset = s.recent_onset[k]
                onset_us = s.recent_onset_us[k]
                emit(s, rows, RETRACTION, onset, s.recent_offset[k], onset_us, first_us)
        s.n_recent = 0
    s.last_lost = last
    s.last_lost_us = last_us
    s.last_unseen = last
    s.valid_run = 0
    s.guarded = 1
    s.quiet_run = 0
    if last - s.loss_start + 1 >= p.fixation_gap:
        close_fixation(p, s, rows, s.before_loss, s.n_calm_in_all)
