"""Saccades of the online detector: the fast trigger, and the run of velocities that confirms it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gazelive.detection.online.noise_kernels import learn_noise
from gazelive.detection.online.online_state import N_RECENT, ONSET, RING_MASK, SACCADE
from gazelive.detection.online.row_kernels import (
    close_fixation,
    emit,
    is_oscillation,
    length_of,
    open_fixation,
    thresholds,
)
from gazelive.system import kernel


@kernel
def watch_displacement(p: Any, s: Any, rows: np.ndarray) -> None:
    """Trigger when the newest samples leave the place where gaze was just before.

    A displacement needs no later samples and is therefore faster than a velocity.
    """
    if s.trigger_pending == 1 and s.newest - s.last_trigger > p.trigger_patience:
        s.trigger_pending = 0
        s.last_false_alarm = s.newest
    base_x, base_y, ratio, speed, support = _displacement(p, s)
    if s.armed == 0:
        rested = s.newest - s.last_trigger > p.trigger_rearm
        if rested and ratio < 1.0 and s.in_saccade == 0:
            s.armed = 1
        return
    if (
        ratio > 1.0
        and s.guarded == 0
        and p.trigger_support < support < 1.0 - p.trigger_support
        and s.newest - s.last_false_alarm > p.trigger_caution
        and not is_oscillation(p, s, s.newest, speed)
    ):
        fire_trigger(s, rows, s.newest - p.half_width, base_x, base_y, ratio)


@kernel
def _displacement(p: Any, s: Any) -> tuple[float, float, float, float, float]:
    """Return where gaze was just before, and the newest displacement from there.

    That is the displacement over its threshold, its speed in °/s, and its support: how much of it
    the sample before shows already.
    """
    last = s.newest & RING_MASK
    between = (s.newest - p.trigger_newest) & RING_MASK
    end = (s.newest - p.trigger_newest - p.trigger_gap) & RING_MASK
    start = (s.newest - p.trigger_newest - p.trigger_gap - p.trigger_baseline) & RING_MASK
    base_x = (s.sum_x_deg[end] - s.sum_x_deg[start]) / p.trigger_baseline
    base_y = (s.sum_y_deg[end] - s.sum_y_deg[start]) / p.trigger_baseline
    dx = (s.sum_x_deg[last] - s.sum_x_deg[between]) / p.trigger_newest - base_x
    dy = (s.sum_y_deg[last] - s.sum_y_deg[between]) / p.trigger_newest - base_y
    distance = length_of(dx, dy)
    if distance == 0.0:
        return base_x, base_y, 0.0, 0.0, 0.0
    apart = p.trigger_gap + 0.5 * (p.trigger_newest + p.trigger_baseline)
    along = (s.x_deg[between] - base_x) * dx + (s.y_deg[between] - base_y) * dy
    speed = distance * p.sampling_rate_hz / apart
    return base_x, base_y, displacement_ratio(p, s, dx, dy), speed, along / (distance * distance)


@kernel
def displacement_ratio(p: Any, s: Any, dx: float, dy: float) -> float:
    """Return a displacement over the threshold that the noise of single samples gives."""
    threshold_x, threshold_y = thresholds(p, s)
    return float(length_of(dx / threshold_x, dy / threshold_y) / p.trigger_scale_s)


@kernel
def fire_trigger(
    s: Any, rows: np.ndarray, onset: int, from_x: float, from_y: float, ratio: float
) -> None:
    """Emit the trigger of a movement from a place, and disarm it."""
    s.armed = 0
    s.n_movements += 1
    s.movement = s.n_movements
    s.movement_onset_us = s.time_us[onset & RING_MASK]
    s.movement_x_deg = from_x
    s.movement_y_deg = from_y
    s.trigger_pending = 1
    s.last_trigger = s.newest
    row = emit(s, rows, ONSET, onset, s.newest, s.movement_onset_us, s.arrived_us)
    rows[row].strength = ratio


@kernel
def take_velocity(p: Any, s: Any, rows: np.ndarray, centre: int) -> None:
    """Compute the velocity at `centre` and pass it on."""
    total_x = 0.0
    total_y = 0.0
    for k in range(1, p.half_width + 1):
        after = (centre + k) & RING_MASK
        before = (centre - k) & RING_MASK
        total_x += s.x_deg[after] - s.x_deg[before]
        total_y += s.y_deg[after] - s.y_deg[before]
    vx = total_x * p.velocity_scale_hz
    vy = total_y * p.velocity_scale_hz
    s.vx_deg_s[centre & RING_MASK] = vx
    s.vy_deg_s[centre & RING_MASK] = vy

    threshold_x, threshold_y = thresholds(p, s)
    ratio = length_of(vx / threshold_x, vy / threshold_y)
    speed = length_of(vx, vy)
    if ratio < 1.0:
        s.n_calm_in_all += 1
    if s.in_saccade == 0:
        _watch(p, s, rows, centre, vx, vy, speed, ratio, threshold_x, threshold_y)
    else:
        _follow(p, s, rows, centre, vx, vy, speed, ratio)
    if p.settled == 0 and s.in_saccade == 0:
        learn_noise(p, s, vx, vy)


@kernel
def _watch(
    p: Any,
    s: Any,
    rows: np.ndarray,
    centre: int,
    vx: float,
    vy: float,
    speed: float,
    ratio: float,
    threshold_x: float,
    threshold_y: float,
) -> None:
    """Look for a run above the threshold that is long enough for a saccade."""
    if s.guarded == 1:
        s.quiet_run = s.quiet_run + 1 if ratio < 1.0 else 0
        if s.newest - s.last_lost > p.loss_guard or s.quiet_run >= p.loss_quiet:
            s.guarded = 0
    above = ratio > 1.0 and s.guarded == 0
    if above and _is_overshoot(p, s, centre, vx, vy):
        above = False
        s.overshoot_since = centre
    if above and is_oscillation(p, s, centre, speed):
        above = False
        if centre - s.previous_offset < p.oscillation_longest:
            s.oscillation_since = centre
    if not above:
        s.run_length = 0
        return
    if s.run_length == 0 or vx * s.run_vx_deg_s + vy * s.run_vy_deg_s < 0.0:
        # a saccade does not turn back: this is noise, or the next movement
        s.run_length = 0
        s.run_start = centre
        s.run_vx_deg_s = 0.0
        s.run_vy_deg_s = 0.0
    s.run_length += 1
    s.run_vx_deg_s += vx
    s.run_vy_deg_s += vy
    if s.run_length >= p.confirm:
        if p.settled == 0 and s.armed == 1:  # the trigger was too cautious
            start = s.run_start & RING_MASK
            fire_trigger(s, rows, s.run_start, s.x_deg[start], s.y_deg[start], ratio)
        s.in_saccade = 1
        s.trigger_pending = 0
        s.below = 0
        s.main_end = -1
        s.peak_deg_s = 0.0
        s.peak_ratio = 0.0
        for i in range(s.run_start, centre + 1):
            vx_i = s.vx_deg_s[i & RING_MASK]
            vy_i = s.vy_deg_s[i & RING_MASK]
            s.peak_ratio = max(s.peak_ratio, length_of(vx_i / threshold_x, vy_i / threshold_y))
            speed_i = length_of(vx_i, vy_i)
            if speed_i > s.peak_deg_s:
                _set_peak(s, i, vx_i, vy_i, speed_i)


@kernel
def _is_overshoot(p: Any, s: Any, centre: int, vx: float, vy: float) -> bool:
    """Return whether gaze moves back right after a saccade, however fast."""
    return bool(
        centre - s.overshoot_since <= p.overshoot
        and vx * s.previous_direction_x + vy * s.previous_direction_y < 0.0
        and centre - s.previous_offset < p.oscillation_longest
    )


@kernel
def _set_peak(s: Any, index: int, vx: float, vy: float, speed: float) -> None:
    s.peak_index = index
    s.peak_deg_s = speed
    s.direction_x = vx / speed
    s.direction_y = vy / speed


@kernel
def _follow(
    p: Any,
    s: Any,
    rows: np.ndarray,
    centre: int,
    vx: float,
    vy: float,
    speed: float,
    ratio: float,
) -> None:
    """Follow a confirmed saccade to its end."""
    along = vx * s.direction_x + vy * s.direction_y
    s.peak_ratio = max(s.peak_ratio, ratio)
    if speed > s.peak_deg_s and along > 0.0:
        _set_peak(s, centre, vx, vy, speed)
        along = speed
        s.main_end = -1
    # a reversal is the end however fast it is: it is the oscillation after the saccade
    ended = along <= s.peak_deg_s * p.offset_peak_fraction or (
        ratio * along < p.offset_ratio * speed
    )
    s.below = s.below + 1 if ended else 0
    if s.main_end < 0 and s.below >= p.offset_hold:
        s.main_end = centre - s.below + 1
    if s.main_end >= 0 and (p.oscillation_inside == 0 or ratio <= 1.0):
        end_saccade(p, s, rows, max(s.main_end, centre - 1) if p.oscillation_inside else s.main_end)
    elif s.main_end >= 0 and centre - s.main_end >= p.oscillation_longest:
        end_saccade(p, s, rows, s.main_end)  # too long for an oscillation: gaze follows something
    elif centre - s.run_start > p.longest_saccade:
        s.in_saccade = 0
        s.run_length = 0


@kernel
def end_saccade(p: Any, s: Any, rows: np.ndarray, offset: int) -> None:
    """Find the onset, and accept the saccade if it is long and strong enough."""
    threshold_x, threshold_y = thresholds(p, s)
    first_velocity = s.newest - s.valid_run + 1 + p.half_width
    earliest = max(s.previous_offset + 1, s.run_start - p.onset_reach, first_velocity)
    onset = s.peak_index
    along = s.peak_deg_s
    while onset - 1 >= earliest:
        vx = s.vx_deg_s[(onset - 1) & RING_MASK]
        vy = s.vy_deg_s[(onset - 1) & RING_MASK]
        along_before = vx * s.direction_x + vy * s.direction_y
        if (
            along_before <= p.onset_peak_fraction * s.peak_deg_s
            or along < along_before < p.onset_valley_fraction * s.peak_deg_s
            or length_of(vx / threshold_x, vy / threshold_y) < p.onset_ratio
        ):
            break
        along = along_before
        onset -= 1

    s.in_saccade = 0
    s.run_length = 0
    if offset - onset + 1 < p.shortest_saccade:
        return
    if p.settled == 0 and not _stands_out(p, s, onset, offset):
        return
    s.previous_offset = offset
    s.previous_peak_deg_s = s.peak_deg_s
    s.previous_direction_x = s.direction_x
    s.previous_direction_y = s.direction_y
    s.oscillation_since = offset
    s.overshoot_since = offset
    if s.peak_ratio < p.peak_ratio:
        return

    before = onset - 1
    if before >= 0:
        close_fixation(p, s, rows, before, s.n_calm[before & RING_MASK])
    start, end = onset & RING_MASK, offset & RING_MASK
    row = emit(s, rows, SACCADE, onset, offset, s.time_us[start], s.time_us[end])
    arrival = (s.main_end if s.main_end >= 0 else offset) & RING_MASK
    rows[row].start_x_deg = s.x_deg[start]
    rows[row].start_y_deg = s.y_deg[start]
    rows[row].end_x_deg = s.x_deg[arrival]
    rows[row].end_y_deg = s.y_deg[arrival]
    rows[row].arrival_us = s.time_us[arrival]
    rows[row].peak_deg_s = s.peak_deg_s
    rows[row].strength = s.peak_ratio
    rows[row].near_loss = onset - s.last_unseen <= p.near_loss
    _remember(s, onset, offset, s.time_us[start])
    if offset < s.newest:
        open_fixation(
            s,
            offset + 1,
            s.time_us[(offset + 1) & RING_MASK],
            s.sum_x_deg[end],
            s.sum_y_deg[end],
            s.n_valid[end],
            s.n_calm[end] if offset <= s.newest - p.half_width else s.n_calm_in_all,
        )
    else:
        s.in_fixation = 0


@kernel
def _stands_out(p: Any, s: Any, onset: int, offset: int) -> bool:
    """Return whether the movement before a saccade, going on, would not explain most of it.

    The review knows both sides; live, only the one before is known.
    """
    stop = onset - p.review_gap
    start = stop - p.review_window
    if start <= s.newest - s.valid_run:
        return True  # not seen for long enough
    middle = 0.5 * (start + stop - 1)
    tt = tx = ty = 0.0
    for i in range(start, stop):
        t = i - middle
        tt += t * t
        tx += t * s.x_deg[i & RING_MASK]
        ty += t * s.y_deg[i & RING_MASK]
    dx = s.x_deg[offset & RING_MASK] - s.x_deg[onset & RING_MASK]
    dy = s.y_deg[offset & RING_MASK] - s.y_deg[onset & RING_MASK]
    explained = (tx * dx + ty * dy) / tt * (offset - onset + 1)
    return bool(explained <= (1.0 - p.review_own_fraction) * (dx * dx + dy * dy))


@kernel
def _remember(s: Any, onset: int, offset: int, onset_us: int) -> None:
    """Keep a saccade for as long as a loss can retract it."""
    if s.n_recent == N_RECENT:
        for k in range(N_RECENT - 1):
            s.recent_onset[k] = s.recent_onset[k + 1]
            s.recent_offset[k] = s.recent_offset[k + 1]
            s.recent_onset_us[k] = s.recent_onset_us[k + 1]
        s.n_recent -= 1
    s.recent_onset[s.n_recent] = onset
    s.recent_offset[s.n_recent] = offset
    s.recent_onset_us[s.n_recent] = onset_us
    s.n_recent += 1
