"""Dynamics of saccades and fixations: parameters for the kernels.

Fixations have drift, tremor, pupil fluctuations and the tracker's noise. Saccades have the
inverse-linear main sequence (one of those that Duchowski et al. 2017 compare) with vigor as a
person's ratio to it (Reppert et al. 2018; Bargary et al. 2017); skewed profiles after Van Opstal &
Van Gisbergen (1987); faster abduction after Collewijn, Erkelens & Steinman (1988); the pupil's
oscillation after Nyström, Hooge & Holmqvist (2013). `docs/simulation.md` has the equations.
"""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Eye, Floats
from gazelive.simulation.eye import eye_kernels as kernels
from gazelive.simulation.eye.traits import OculomotorTraits

_TREMOR_BANDWIDTH_HZ = 25.0
_PUPIL_LIGHT_TIME_CONSTANT_S = 0.3


def fixation_coefficients(
    traits: OculomotorTraits, eyes: tuple[Eye, ...], interval_s: float
) -> Floats:
    """Return the coefficients of `advance_fixation` at this sampling interval.

    Each process is the exact sampling of a process in continuous time, so its variance and its
    correlation over time do not depend on the rate.
    """
    c = np.zeros(kernels.NOISE_KICK + 2 * len(eyes))
    c[kernels.DRIFT_KEEP] = keep = math.exp(-interval_s / traits.drift_persistence_s)
    c[kernels.DRIFT_KICK_X] = traits.drift_speed_x_deg_s * math.sqrt(1 - keep * keep)
    c[kernels.DRIFT_KICK_Y] = traits.drift_speed_y_deg_s * math.sqrt(1 - keep * keep)
    c[kernels.DRIFT_STEP] = interval_s
    c[kernels.DRIFT_RETURN] = math.exp(-interval_s / traits.drift_return_s)
    radius = math.exp(-math.pi * _TREMOR_BANDWIDTH_HZ * interval_s)
    turn = 2 * math.pi * traits.tremor_frequency_hz * interval_s
    c[kernels.TREMOR_1], c[kernels.TREMOR_2], kick = _resonator(radius, turn)
    c[kernels.TREMOR_KICK] = traits.tremor_deg * kick
    radius = 0.0
    if traits.noise_correlation_s > 0:
        radius = math.exp(-interval_s / traits.noise_correlation_s)
    c[kernels.NOISE_1], c[kernels.NOISE_2], kick = _resonator(radius, 0.0)
    for index, eye in enumerate(eyes):
        ratio = traits.eye_noise_ratio ** (0.5 if eye == "L" else -0.5)
        c[kernels.NOISE_KICK + 2 * index] = traits.noise_x_deg * ratio * kick
        c[kernels.NOISE_KICK + 2 * index + 1] = traits.noise_y_deg * ratio * kick
    c[kernels.PUPIL_KEEP] = keep = math.exp(-interval_s / traits.pupil_time_constant_s)
    c[kernels.PUPIL_KICK] = traits.pupil_fluctuation * math.sqrt(1 - keep * keep)
    c[kernels.PUPIL_LIGHT_KEEP] = math.exp(-interval_s / _PUPIL_LIGHT_TIME_CONSTANT_S)
    c[kernels.PUPIL_NOISE] = traits.pupil_noise
    return c


def _resonator(radius: float, turn: float) -> tuple[float, float, float]:
    """Return x[n] = first·x[n−1] + second·x[n−2] + kick·normal with unit variance.

    Its poles have the given radius and angle; a `turn` of 0 makes a second-order low-pass.
    """
    first, second = 2 * radius * math.cos(turn), -radius * radius
    variance = (1 - second) / ((1 + second) * ((1 - second) ** 2 - first * first))
    return first, second, 1 / math.sqrt(variance)


N_DRAWS = 5
"""Standard normal numbers that make one saccade differ from the next."""
_VIGOR_PIVOT_DEG = 8.0
_PEAK_FRACTION_RANGE = (0.2, 0.6)
_SHAPE_SCALE_DEG = 6.0
"""Over this amplitude the profile changes from that of small to that of large saccades."""


