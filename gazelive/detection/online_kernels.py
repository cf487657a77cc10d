"""The online detector, sample by sample: what happens when one more sample arrives.

The algorithm and its reasons are in docs/detection.md. `p` is a `SETTINGS` record, `s` a `STATE`
record; `newest` is the sample that has just come, `centre` the one whose velocity is known now,
half a velocity window earlier.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gazelive.compilation import kernel
from gazelive.detection.noise_kernels import LARGEST_WEIGHT, bin_of, spread_of
from gazelive.detection.online_state import (
    DUPLICATE,
    FIXATION,
    LOSS,
    MAX_ROWS_PER_SAMPLE,
    N_RECENT,
    ONSET,
    RETRACTION,
    RING_MASK,
    SACCADE,
    SMALLEST_NOISE_DEG_S,
    TIME_GAP,
    TIME_ORDER,
)


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
        _take_sample(p, s, rows, times_us[i], x_deg[i], y_deg[i])
    s.n_taken = len(times_us)
    return int(s.n_rows)


@kernel
def finish(settings: np.ndarray, state: np.ndarray, rows: np.ndarray) -> int:
    """End the stretch of samples: what is open ends with the newest; return the rows filled."""
    p = settings[0]
    s = state[0]
    s.n_rows = 0
    _give_up_dropped(p, s, rows)
    if s.newest < 0:
        return 0
    if s.in_saccade == 1:
        _end_saccade(p, s, rows, s.newest)
    if s.in_loss == 1:
        _close_fixation(p, s, rows, s.before_loss, s.n_calm_in_all)
        _emit(s, rows, LOSS, s.loss_start, s.last_lost, s.loss_start_us, s.last_lost_us)
    else:
        _close_fixation(p, s, rows, s.newest, s.n_calm_in_all)
    return int(s.n_rows)


@kernel
def _take_sample(p: Any, s: Any, rows: np.ndarray, time_us: int, x: float, y: float) -> None:
    """Take what has come: a sample that is seen, one that may be bridged, or one that is lost."""
    if s.newest >= 0 and not _in_order(p, s, rows, time_us):
        return
    s.arrived_us = time_us
    if math.isfinite(x) and math.isfinite(y):
        if s.n_dropped > 0:
            _bridge(p, s, rows, x, y)
        _add_seen(p, s, rows, time_us, x, y)
    elif s.n_dropped < p.dropout and (
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
    _emit(s, rows, LOSS, s.newest + 1, s.newest + n, s.dropped_us[0], s.dropped_us[n - 1])
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
        _emit(s, rows, LOSS, s.loss_start, s.last_lost, s.loss_start_us, s.last_lost_us)
    if s.in_fixation == 0:
        _open_fixation(
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
        _watch_displacement(p, s, rows)
    if s.valid_run > 2 * p.half_width:
        _take_velocity(p, s, rows, s.newest - p.half_width)
    if s.newest >= p.half_width:
        s.n_calm[(s.newest - p.half_width) & RING_MASK] = s.n_calm_in_all


@kernel
def _mend_spike(p: Any, s: Any) -> None:
    """Put the sample before the newest between its neighbours, if it alone is far from them.

    Only the newest velocity has seen it so far, and is corrected, so nobody has to wait for the
    sample after each sample.
    """
    after = s.newest & RING_MASK
    spike = (s.newest - 1) & RING_MASK
    before = (s.newest - 2) & RING_MASK
    middle_x = 0.5 * (s.x_deg[before] + s.x_deg[after])
    middle_y = 0.5 * (s.y_deg[before] + s.y_deg[after])
    off_x = s.x_deg[spike] - middle_x
    off_y = s.y_deg[spike] - middle_y
    threshold_x, threshold_y = _thresholds(p, s)
    if _length(off_x / threshold_x, off_y / threshold_y) <= p.spike_scale_s:
        return
    apart = _length(s.x_deg[after] - s.x_deg[before], s.y_deg[after] - s.y_deg[before])
    if apart >= p.spike_return_fraction * _length(off_x, off_y):
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
    """Say whether the sample is later than the newest; make a loss of the gap before it."""
    step_us = time_us - s.arrived_us
    if step_us <= 0:
        kind = DUPLICATE if step_us == 0 else TIME_ORDER
        _emit(s, rows, kind, s.newest, s.newest, s.arrived_us, time_us)
        return False
    missing = math.floor(step_us / p.interval_us - 0.5)
    if missing > 0:
        _emit(s, rows, TIME_GAP, s.newest, s.newest + missing, s.arrived_us, time_us)
        _give_up_dropped(p, s, rows)
        first_us = s.arrived_us + int(p.interval_us)
        last_us = max(first_us, time_us - int(p.interval_us))
        _lose(p, s, rows, s.newest + 1, s.newest + missing, first_us, last_us)
        _move_on(s, missing, last_us)
    return True


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
        for k in range(s.n_recent):
            if first - s.recent_offset[k] <= p.loss_retracts:
                onset = s.recent_onset[k]
                onset_us = s.recent_onset_us[k]
                _emit(s, rows, RETRACTION, onset, s.recent_offset[k], onset_us, first_us)
        s.n_recent = 0
    s.last_lost = last
    s.last_lost_us = last_us
    s.last_unseen = last
    s.valid_run = 0
    s.guarded = 1
    s.quiet_run = 0
    if last - s.loss_start + 1 >= p.fixation_gap:
        _close_fixation(p, s, rows, s.before_loss, s.n_calm_in_all)


@kernel
def _take_velocity(p: Any, s: Any, rows: np.ndarray, centre: int) -> None:
    """Compute the velocity at `centre` and let the detector see it."""
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

    threshold_x, threshold_y = _thresholds(p, s)
    ratio = _length(vx / threshold_x, vy / threshold_y)
    speed = _length(vx, vy)
    if ratio < 1.0:
        s.n_calm_in_all += 1
    if s.in_saccade == 0:
        _watch(p, s, rows, centre, vx, vy, speed, ratio, threshold_x, threshold_y)
    else:
        _follow(p, s, rows, centre, vx, vy, speed, ratio)
    if p.settled == 0 and s.in_saccade == 0:
        _learn_noise(p, s, vx, vy)


@kernel
def _watch_displacement(p: Any, s: Any, rows: np.ndarray) -> None:
    """Trigger when the newest samples leave the place where gaze was just before.

    A displacement needs no samples after the one it tells of, so it is faster than a velocity.
    """
    if s.trigger_pending == 1 and s.newest - s.last_trigger > p.trigger_patience:
        s.trigger_pending = 0
        s.last_false_alarm = s.newest
    ratio, speed, support = _displacement(p, s)
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
        and not _is_oscillation(p, s, s.newest, speed)
    ):
        _pull_trigger(s, rows, s.newest - p.half_width, ratio)


@kernel
def _displacement(p: Any, s: Any) -> tuple[float, float, float]:
    """Return the newest displacement over its threshold, its speed in °/s, and its support.

    Support is how much of it the sample before shows already.
    """
    last = s.newest & RING_MASK
    between = (s.newest - p.trigger_newest) & RING_MASK
    end = (s.newest - p.trigger_newest - p.trigger_gap) & RING_MASK
    start = (s.newest - p.trigger_newest - p.trigger_gap - p.trigger_baseline) & RING_MASK
    base_x = (s.sum_x_deg[end] - s.sum_x_deg[start]) / p.trigger_baseline
    base_y = (s.sum_y_deg[end] - s.sum_y_deg[start]) / p.trigger_baseline
    dx = (s.sum_x_deg[last] - s.sum_x_deg[between]) / p.trigger_newest - base_x
    dy = (s.sum_y_deg[last] - s.sum_y_deg[between]) / p.trigger_newest - base_y
    threshold_x, threshold_y = _thresholds(p, s)
    ratio = _length(dx / threshold_x, dy / threshold_y) / p.trigger_scale_s
    distance = _length(dx, dy)
    if distance == 0.0:
        return 0.0, 0.0, 0.0
    apart = p.trigger_gap + 0.5 * (p.trigger_newest + p.trigger_baseline)
    along = (s.x_deg[between] - base_x) * dx + (s.y_deg[between] - base_y) * dy
    return ratio, distance * p.sampling_rate_hz / apart, along / (distance * distance)


@kernel
def _pull_trigger(s: Any, rows: np.ndarray, onset: int, ratio: float) -> None:
    s.armed = 0
    s.trigger_pending = 1
    s.last_trigger = s.newest
    onset_us = s.time_us[onset & RING_MASK]
    row = _emit(s, rows, ONSET, onset, s.newest, onset_us, s.arrived_us)
    rows[row].strength = ratio


@kernel
def _is_oscillation(p: Any, s: Any, index: int, speed: float) -> bool:
    """Say whether a movement is too slow, so soon after a saccade, to be another one."""
    return bool(
        index - s.oscillation_since <= p.oscillation
        and speed < p.oscillation_peak_fraction * s.previous_peak_deg_s
    )


@kernel
def _thresholds(p: Any, s: Any) -> tuple[float, float]:
    """Return the velocity thresholds of x and y in °/s."""
    return (
        max(p.threshold_noise * s.noise_x_deg_s, p.threshold_floor_deg_s),
        max(p.threshold_noise * s.noise_y_deg_s, p.threshold_floor_deg_s),
    )


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
    """Look for a run above the threshold that is long enough to be a saccade."""
    if s.guarded == 1:
        s.quiet_run = s.quiet_run + 1 if ratio < 1.0 else 0
        if s.newest - s.last_lost > p.loss_guard or s.quiet_run >= p.loss_quiet:
            s.guarded = 0
    above = ratio > 1.0 and s.guarded == 0
    if above and _is_oscillation(p, s, centre, speed):
        above = False
        if centre - s.previous_offset < p.oscillation_longest:
            s.oscillation_since = centre
    if not above:
        s.run_length = 0
        return
    if s.run_length == 0 or vx * s.run_vx_deg_s + vy * s.run_vy_deg_s < 0.0:
        # a saccade does not turn back: what does is noise, or the next movement
        s.run_length = 0
        s.run_start = centre
        s.run_vx_deg_s = 0.0
        s.run_vy_deg_s = 0.0
    s.run_length += 1
    s.run_vx_deg_s += vx
    s.run_vy_deg_s += vy
    if s.run_length >= p.confirm:
        if p.settled == 0 and s.armed == 1:  # the trigger was too cautious
            _pull_trigger(s, rows, s.run_start, ratio)
        s.in_saccade = 1
        s.trigger_pending = 0
        s.below = 0
        s.peak_deg_s = 0.0
        s.peak_ratio = 0.0
        for i in range(s.run_start, centre + 1):
            vx_i = s.vx_deg_s[i & RING_MASK]
            vy_i = s.vy_deg_s[i & RING_MASK]
            s.peak_ratio = max(s.peak_ratio, _length(vx_i / threshold_x, vy_i / threshold_y))
            speed_i = _length(vx_i, vy_i)
            if speed_i > s.peak_deg_s:
                _set_peak(s, i, vx_i, vy_i, speed_i)


@kernel
def _length(x: float, y: float) -> float:
    # hypot guards against overflow, which velocities do not need, and is far slower
    return math.sqrt(x * x + y * y)


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
    # a reversal is the end however fast it is: it is the oscillation after the saccade
    ended = along <= s.peak_deg_s * p.offset_peak_fraction or (
        ratio * along < p.offset_ratio * speed
    )
    s.below = s.below + 1 if ended else 0
    if s.below >= p.offset_hold:
        _end_saccade(p, s, rows, centre - s.below + 1)
    elif centre - s.run_start > p.longest_saccade:
        s.in_saccade = 0
        s.run_length = 0


@kernel
def _end_saccade(p: Any, s: Any, rows: np.ndarray, offset: int) -> None:
    """Find the onset, and accept the saccade if it is long and strong enough."""
    threshold_x, threshold_y = _thresholds(p, s)
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
            or _length(vx / threshold_x, vy / threshold_y) < p.onset_ratio
        ):
            break
        along = along_before
        onset -= 1

    s.in_saccade = 0
    s.run_length = 0
    if offset - onset + 1 < p.shortest_saccade:
        return
    s.previous_offset = offset
    s.previous_peak_deg_s = s.peak_deg_s
    s.oscillation_since = offset
    if s.peak_ratio < p.peak_ratio:
        return

    before = onset - 1
    if before >= 0:
        _close_fixation(p, s, rows, before, s.n_calm[before & RING_MASK])
    start, end = onset & RING_MASK, offset & RING_MASK
    row = _emit(s, rows, SACCADE, onset, offset, s.time_us[start], s.time_us[end])
    rows[row].start_x_deg = s.x_deg[start]
    rows[row].start_y_deg = s.y_deg[start]
    rows[row].end_x_deg = s.x_deg[end]
    rows[row].end_y_deg = s.y_deg[end]
    rows[row].peak_deg_s = s.peak_deg_s
    rows[row].strength = s.peak_ratio
    rows[row].near_loss = onset - s.last_unseen <= p.near_loss
    _remember(s, onset, offset, s.time_us[start])
    if offset < s.newest:
        _open_fixation(
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
def _remember(s: Any, onset: int, offset: int, onset_us: int) -> None:
    """Keep a saccade for as long as a loss could disprove it."""
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


@kernel
def _open_fixation(
    s: Any, start: int, start_us: int, sum_x: float, sum_y: float, n_valid: int, n_calm: int
) -> None:
    """Begin a fixation; the sums are those up to the sample before it."""
    s.in_fixation = 1
    s.fixation_start = start
    s.fixation_start_us = start_us
    s.fixation_sum_x_deg = sum_x
    s.fixation_sum_y_deg = sum_y
    s.fixation_n_valid = n_valid
    s.fixation_n_calm = n_calm


@kernel
def _close_fixation(p: Any, s: Any, rows: np.ndarray, end: int, n_calm: int) -> None:
    """End the open fixation, if there is one, with sample `end`."""
    if s.in_fixation == 0:
        return
    s.in_fixation = 0
    length = end - s.fixation_start + 1
    slot = end & RING_MASK
    n_valid = s.n_valid[slot] - s.fixation_n_valid
    if length < p.shortest_fixation or n_valid <= 0:
        return
    row = _emit(s, rows, FIXATION, s.fixation_start, end, s.fixation_start_us, s.time_us[slot])
    rows[row].start_x_deg = (s.sum_x_deg[slot] - s.fixation_sum_x_deg) / n_valid
    rows[row].start_y_deg = (s.sum_y_deg[slot] - s.fixation_sum_y_deg) / n_valid
    rows[row].strength = min(1.0, max(0.0, (n_calm - s.fixation_n_calm) / length))


@kernel
def _learn_noise(p: Any, s: Any, vx: float, vy: float) -> None:
    """Add a velocity to the histograms; read σ from them now and then."""
    s.histogram_x[bin_of(vx)] += s.sample_weight
    s.histogram_y[bin_of(vy)] += s.sample_weight
    s.histogram_weight += s.sample_weight
    # to let new samples grow is to let old ones fade, without touching every bin
    s.sample_weight /= p.forgetting
    if s.sample_weight > LARGEST_WEIGHT:
        for k in range(len(s.histogram_x)):
            s.histogram_x[k] /= s.sample_weight
            s.histogram_y[k] /= s.sample_weight
        s.histogram_weight /= s.sample_weight
        s.sample_weight = 1.0
    s.since_refresh += 1
    if s.since_refresh >= p.noise_refresh:
        s.since_refresh = 0
        seen = s.histogram_weight / s.sample_weight
        trust = seen / (seen + p.noise_prior_samples)
        s.noise_x_deg_s = _blend(
            spread_of(s.histogram_x, s.histogram_weight), p.noise_prior_deg_s, trust
        )
        s.noise_y_deg_s = _blend(
            spread_of(s.histogram_y, s.histogram_weight), p.noise_prior_deg_s, trust
        )


@kernel
def _blend(measured: float, prior: float, trust: float) -> float:
    """Return the geometric mean of two noises, `trust` of it the measured one."""
    return math.exp(
        trust * math.log(max(measured, SMALLEST_NOISE_DEG_S)) + (1.0 - trust) * math.log(prior)
    )


@kernel
def _emit(
    s: Any, rows: np.ndarray, kind: int, onset: int, offset: int, onset_us: int, offset_us: int
) -> int:
    """Fill the next row with what all kinds have; return its number."""
    number = int(s.n_rows)
    s.n_rows += 1
    row = rows[number]
    row.kind = kind
    row.onset = onset
    row.offset = offset
    row.onset_us = onset_us
    row.offset_us = offset_us
    row.decided_us = s.arrived_us
    row.strength = 0.0
    row.near_loss = 0
    return number
