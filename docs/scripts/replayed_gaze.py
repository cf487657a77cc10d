"""Simulated counterparts of real recordings: the same scanpath, made by simulated eyes.

The saccades that were found in a real recording are the commands of the simulated one, so both
have the same amplitudes, directions and fixation durations, and what differs is how the eye moves.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from gaze_statistics import Measurements
from scipy.signal import firwin

from gazelive.gaze.arrays import Floats
from gazelive.simulation.eye.eye import Oculomotor
from gazelive.simulation.eye.traits import OculomotorTraits
from gazelive.simulation.truth import SimulatedTrace

SMALLEST_COMMAND_DEG = 0.7
"""Smaller saccades are left to the simulator's own microsaccades."""


def replay(
    measured: Measurements,
    traits: OculomotorTraits,
    rng: np.random.Generator,
    rate_hz: float,
) -> SimulatedTrace:
    """Return what `traits` make of the saccades that were measured in a recording (left eye)."""
    # falling short is in the measured landing points already
    traits = msgspec.structs.replace(
        traits,
        undershoot_probability=0.0,
        landing_scatter=0.0,
        left_offset_x_deg=0.0,
        left_offset_y_deg=0.0,
    )
    saccades = measured.saccades
    large = saccades["amplitude_deg"] >= SMALLEST_COMMAND_DEG
    onsets_s = saccades["onset_s"][large]
    targets = np.column_stack((saccades["end_x_deg"][large], saccades["end_y_deg"][large]))
    eye = Oculomotor(traits, sampling_rate_hz=rate_hz, eyes="L", rng=rng, x_deg=0.0, y_deg=0.0)
    for onset_s, (x_deg, y_deg) in zip(onsets_s, targets.tolist(), strict=True):
        eye.fixate(max(0, round(onset_s * rate_hz) - round(eye.now_us * rate_hz / 1e6)))
        eye.saccade_to(x_deg, y_deg)
    n = round(measured.duration_s * rate_hz)
    eye.fixate(max(0, n - eye.n_pending))
    return eye.take(n)


def as_bioeye(trace: SimulatedTrace) -> Floats:
    """Return a 1000 Hz trace (one eye) as BioEye would have it: low-pass filtered to 250 Hz."""
    gaze = trace.gaze_deg[:, 0]
    lost = ~np.isfinite(gaze).all(axis=1)
    index = np.arange(len(gaze))
    taps = firwin(121, 116.0, fs=1000.0)
    filtered = np.empty_like(gaze)
    for axis in range(2):
        filled = np.interp(index, index[~lost], gaze[~lost, axis])
        filtered[:, axis] = np.convolve(filled, taps, mode="same")
    filtered[lost] = np.nan
    return filtered[::4]


def unfiltered(traits: OculomotorTraits) -> OculomotorTraits:
    """Return the traits with the tracker's noise filter off: as much noise below 50 Hz, but white.

    The filter is a second-order low-pass at the camera's 1000 Hz.
    """
    pole = math.exp(-0.001 / traits.noise_correlation_s)
    ratio = math.sqrt((1 + pole) ** 3 / ((1 + pole**2) * (1 - pole)))
    return msgspec.structs.replace(
        traits,
        noise_correlation_s=0.0,
        noise_x_deg=traits.noise_x_deg * ratio,
        noise_y_deg=traits.noise_y_deg * ratio,
    )