def saccade_parameters(
    traits: OculomotorTraits, eye: Eye, dx_deg: float, dy_deg: float, draws: Floats
) -> Floats:
    """Return the parameters of `eye_kernels.saccade_path` for one eye.

    `draws` are `N_DRAWS` standard normal numbers; both eyes of a person get the same ones, since
    they are driven by one command.
    """
    amplitude_deg = max(math.hypot(dx_deg, dy_deg), 1e-3)
    rightwards, upwards = dx_deg / amplitude_deg, -dy_deg / amplitude_deg
    horizontal = rightwards * rightwards

    def by_direction(right: float, left: float, up: float, down: float) -> float:
        sideways = right if rightwards > 0 else left
        return horizontal * sideways + (1 - horizontal) * (up if upwards > 0 else down)

    log_vigor = by_direction(
        math.log(traits.vigor_right),
        math.log(traits.vigor_left),
        math.log(traits.vigor_up),
        math.log(traits.vigor_down),
    )
    outwards = rightwards if eye == "R" else -rightwards
    left_not_right = 0.5 if eye == "L" else -0.5
    log_vigor += 0.5 * outwards * math.log(traits.abduction_vigor)
    log_vigor += left_not_right * math.log(traits.eye_vigor_ratio)
    log_vigor += traits.vigor_scatter * draws[0]
    log_vigor += traits.vigor_slope * math.log(amplitude_deg / _VIGOR_PIVOT_DEG)
    saturation = amplitude_deg / (amplitude_deg + traits.amplitude_constant_deg)
    peak_velocity_deg_s = traits.peak_velocity_limit_deg_s * saturation * math.exp(log_vigor)

    peak = by_direction(
        traits.peak_fraction_right,
        traits.peak_fraction_left,
        traits.peak_fraction_up,
        traits.peak_fraction_down,
    )
    largeness = -math.expm1(-amplitude_deg / _SHAPE_SCALE_DEG)
    peak += traits.peak_fraction_change * largeness + traits.peak_fraction_scatter * draws[1]
    peak = min(max(peak, _PEAK_FRACTION_RANGE[0]), _PEAK_FRACTION_RANGE[1])
    sharpness = traits.profile_sharpness * (1 + traits.profile_sharpness_change * largeness)
    curvature = by_direction(
        traits.curvature_right, traits.curvature_left, traits.curvature_up, traits.curvature_down
    )
    swing = math.exp(
        traits.oscillation_scatter * draws[4]
        + left_not_right * math.log(traits.eye_oscillation_ratio)
    )

    parameters = np.empty(kernels.N_SACCADE_PARAMETERS)
    parameters[kernels.DX] = dx_deg
    parameters[kernels.DY] = dy_deg
    parameters[kernels.DURATION] = (
        peak_over_mean(sharpness, peak) * amplitude_deg / peak_velocity_deg_s
    )
    parameters[kernels.PEAK] = peak
    parameters[kernels.SHARPNESS] = sharpness
    parameters[kernels.CURVATURE] = curvature + traits.curvature_scatter * draws[2]
    parameters[kernels.GLISSADE] = traits.glissade_fraction + traits.glissade_scatter * draws[3]
    parameters[kernels.GLISSADE_TAU] = traits.glissade_time_constant_s
    parameters[kernels.FREQUENCY] = traits.oscillation_frequency_hz
    parameters[kernels.DAMPING] = traits.oscillation_damping
    parameters[kernels.GAIN_X] = traits.oscillation_gain_x * swing
    parameters[kernels.GAIN_Y] = traits.oscillation_gain_y * swing
    return parameters


def peak_over_mean(sharpness: float, peak_fraction: float) -> float:
    """Return peak over mean velocity of the profile τ^a (1−τ)^b, a + b = `sharpness`."""
    rise = sharpness * peak_fraction
    fall = sharpness - rise
    log_peak = rise * math.log(peak_fraction) + fall * math.log1p(-peak_fraction)
    log_mean = math.lgamma(rise + 1) + math.lgamma(fall + 1) - math.lgamma(sharpness + 2)
    return math.exp(log_peak - log_mean)
