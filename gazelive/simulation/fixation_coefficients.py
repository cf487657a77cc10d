"""What a fixating eye does from sample to sample: drift, tremor, the pupil, the tracker's noise."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gazelive.gaze.samples import Eye
from gazelive.simulation import oculomotor_kernels as kernels
from gazelive.simulation.oculomotor_traits import OculomotorTraits

Floats = npt.NDArray[np.float64]

_TREMOR_BANDWIDTH_HZ = 25.0
_PUPIL_LIGHT_TIME_CONSTANT_S = 0.3


def fixation_coefficients(
    traits: OculomotorTraits, eyes: tuple[Eye, ...], interval_s: float
) -> Floats:
    """Return what `advance_fixation` multiplies by at this sampling interval.

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
