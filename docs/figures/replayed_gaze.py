"""Simulated counterparts of real recordings: the same scanpath, made by simulated eyes.

The saccades that were found in a real recording are the commands of the simulated one, so both
have the same amplitudes, directions and fixation durations, and what differs is how the eye moves.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from gaze_statistics import Measurements
from scipy.signal import firwin

from gazelive.simulation.oculomotor import Oculomotor, OculomotorTraits
from gazelive.simulation.truth import GazeTrace

Floats = npt.NDArray[np.float64]

SMALLEST_COMMAND_DEG = 0.7
"""Smaller saccades are left to the simulator's own microsaccades."""
BIOEYE_RATE_HZ = 250.0
BIOEYE_LOST = -32768
BIOEYE_START_UP = 120
"""Samples at the start of a BioEye recording that are a transient of its filter."""


def bioeye_recordings(path: Path) -> dict[str, Floats]:
    """Return person_session → gaze in degrees (y down) of a BioEye 2015 file."""
    recordings = {}
    with np.load(path) as file:
        for name in file.files:
            raw = file[name][BIOEYE_START_UP:].astype(np.float64)
            raw[(raw == BIOEYE_LOST).any(axis=1)] = np.nan
            recordings[name] = raw / 1000 * np.array([1.0, -1.0])  # the file's y grows upwards
    return recordings


def replay(
    measured: Measurements,
    traits: OculomotorTraits,
    rng: np.random.Generator,
    rate_hz: float,
) -> GazeTrace:
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


def as_bioeye(trace: GazeTrace) -> Floats:
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
