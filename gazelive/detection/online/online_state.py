"""State of the online detector: fixed-size records that the kernels read and write.

Everything a sample can change is in one `STATE` record, which makes memory constant by
construction. Indices count samples from 0 since the last reset, lost ones and gaps included; a
ring slot is `index & RING_MASK`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.detection.online.noise_kernels import N_BINS, SMALLEST_NOISE_DEG_S
from gazelive.detection.parameters import DetectorParameters, to_samples
from gazelive.errors import ConfigError
from gazelive.gaze import GAP_INTERVALS, LONGEST_FILLED_S

RING_SIZE = 1024
RING_MASK = RING_SIZE - 1
MAX_DROPPED = 32
"""Most lost samples that can be bridged."""
N_RECENT = 4
"""Most saccades that one loss can retract."""
LONG_AGO = -(1 << 40)

ONSET = 0
SACCADE = 1
FIXATION = 2
LOSS = 3
RETRACTION = 4
TIME_GAP = 5
TIME_ORDER = 6
DUPLICATE = 7
"""Kinds of a `ROW`."""
A_SACCADE, BLINK_ARTEFACT, TRACKER_JUMP = range(3)
"""Kinds of a saccade, in the order of `SaccadeKind`."""

SETTINGS = np.dtype(
    [
        ("sampling_rate_hz", "f8"),
        ("interval_us", "f8"),
        ("gap_intervals", "f8"),
        ("half_width", "i8"),
        ("velocity_scale_hz", "f8"),
        ("spike_scale_s", "f8"),  # threshold of a spike per threshold of velocity
        ("spike_return_fraction", "f8"),
        ("settled", "i8"),  # σ is given, and there is no trigger
        ("forgetting", "f8"),
        ("noise_prior_deg_s", "f8"),
        ("noise_prior_samples", "f8"),
        ("noise_refresh", "i8"),
        ("threshold_noise", "f8"),
        ("threshold_floor_deg_s", "f8"),
        ("peak_ratio", "f8"),
        ("confirm", "i8"),
        ("onset_ratio", "f8"),
        ("onset_peak_fraction", "f8"),
        ("onset_valley_fraction", "f8"),
        ("onset_reach", "i8"),
        ("offset_ratio", "f8"),
        ("offset_peak_fraction", "f8"),
        ("offset_hold", "i8"),
        ("shortest_saccade", "f8"),
        ("longest_saccade", "i8"),
        ("oscillation_peak_fraction", "f8"),
        ("oscillation", "i8"),
        ("oscillation_longest", "i8"),
        ("oscillation_inside", "i8"),  # the oscillation is part of the saccade
        ("overshoot", "i8"),
        ("dropout", "i8"),
        ("dropout_after", "i8"),
        ("review_gap", "i8"),
        ("review_window", "i8"),
        ("review_own_fraction", "f8"),
        ("loss_retracts", "i8"),
        ("loss_guard", "i8"),
        ("loss_quiet", "i8"),
        ("near_loss", "i8"),
        ("trigger_newest", "i8"),
        ("trigger_gap", "i8"),
        ("trigger_baseline", "i8"),
        ("trigger_scale_s", "f8"),  # threshold of the displacement per threshold of velocity
        ("trigger_support", "f8"),
        ("trigger_rearm", "i8"),
        ("trigger_patience", "i8"),
        ("trigger_caution", "i8"),
        ("shortest_fixation", "f8"),
        ("fixation_gap", "i8"),
        ("longest_filled", "i8"),
    ],
    align=True,
)
"""Parameters in samples and °/s; the `ratio` fields are relative to the threshold."""

STATE = np.dtype(
    [
        # the stream
        ("arrived_us", "i8"),  # time of the newest sample that came
        ("newest", "i8"),  # index of the newest that was taken in: lost ones may wait
        ("n_dropped", "i8"),
        ("dropped_us", "i8", (MAX_DROPPED,)),
        ("valid_run", "i8"),  # valid samples without a break up to the newest
        ("time_us", "i8", (RING_SIZE,)),
        ("x_deg", "f8", (RING_SIZE,)),
        ("y_deg", "f8", (RING_SIZE,)),
        ("vx_deg_s", "f8", (RING_SIZE,)),
        ("vy_deg_s", "f8", (RING_SIZE,)),
        # sums over all valid samples up to one: the mean of any stretch is a difference of two
        ("sum_x_deg", "f8", (RING_SIZE,)),
        ("sum_y_deg", "f8", (RING_SIZE,)),
        ("n_valid", "i8", (RING_SIZE,)),
        ("n_calm", "i8", (RING_SIZE,)),
        ("n_calm_in_all", "i8"),
        # noise
        ("noise_x_deg_s", "f8"),
        ("noise_y_deg_s", "f8"),
        ("histogram_x", "f8", (N_BINS,)),
        ("histogram_y", "f8", (N_BINS,)),
        ("histogram_weight", "f8"),
        ("sample_weight", "f8"),
        ("since_refresh", "i8"),
        # the candidate
        ("in_saccade", "i8"),
        ("run_length", "i8"),
        ("run_start", "i8"),
        ("run_vx_deg_s", "f8"),  # sum over the run: its direction
        ("run_vy_deg_s", "f8"),
        ("peak_index", "i8"),
        ("peak_deg_s", "f8"),
        ("peak_ratio", "f8"),
        ("direction_x", "f8"),
        ("direction_y", "f8"),
        ("below", "i8"),
        ("main_end", "i8"),  # where the movement itself ended; −1 while it goes on
        # the saccade before
        ("previous_offset", "i8"),
        ("previous_peak_deg_s", "f8"),
        ("previous_direction_x", "f8"),
        ("previous_direction_y", "f8"),
        ("overshoot_since", "i8"),
        ("oscillation_since", "i8"),
        ("n_recent", "i8"),
        ("recent_onset", "i8", (N_RECENT,)),
        ("recent_onset_us", "i8", (N_RECENT,)),
        ("recent_offset", "i8", (N_RECENT,)),
        # loss
        ("in_loss", "i8"),
        ("loss_start", "i8"),
        ("loss_start_us", "i8"),
        ("before_loss", "i8"),  # the last valid sample before it
        ("last_lost", "i8"),
        ("last_lost_us", "i8"),
        ("last_unseen", "i8"),  # lost, or bridged
        ("guarded", "i8"),
        ("quiet_run", "i8"),
        # the fast trigger
        ("armed", "i8"),
        ("last_trigger", "i8"),
        ("trigger_pending", "i8"),  # given, and the saccade not confirmed yet
        ("last_false_alarm", "i8"),
        # the movement that it fired for last, and where gaze was before
        ("n_movements", "i8"),
        ("movement", "i8"),  # its number while it goes on, else 0
        ("movement_onset_us", "i8"),
        ("movement_x_deg", "f8"),
        ("movement_y_deg", "f8"),
        # the open fixation
        ("in_fixation", "i8"),
        ("fixation_start", "i8"),
        ("fixation_start_us", "i8"),
        ("fixation_sum_x_deg", "f8"),
        ("fixation_sum_y_deg", "f8"),
        ("fixation_n_valid", "i8"),
        ("fixation_n_calm", "i8"),
        # what left the kernel
        ("n_rows", "i8"),
        ("n_taken", "i8"),
    ],
    align=True,
)

ROW = np.dtype(
    [
        ("kind", "i8"),
        ("onset", "i8"),
        ("offset", "i8"),
        ("onset_us", "i8"),
        ("offset_us", "i8"),
        ("decided_us", "i8"),
        ("start_x_deg", "f8"),
        ("start_y_deg", "f8"),
        ("end_x_deg", "f8"),
        ("end_y_deg", "f8"),
        ("peak_deg_s", "f8"),
        ("strength", "f8"),  # peak over threshold; calm share of a fixation
        ("near_loss", "i8"),
        ("saccade_kind", "i8"),  # index of its `SaccadeKind`
        ("arrival_us", "i8"),  # end of the movement itself; the oscillation follows
    ],
    align=True,
)
"""One finding: indices, times, positions; which fields count depends on the kind."""

MAX_ROWS_PER_SAMPLE = 4 * (MAX_DROPPED + 2) + N_RECENT
"""A sample, and each one that it bridges, can end a loss, a fixation and a saccade and start one;
a gap before it can retract some."""

Records = npt.NDArray[Any]


def make_settings(
    parameters: DetectorParameters,
    sampling_rate_hz: float,
    fixed_noise_deg_s: tuple[float, float] | None = None,
) -> Records:
    """Return the parameters at this rate; with `fixed_noise_deg_s`, σ does not adapt."""
    p, rate = parameters, sampling_rate_hz

    def samples(duration_ms: float, *, at_least: int = 0) -> int:
        return to_samples(duration_ms, rate, at_least=at_least)

    reach_ms = p.longest_saccade_ms + p.onset_reach_ms + 2 * p.velocity_half_width_ms
    reach_ms += p.review_gap_ms + p.review_window_ms
    if reach_ms * rate / 1000.0 > RING_SIZE - 2:
        raise ConfigError(
            "longest saccade, onset reach, velocity window and review window are "
            f"{reach_ms:g} ms together; "
            f"at {rate:g} Hz the detector remembers {1000 * RING_SIZE / rate:.0f} ms",
            key="longest_saccade_ms",
        )
    if samples(p.dropout_ms) > MAX_DROPPED:
        raise ConfigError(
            f"is at most {1000 * MAX_DROPPED / rate:g} ms at {rate:g} Hz", key="dropout_ms"
        )

    m = samples(p.velocity_half_width_ms, at_least=1)
    newest = samples(p.trigger_newest_ms, at_least=1)
    baseline = samples(p.trigger_baseline_ms, at_least=1)
    # the noise of the velocity gives that of single samples, and this that of their means
    sample_noise_s = m * (m + 1) / (rate * math.sqrt(2 * m))
    displacement_noise_s = sample_noise_s * math.sqrt(1 / newest + 1 / baseline)
    confirm = samples(p.confirm_ms, at_least=1)
    values = {
        "sampling_rate_hz": rate,
        "interval_us": 1e6 / rate,
        "gap_intervals": GAP_INTERVALS,
        "half_width": m,
        "velocity_scale_hz": rate / (m * (m + 1)),
        "spike_scale_s": p.spike_noise / p.threshold_noise * sample_noise_s * math.sqrt(1.5),
        "spike_return_fraction": p.spike_return_fraction,
        "settled": fixed_noise_deg_s is not None,
        "forgetting": math.exp(-1.0 / (p.noise_memory_s * rate)),
        "noise_prior_deg_s": max(p.noise_prior_deg_s, SMALLEST_NOISE_DEG_S),
        "noise_prior_samples": p.noise_prior_s * rate,
        "noise_refresh": samples(NOISE_REFRESH_MS, at_least=1),
        "threshold_noise": p.threshold_noise,
        "threshold_floor_deg_s": p.threshold_floor_deg_s,
        "peak_ratio": p.peak_noise / p.threshold_noise,
        "confirm": confirm,
        "onset_ratio": p.onset_noise / p.threshold_noise,
        "onset_peak_fraction": p.onset_peak_fraction,
        "onset_valley_fraction": p.onset_valley_fraction,
        "onset_reach": samples(p.onset_reach_ms),
        "offset_ratio": p.offset_noise / p.threshold_noise,
        "offset_peak_fraction": p.offset_peak_fraction,
        "offset_hold": samples(p.offset_hold_ms, at_least=1),
        "shortest_saccade": p.shortest_saccade_ms * rate / 1000.0 - 1e-9,
        "longest_saccade": samples(p.longest_saccade_ms, at_least=1),
        "oscillation_peak_fraction": p.oscillation_peak_fraction,
        "oscillation": samples(p.oscillation_ms),
        "oscillation_longest": samples(p.oscillation_longest_ms),
        "oscillation_inside": rate < p.oscillation_inside_below_hz,
        "overshoot": samples(p.overshoot_ms),
        "dropout": samples(p.dropout_ms),
        "dropout_after": samples(p.dropout_after_ms, at_least=1),
        "review_gap": samples(p.review_gap_ms),
        "review_window": samples(p.review_window_ms, at_least=3),
        "review_own_fraction": p.review_own_fraction,
        "loss_retracts": samples(p.loss_retracts_ms),
        "loss_guard": samples(p.loss_guard_ms),
        "loss_quiet": samples(p.loss_quiet_ms, at_least=1),
        "near_loss": samples(p.near_loss_ms),
        "trigger_newest": newest,
        "trigger_gap": samples(p.trigger_gap_ms),
        "trigger_baseline": baseline,
        "trigger_scale_s": p.trigger_noise / p.threshold_noise * displacement_noise_s,
        "trigger_support": p.trigger_support,
        "trigger_rearm": samples(p.trigger_rearm_ms),
        "trigger_patience": confirm + 2 * m,
        "trigger_caution": samples(p.trigger_caution_ms),
        "shortest_fixation": p.shortest_fixation_ms * rate / 1000.0 - 1e-9,
        "fixation_gap": samples(p.fixation_gap_ms, at_least=1),
        "longest_filled": round(LONGEST_FILLED_S * rate),
    }
    settings = np.zeros(1, SETTINGS)
    for name in SETTINGS.names or ():
        settings[0][name] = values[name]
    return settings


def make_state(
    parameters: DetectorParameters, fixed_noise_deg_s: tuple[float, float] | None = None
) -> Records:
    """Return the state of a detector before its first sample."""
    state = np.zeros(1, STATE)
    row = state[0]
    row["newest"] = -1
    row["noise_x_deg_s"], row["noise_y_deg_s"] = fixed_noise_deg_s or (
        (max(parameters.noise_prior_deg_s, SMALLEST_NOISE_DEG_S),) * 2
    )
    row["sample_weight"] = 1.0
    row["armed"] = 1
    for name in (
        "previous_offset",
        "oscillation_since",
        "overshoot_since",
        "last_lost",
        "last_unseen",
        "last_trigger",
        "last_false_alarm",
    ):
        row[name] = LONG_AGO
    return state


_NOISE_FIELDS = (
    "noise_x_deg_s",
    "noise_y_deg_s",
    "histogram_x",
    "histogram_y",
    "histogram_weight",
    "sample_weight",
    "since_refresh",
)


def copy_noise(known: Records, state: Records) -> None:
    """Copy the learned noise into another state."""
    for name in _NOISE_FIELDS:
        state[0][name] = known[0][name]


NOISE_REFRESH_MS = 20.0
"""σ changes over seconds; reading it from the histogram more often only costs time."""


def thresholds_of(state: Records, parameters: DetectorParameters) -> tuple[float, float]:
    """Return the velocity thresholds of x and y in °/s that hold in this state."""
    row, p = state[0], parameters
    return (
        max(p.threshold_noise * float(row["noise_x_deg_s"]), p.threshold_floor_deg_s),
        max(p.threshold_noise * float(row["noise_y_deg_s"]), p.threshold_floor_deg_s),
    )
