"""Noise of the velocity: of a whole interval, between intervals, and whether it is white."""

from __future__ import annotations

import math

import numpy as np

from gazelive.detection.events import Runs
from gazelive.detection.median_kernels import median_room, middle_two
from gazelive.detection.online.noise_kernels import SMALLEST_NOISE_DEG_S
from gazelive.detection.online.online_state import Records, copy_noise, make_state
from gazelive.detection.online.velocity_kernels import centred_velocity
from gazelive.detection.parameters import DetectorParameters, to_samples
from gazelive.gaze import EventEye, Floats, Integers, find_gaps

Conditions = tuple[DetectorParameters, float, EventEye]
"""Conditions of learned noise besides the calibration: parameters, rate in Hz, eye."""


class NoiseMemory:
    """Noise learned by the online detector, carried from one interval to the next.

    Live, `OnlineDetector.flush` carries it over; offline, `detect_online` takes it from here and
    updates it. Noise learned under other conditions is not used.
    """

    def __init__(self) -> None:
        self._state: Records | None = None
        self._learned_with: Conditions | None = None
        self._n_calibrations = 0

    def begin_interval(self, n_calibrations: int) -> None:
        """Forget the noise of another calibration; `n_calibrations` lie before the interval."""
        if n_calibrations != self._n_calibrations:
            self.forget()
        self._n_calibrations = n_calibrations

    def forget(self) -> None:
        """Start over, as after a calibration."""
        self._state = None

    def begin(self, conditions: Conditions) -> Records:
        """Return the state of a detector that knows the noise but has seen no samples."""
        state = make_state(conditions[0])
        if self._state is not None and self._learned_with == conditions:
            copy_noise(self._state, state)
        return state

    def keep(self, state: Records, conditions: Conditions) -> None:
        """Keep the noise that a detector knows at the end of an interval."""
        self._state = state
        self._learned_with = conditions


Noise = tuple[float, float]


def noise_of_the_whole(
    times_us: Integers,
    x_deg: Floats,
    y_deg: Floats,
    sampling_rate_hz: float,
    parameters: DetectorParameters,
    saccade_samples: Runs | None = None,
) -> Noise:
    """Return σ of both axes in °/s: the exact one of all samples, blended with the prior.

    Left out are `saccade_samples` (first and last of each) and the oscillation after them.
    """
    half_width = to_samples(parameters.velocity_half_width_ms, sampling_rate_hz, at_least=1)
    oscillation = to_samples(parameters.oscillation_ms, sampling_rate_hz)
    vx, vy = np.empty(len(x_deg)), np.empty(len(x_deg))
    centred_velocity(x_deg, half_width, sampling_rate_hz, vx)
    centred_velocity(y_deg, half_width, sampling_rate_hz, vy)
    for gap in find_gaps(times_us, sampling_rate_hz):
        lost = slice(max(0, gap - half_width), gap + half_width)
        vx[lost] = vy[lost] = np.nan
    for first, last in () if saccade_samples is None else saccade_samples.tolist():
        moving = slice(max(0, first - half_width), last + oscillation + half_width + 1)
        vx[moving] = vy[moving] = np.nan
    n = int(np.count_nonzero(np.isfinite(vx)))
    if n == 0:
        return parameters.noise_prior_deg_s, parameters.noise_prior_deg_s
    trust = n / (n + parameters.noise_prior_s * sampling_rate_hz)

    room = median_room(len(vx))

    def blended(velocity: Floats) -> float:
        median = sum(middle_two(velocity, room=room)) / 2.0
        spread = sum(middle_two(velocity, median, room=room)) / 2.0
        spread = max(spread, SMALLEST_NOISE_DEG_S)
        prior = max(parameters.noise_prior_deg_s, SMALLEST_NOISE_DEG_S)
        return math.exp(trust * math.log(spread) + (1.0 - trust) * math.log(prior))

    return blended(vx), blended(vy)


def is_noisy(x: Floats, y: Floats, noise: Noise, p: DetectorParameters) -> bool:
    """Return whether white noise makes the threshold too high to find small saccades."""
    highest = p.white_noise_above_deg_s
    if not highest or p.threshold_noise * math.sqrt(noise[0] * noise[1]) <= highest:
        return False
    return min(whiteness(x), whiteness(y)) > WHITE


def whiteness(position: Floats) -> float:
    """Return 1 for white noise, 0 for a random walk, less for smooth movement.

    It is −2 times the correlation of successive steps, the large ones cut off.
    """
    steps = np.diff(position)
    known = steps[np.isfinite(steps)]
    if len(known) < 10:
        return 0.0
    steps = np.clip(steps, *np.percentile(known, (5, 95)))
    first, second = steps[:-1], steps[1:]
    both = np.isfinite(first) & np.isfinite(second)
    first, second = first[both] - first[both].mean(), second[both] - second[both].mean()
    spread = math.sqrt(float(first @ first) * float(second @ second))
    return -2.0 * float(first @ second) / spread if spread > 0.0 else 0.0


WHITE = 0.3
"""Whiteness above which a lower threshold in multiples of σ finds more than it adds."""
