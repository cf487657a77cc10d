"""One number per trait and recording, and how much of its variance lies where.

`statistics` turns measurements into a vector; `decompose` splits the vectors' covariance into
persons, sessions of a person and measurement error, by a nested random-effects model with two
sessions per person and two interleaved halves per recording.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from gaze_statistics import Measurements

from gazelive.gaze.arrays import Floats

Mask = npt.NDArray[np.bool_]

DIRECTIONS = ("right", "up", "left", "down")
AMPLITUDES_DEG = (2.0, 30.0)
LARGE_DEG = 9.0
MICROSACCADES_DEG = (0.2, 0.7)
BLINKS_S = (0.03, 1.0)

NAMES = (
    *(f"velocity {name}" for name in DIRECTIONS),
    "velocity of large over small",
    "peak over mean velocity",
    *(f"profile centroid {name}" for name in DIRECTIONS),
    *(f"curvature {name}" for name in DIRECTIONS),
    "rebound horizontal",
    "rebound vertical",
    "swing time",
    "second swing",
    "glissade",
    "velocity scatter",
    "curvature scatter",
    "centroid scatter",
    "drift x",
    "drift y",
    "drift at 14–24 over 6–10 Hz",
    "noise x",
    "noise y",
    "noise at 95–115 over 40–60 Hz",
    "microsaccade rate",
    "blink rate",
    "blink duration",
)


@dataclass(frozen=True)
class MainSequence:
    """Polynomials in log amplitude that remove what depends on amplitude alone."""

    log_velocity: Floats
    log_sharpness: Floats
    centroid: Floats


def fit_main_sequence(recordings: list[Measurements]) -> MainSequence:
    """Fit the pooled curves to the saccades of many recordings."""
    pooled = {
        name: np.concatenate([recording.saccades[name] for recording in recordings])
        for name in recordings[0].saccades
    }
    use = (pooled["amplitude_deg"] > AMPLITUDES_DEG[0]) & (
        pooled["amplitude_deg"] < AMPLITUDES_DEG[1]
    )
    log_amplitude = np.log(pooled["amplitude_deg"][use])
    return MainSequence(
        np.polyfit(log_amplitude, np.log(pooled["peak_velocity_deg_s"][use]), 3),
        np.polyfit(log_amplitude, _log_sharpness(pooled)[use], 3),
        np.polyfit(log_amplitude, pooled["centroid"][use], 2),
    )


def statistics(measured: Measurements, curves: MainSequence, half: int | None = None) -> Floats:
    """Return the values of `NAMES`; `half` 0 or 1 uses every other saccade and window."""
    part = slice(half, None, 2) if half is not None else slice(None)
    saccades = {name: values[part] for name, values in measured.saccades.items()}
    amplitude = saccades["amplitude_deg"]
    use = (amplitude > AMPLITUDES_DEG[0]) & (amplitude < AMPLITUDES_DEG[1])
    log_amplitude = np.log(amplitude)
    velocity = np.log(saccades["peak_velocity_deg_s"]) - np.polyval(
        curves.log_velocity, log_amplitude
    )
    sharpness = _log_sharpness(saccades) - np.polyval(curves.log_sharpness, log_amplitude)
    centroid = saccades["centroid"] - np.polyval(curves.centroid, log_amplitude)
    sector = np.round(saccades["direction_rad"] / (np.pi / 2)).astype(int) % 4
    sectors = [use & (sector == k) for k in range(4)]
    sideways, vertical = sectors[0] | sectors[2], sectors[1] | sectors[3]
    curvature = saccades["curvature"]
    for within in sectors:
        velocity_centre = _median(velocity, within)
        centroid_centre = _median(centroid, within)
        curvature_centre = _median(curvature, within)
        saccades.setdefault("v", velocity.copy())[within] -= velocity_centre
        saccades.setdefault("c", curvature.copy())[within] -= curvature_centre
        saccades.setdefault("m", centroid.copy())[within] -= centroid_centre
    power = np.median(measured.spectra[part], axis=0) if len(measured.spectra[part]) else None
    small = (amplitude > MICROSACCADES_DEG[0]) & (amplitude < MICROSACCADES_DEG[1])
    share = 1.0 if half is None else 0.5
    losses = measured.losses_s
    losses = losses[(losses > BLINKS_S[0]) & (losses < BLINKS_S[1])][part]
    bands = _bands(measured.frequencies_hz, power)
    return np.array(
        [
            *(_median(velocity, within) for within in sectors),
            _median(velocity, use & (amplitude > LARGE_DEG))
            - _median(velocity, use & (amplitude < LARGE_DEG)),
            _median(sharpness, use),
            *(_median(centroid, within) for within in sectors),
            *(_median(curvature, within) for within in sectors),
            _log_ratio(saccades["rebound"], sideways),
            _log_ratio(saccades["rebound"], vertical),
            np.log(_median(saccades["swing_s"], use)),
            _median(saccades["second_swing"], use),
            _median(saccades["glissade"], use),
            _log_spread(saccades["v"], use),
            _log_spread(saccades["c"], use),
            _log_spread(saccades["m"], use),
            *bands,
            np.log(small.sum() / (measured.fixation_s * share) + 0.02),
            np.log(len(losses) / (measured.duration_s * share) * 60 + 0.5),
            np.log(np.median(losses)) if len(losses) else np.nan,
        ]
    )


def _bands(frequencies_hz: Floats, power: Floats | None) -> tuple[float, ...]:
    if power is None:
        return (np.nan,) * 6

    def log_power(low_hz: float, high_hz: float) -> Floats:
        inside = (frequencies_hz >= low_hz) & (frequencies_hz <= high_hz)
        return np.asarray(np.log(power[:, inside]).mean(axis=1))

    slow, middle = log_power(6, 10), log_power(14, 24)
    noise, lower, upper = log_power(40, 90), log_power(40, 60), log_power(95, 115)
    return (
        float(slow[0]),
        float(slow[1]),
        float((middle - slow).mean()),
        float(noise[0]),
        float(noise[1]),
        float((upper - lower).mean()),
    )


def _log_sharpness(saccades: dict[str, Floats]) -> Floats:
    return np.asarray(
        np.log(saccades["peak_velocity_deg_s"] * saccades["duration_s"] / saccades["amplitude_deg"])
    )


def _median(values: Floats, mask: Mask) -> float:
    return float(np.median(values[mask])) if mask.any() else np.nan


def _log_ratio(values: Floats, mask: Mask) -> float:
    return float(np.log(max(_median(values, mask), 0.01)))


def _log_spread(values: Floats, mask: Mask) -> float:
    return float(np.log(np.median(np.abs(values[mask])) + 1e-6)) if mask.any() else np.nan


@dataclass(frozen=True)
class Decomposition:
    """Covariances of the statistics: between persons, between a person's sessions, of error."""

    mean: Floats
    between: Floats
    within: Floats
    error: Floats
    """Of a whole recording."""

    @property
    def icc(self) -> Floats:
        """Share of the variance over sessions that lies between persons."""
        between, within = np.diag(self.between), np.diag(self.within)
        error = np.diag(self.error)
        return np.asarray(between / (between + within + error))


def decompose(values: Floats, halves: Floats) -> Decomposition:
    """Decompose `values` (persons, 2 sessions, k) with `halves` (persons, 2, 2 halves, k)."""
    mean = np.nanmean(values, axis=(0, 1))
    deviations = values - mean
    spread = 1.4826 * np.nanmedian(np.abs(deviations), axis=(0, 1))
    # a few recordings are beyond use; they must not make the variances
    deviations = np.clip(deviations, -4 * spread, 4 * spread)
    deviations[~np.isfinite(deviations)] = 0.0
    first, second = deviations[:, 0], deviations[:, 1]
    n = len(values)
    between = (first.T @ second + second.T @ first) / (2 * n)
    change = (first - second) / np.sqrt(2)
    between_sessions = change.T @ change / n
    apart = halves[:, :, 0] - halves[:, :, 1]
    apart = np.clip(apart, -8 * spread, 8 * spread).reshape(-1, values.shape[2])
    apart[~np.isfinite(apart)] = 0.0
    # the mean of two halves has half the variance of one, a difference twice
    error = apart.T @ apart / len(apart) / 4
    return Decomposition(mean, between, between_sessions - error, error)
