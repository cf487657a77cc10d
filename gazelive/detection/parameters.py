"""Parameters of the detectors, in milliseconds and degrees, and presets.

No parameter is in samples: a detector rounds to samples once it knows the sampling rate.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from gazelive.errors import ConfigError

DETECTOR_REVISION = 2
"""Raised when the detectors find other events with the same parameters; 2 has the review."""

ThresholdForm = Literal["centred", "2003"]


class DetectorParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the adaptive detector (`online` and `settled`).

    σ is the noise of the velocity on one axis: the median distance from its median.
    """

    velocity_half_width_ms: float = 4.0
    """Half the width of the window that velocity is taken over."""

    spike_noise: float = 9.0
    """A lone sample so many σ off the middle of its neighbours is put there …"""
    spike_return_fraction: float = 0.3
    """… if they are closer together than this fraction of its distance (no eye turns so fast)."""

    noise_memory_s: float = 8.0
    """Forgetting time of σ while samples arrive."""
    noise_prior_deg_s: float = 4.0
    """σ before anything was seen."""
    noise_prior_s: float = 0.6
    """How many seconds of samples weigh as much as the prior."""

    threshold_noise: float = 9.0
    """Elliptic velocity threshold in σ."""
    threshold_floor_deg_s: float = 15.0
    """The threshold of an axis is never below this."""
    peak_noise: float = 9.0
    """A saccade's peak must reach this many σ (no less than the threshold)."""
    white_noise_above_deg_s: float = 45.0
    """Where the threshold would be higher because of white noise, `settled` uses the preset
    `noisy` instead (0: never)."""
    confirm_ms: float = 8.0
    """How long the velocity must stay above the threshold without a break."""

    onset_noise: float = 6.0
    """The onset is walked back to while the velocity is above this many σ …"""
    onset_peak_fraction: float = 0.08
    """… and above this fraction of the peak, along the saccade's direction …"""
    onset_valley_fraction: float = 0.2
    """… and, once it is below this fraction of the peak, as it gets slower (pursuit before a
    saccade is no part of it) …"""
    onset_reach_ms: float = 40.0
    """… at most this long before the threshold was crossed."""
    offset_noise: float = 4.0
    """The offset is where the velocity along the saccade falls below this many σ …"""
    offset_peak_fraction: float = 0.08
    """… or below this fraction of the peak …"""
    offset_hold_ms: float = 3.0
    """… and stays there for this long."""
    shortest_saccade_ms: float = 8.0
    longest_saccade_ms: float = 250.0

    oscillation_peak_fraction: float = 0.5
    """After a saccade, only velocities above this fraction of its peak can start another …"""
    oscillation_ms: float = 40.0
    """… for this long since its offset or the last such wave …"""
    oscillation_longest_ms: float = 100.0
    """… but no longer than this after the offset."""
    overshoot_ms: float = 6.0
    """A movement back that begins so soon after a saccade is its overshoot (0 keeps both)."""
    oscillation_inside_below_hz: float = 300.0
    """At lower sampling rates the oscillation after a saccade is part of it: it has too few
    samples to be told apart, and coders count it in."""

    dropout_ms: float = 8.0
    """A loss that is no longer than this is bridged by a straight line …"""
    dropout_after_ms: float = 20.0
    """… where gaze was seen for at least this long before it (else the tracker is struggling)."""
    loss_retracts_ms: float = 40.0
    """A loss so soon after a saccade's offset disproves it: it was the lid."""
    loss_guard_ms: float = 150.0
    """After a loss nothing starts for this long …"""
    loss_quiet_ms: float = 20.0
    """… unless gaze has been below the threshold for this long without a break."""
    near_loss_ms: float = 100.0
    """A saccade with a lost sample so near is flagged."""

    review_window_ms: float = 60.0
    """The review looks at the gaze so long before and after a saccade …"""
    review_gap_ms: float = 20.0
    """… with so long in between."""
    review_own_fraction: float = 0.5
    """Of its amplitude, so much is not explained by the movement around a saccade."""
    review_wobble: float = 6.0
    """A saccade is larger than so many times the wobble of gaze on its worse side …"""
    review_wobble_both: float = 15.0
    """… or than so many times that on its better side."""
    review_restless_deg: float = 2.0
    """Restless gaze looks like movements up to this size …"""
    review_restless_fraction: float = 0.18
    """… where the usual speed on the faster side is above this fraction of their peak …"""
    review_restless_ms: float = 100.0
    """… over this time …"""
    review_restless_gap_ms: float = 10.0
    """… with so long in between."""
    review_slowest_fraction: float = 0.25
    """A saccade's peak is above this fraction of the main sequence."""
    review_slow_fraction: float = 0.6
    """A peak below this fraction of the main sequence is slow; slow movements are lids …"""
    review_fast_drift_deg_s: float = 20.0
    """… where gaze drifts faster than this around them …"""
    review_pupil_fraction: float = 0.12
    """… or the pupil changes by more than this fraction (see also `review_pupil_alone`) …"""
    review_pupil_ms: float = 30.0
    """… from so long before to so long after."""
    review_pupil_alone: float = 0.25
    """No saccade changes the apparent size of a pupil by more than this."""
    review_fastest_deg_s: float = 1000.0
    """A movement with a higher peak is an artefact."""
    review_return_deg: float = 1.0
    """A movement of at least this size is an artefact where gaze returns to its start …"""
    review_return_fraction: float = 0.25
    """… up to this fraction of its amplitude …"""
    review_return_ms: float = 80.0
    """… within this time of its onset."""

    trigger_noise: float = 9.0
    """The fast trigger's threshold in σ of the displacement that it watches: …"""
    trigger_newest_ms: float = 1.0
    """… from the mean position over so long before it …"""
    trigger_baseline_ms: float = 6.0
    """… to that of the newest samples (at least one) …"""
    trigger_gap_ms: float = 2.0
    """… with so long between the two."""
    trigger_support: float = 0.05
    """Of the displacement, at least so much is in the newest sample and so much before it: a
    lone spike has all of it in one, and is over in the next."""
    trigger_rearm_ms: float = 30.0
    """The trigger rests for at least this long."""
    trigger_caution_ms: float = 100.0
    """For so long after a false alarm the trigger waits until a saccade is confirmed."""

    pursuit_window_ms: float = 200.0
    """`settled` fits a line to the gaze over this time; pursuit is where it is …"""
    pursuit_slowest_deg_s: float = 2.0
    """… steeper than this …"""
    pursuit_linearity: float = 0.85
    """… and explains more than this share of the variance …"""
    pursuit_shortest_ms: float = 150.0
    """… for at least this long …"""
    pursuit_gap_ms: float = 60.0
    """… with breaks no longer than this."""

    shortest_fixation_ms: float = 40.0
    fixation_gap_ms: float = 20.0
    """A loss that is shorter does not end a fixation."""
    shortest_blink_ms: float = 25.0
    longest_blink_ms: float = 600.0
    """A loss between these is called a blink, any other plain loss."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ConfigError(f"must be a number of at least 0, not {value}", key=name)
            if value > (LONGEST_MS if name.endswith("_ms") else LARGEST):
                raise ConfigError(f"is too large: {value:g}", key=name)
        for name in ("velocity_half_width_ms", "threshold_noise", "noise_memory_s"):
            if getattr(self, name) <= 0:
                raise ConfigError("must be above 0", key=name)
        if self.threshold_floor_deg_s <= 0:
            # with it at 0, gaze that does not move at all would have a threshold of 0
            raise ConfigError("must be above 0 °/s", key="threshold_floor_deg_s")


LONGEST_MS, LARGEST = 5000.0, 1e6
"""Largest values of durations and of other settings: buffers are made for them."""


class EngbertKlieglParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the offline algorithm of Engbert & Kliegl (2003)."""

    threshold_noise: float = 6.0
    """λ: the threshold in median-based standard deviations."""
    shortest_saccade_ms: float = 6.0
    """Three samples at 500 Hz, as in the authors' toolbox."""
    threshold_form: ThresholdForm = "centred"
    """√med((v − med v)²), or √(med(v²) − med(v)²) as printed in 2003."""

    def __post_init__(self) -> None:
        for name in ("threshold_noise", "shortest_saccade_ms"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ConfigError(f"must be a number above 0, not {value}", key=name)


PRESETS: dict[str, DetectorParameters] = {
    "scene-viewing": DetectorParameters(),
    "microsaccades": DetectorParameters(
        # a lower threshold finds small saccades, a higher peak separates them from noise
        white_noise_above_deg_s=0.0,
        threshold_noise=6.0,
        threshold_floor_deg_s=5.0,
        peak_noise=10.0,
        onset_noise=4.5,
        offset_noise=3.5,
    ),
    "noisy": DetectorParameters(
        # white noise has no tails: a wider window and a lower multiple of σ find more
        white_noise_above_deg_s=0.0,
        velocity_half_width_ms=6.0,
        threshold_noise=6.5,
        threshold_floor_deg_s=25.0,
        peak_noise=6.5,
        onset_noise=5.0,
        offset_noise=3.25,
    ),
}
"""`scene-viewing` is the default and what all figures in the docs were measured with."""


def preset(name: str) -> DetectorParameters:
    """Return the preset of that name."""
    try:
        return PRESETS[name]
    except KeyError:
        known = ", ".join(PRESETS)
        raise ConfigError(f"no preset {name!r}; there are {known}", key="preset") from None


def check_rate(sampling_rate_hz: float | None) -> float:
    """Return the rate; raise where it is missing or out of range.

    Below 100 Hz a saccade has too few samples for a velocity threshold; the online detector's
    buffers are made for no more than `HIGHEST_RATE_HZ`.
    """
    if sampling_rate_hz is None:
        raise ConfigError("the sampling rate is not stated; give it in Hz", key="sampling_rate_hz")
    rate = float(sampling_rate_hz)
    if not (math.isfinite(rate) and LOWEST_RATE_HZ <= rate <= HIGHEST_RATE_HZ):
        raise ConfigError(
            f"must be {LOWEST_RATE_HZ:g} to {HIGHEST_RATE_HZ:g} Hz, not {sampling_rate_hz}",
            key="sampling_rate_hz",
        )
    return rate


LOWEST_RATE_HZ = 100.0
HIGHEST_RATE_HZ = 2500.0


def to_samples(duration_ms: float, sampling_rate_hz: float, *, at_least: int = 0) -> int:
    """Return a duration as the nearest whole number of samples."""
    return max(at_least, round(duration_ms * sampling_rate_hz / 1000.0))
