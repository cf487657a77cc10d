"""Measurements on gaze, the same for real and for simulated recordings.

A plain velocity-threshold detector and, per saccade and per window of fixation, what the
simulator's traits are meant to reproduce. It only has to treat both sides alike; the project's
detectors are elsewhere. Gaze is (n, 2) degrees, x to the right and y down, NaN where lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.gaze.arrays import Floats

SACCADE_FIELDS = (
    "onset_s",
    "offset_s",
    "end_x_deg",
    "end_y_deg",
    "amplitude_deg",
    "direction_rad",
    "peak_velocity_deg_s",
    "duration_s",
    "centroid",
    "curvature",
    "rebound",
    "rebound_delay_s",
    "second_swing",
    "swing_s",
    "glissade",
)
"""`centroid`: mean time of the velocity profile over the duration; `curvature`: largest deviation
to the right-hand side over amplitude; `rebound`: largest backward velocity in the 60 ms after the
saccade over its peak; `second_swing`: largest forward velocity after that over its peak;
`swing_s`: time between those two;
`glissade`: later shift of the eye along the movement over amplitude."""

LAMBDA = 6.0
SMALLEST_RUN_S = 0.010
LOSS_GUARD_S = 0.1
AFTERMATH_S = 0.06
PSD_WINDOW_S = 0.256


@dataclass(frozen=True)
class Measurements:
    """Measures of one recording."""

    saccades: dict[str, Floats]
    frequencies_hz: Floats
    spectra: Floats
    """Power spectral density of windows without saccades, (windows, 2, frequencies), deg²/Hz."""
    velocity_sd_deg_s: Floats
    """Median-based velocity noise per axis, as Engbert & Kliegl measure it."""
    step_rms_deg: float
    """RMS-S2S: root mean square distance of successive samples, median over windows of fixation."""
    drift_speeds_deg_s: Floats
    """Mean speed of windows of fixation after smoothing over 50 ms."""
    fixation_s: float
    """Time that was seen and not in a saccade."""
    losses_s: Floats
    """Durations of the gaps in the data."""
    duration_s: float


def measure(gaze: Floats, rate_hz: float, half_width_s: float) -> Measurements:
    """Measure one recording; `half_width_s` is the reach of the velocity filter."""
    velocity = slope(gaze, rate_hz, half_width_s)
    centre = np.nanmedian(velocity, axis=0)
    sigma = np.sqrt(np.nanmedian((velocity - centre) ** 2, axis=0))
    saccades = find_saccades(gaze, velocity, sigma, rate_hz)
    at_rest = _at_rest(gaze, saccades, rate_hz)
    frequencies, spectra = _spectra(gaze, at_rest, rate_hz)
    drift_speeds, step_rms = _fixation_windows(gaze, at_rest, rate_hz)
    lost = ~is_seen(gaze)
    return Measurements(
        saccades=saccades,
        frequencies_hz=frequencies,
        spectra=spectra,
        velocity_sd_deg_s=sigma,
        step_rms_deg=float(np.median(step_rms)) if len(step_rms) else math.nan,
        drift_speeds_deg_s=drift_speeds,
        fixation_s=float(at_rest.sum()) / rate_hz,
        losses_s=np.diff(runs(lost), axis=1).ravel() / rate_hz,
        duration_s=len(gaze) / rate_hz,
    )


def is_seen(gaze: Floats) -> npt.NDArray[np.bool_]:
    """Return which samples have both coordinates."""
    return np.asarray(np.isfinite(gaze).all(axis=1))


def slope(gaze: Floats, rate_hz: float, half_width_s: float) -> Floats:
    """Return the velocity in deg/s: mean slope over ± `half_width_s`, NaN where data lack."""
    reach = max(1, round(half_width_s * rate_hz))
    velocity = np.full_like(gaze, np.nan)
    total = np.zeros((len(gaze) - 2 * reach, gaze.shape[1]))
    for k in range(1, reach + 1):
        stop = len(gaze) - reach
        total += gaze[reach + k : stop + k] - gaze[reach - k : stop - k]
    velocity[reach:-reach] = total * rate_hz / (reach * (reach + 1))
    return velocity


def runs(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return start and end (exclusive) of each run of True, shape (k, 2)."""
    edges = np.diff(np.concatenate(([0], mask.astype(np.int8), [0])))
    return np.column_stack((np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)))


def find_saccades(
    gaze: Floats, velocity: Floats, sigma: Floats, rate_hz: float
) -> dict[str, Floats]:
    """Return one array per field of `SACCADE_FIELDS`."""
    with np.errstate(invalid="ignore"):
        over = ((velocity / (LAMBDA * sigma)) ** 2).sum(axis=1) > 1
    lost = ~is_seen(gaze)
    n_lost = np.concatenate(([0], np.cumsum(lost)))
    guard = round(LOSS_GUARD_S * rate_hz)
    aftermath = round(AFTERMATH_S * rate_hz)
    rows: list[tuple[float, ...]] = []
    previous_offset, previous_peak = -10 * aftermath, 0.0
    speed = np.hypot(velocity[:, 0], velocity[:, 1])
    floor = 2.0 * float(sigma.mean())
    for start, stop in runs(over):
        if stop - start < SMALLEST_RUN_S * rate_hz or start < guard or stop + 3 * guard > len(gaze):
            continue
        if n_lost[stop + guard] > n_lost[start - guard]:
            continue
        at_peak = start + int(np.argmax(speed[start:stop]))
        peak = float(speed[at_peak])
        if at_peak <= previous_offset + aftermath and peak < 0.5 * previous_peak:
            continue
        if at_peak <= previous_offset:
            continue
        unit = velocity[at_peak] / peak
        around = slice(at_peak - guard, at_peak + 2 * guard)
        row = _describe(
            gaze[around], velocity[around] @ unit, unit, guard, max(0.05 * peak, floor), rate_hz
        )
        if row is None:
            continue
        onset, offset, *rest = row
        shift = at_peak - guard
        rows.append(((shift + onset) / rate_hz, (shift + offset) / rate_hz, *rest))
        previous_offset, previous_peak = shift + math.ceil(offset), peak
    table = np.array(rows, np.float64).reshape(-1, len(SACCADE_FIELDS))
    return {name: table[:, i] for i, name in enumerate(SACCADE_FIELDS)}


def _describe(
    gaze: Floats, along: Floats, unit: Floats, at_peak: int, threshold: float, rate_hz: float
) -> tuple[float, ...] | None:
    """Describe the saccade whose velocity along its direction peaks at `at_peak`."""
    first = at_peak
    while first > 1 and along[first - 1] > threshold:
        first -= 1
    last = at_peak
    while last < len(along) - 2 and along[last + 1] > threshold:
        last += 1
    after = round(AFTERMATH_S * rate_hz)
    if first <= 1 or last + 2 * after >= len(along) or not np.isfinite(along).all():
        return None
    # threshold crossings and peak between the samples
    onset = first - (along[first] - threshold) / (along[first] - along[first - 1])
    offset = last + (along[last] - threshold) / (along[last] - along[last + 1])
    peak = _parabola_top(along, at_peak)[1]
    duration = offset - onset
    start, end = _at(gaze, onset), _at(gaze, offset)
    dx, dy = end - start
    amplitude = math.hypot(dx, dy)
    if amplitude < 0.1:
        return None
    index = np.arange(first, last + 1)
    weights = along[index]
    centroid = float(((index - onset) * weights).sum() / weights.sum() / duration)
    inside = gaze[index] - start
    aside = (-dy * inside[:, 0] + dx * inside[:, 1]) / amplitude**2
    curvature = float(aside[np.argmax(np.abs(aside))])
    tail = along[last + 1 : last + 1 + after]
    back = int(np.argmin(tail))
    delay, deepest = _parabola_top(-along, last + 1 + back)
    again, second = _parabola_top(along, last + 1 + back + int(np.argmax(tail[back:])))
    settled = gaze[last + after : last + 2 * after].mean(axis=0)
    early = gaze[last + after // 2 : last + after].mean(axis=0)
    glissade = float((settled - early) @ unit) / amplitude
    return (
        onset,
        offset,
        float(end[0]),
        float(end[1]),
        amplitude,
        math.atan2(-dy, dx),
        peak,
        duration / rate_hz,
        centroid,
        curvature,
        deepest / peak,
        (delay - at_peak) / rate_hz,
        second / peak,
        (again - delay) / rate_hz,
        glissade,
    )


def _parabola_top(values: Floats, at: int) -> tuple[float, float]:
    """Return place and height of the parabola through three neighbours."""
    if at < 1 or at + 1 >= len(values):
        return float(at), float(values[at])
    left, top, right = values[at - 1 : at + 2]
    bend = left - 2 * top + right
    if bend >= 0:
        return float(at), float(top)
    shift = 0.5 * (left - right) / bend
    shift = min(max(shift, -1.0), 1.0)
    return at + shift, float(top - 0.25 * (left - right) * shift)


def _at(gaze: Floats, where: float) -> Floats:
    below = int(where)
    return np.asarray(gaze[below] + (where - below) * (gaze[below + 1] - gaze[below]))


def _at_rest(gaze: Floats, saccades: dict[str, Floats], rate_hz: float) -> npt.NDArray[np.bool_]:
    """Say which samples are fixation: seen, away from losses and from saccades' aftermath."""
    rest = is_seen(gaze)
    guard = round(LOSS_GUARD_S * rate_hz)
    for start, stop in runs(~rest):
        rest[max(0, start - guard) : stop + guard] = False
    for onset_s, offset_s in zip(saccades["onset_s"], saccades["offset_s"], strict=True):
        start = int((onset_s - 0.01) * rate_hz)
        rest[max(0, start) : int((offset_s + AFTERMATH_S) * rate_hz) + 1] = False
    return rest


def _windows(at_rest: npt.NDArray[np.bool_], length: int) -> npt.NDArray[np.int64]:
    starts = [
        np.arange(start, stop - length + 1, length // 2)
        for start, stop in runs(at_rest)
        if stop - start >= length
    ]
    return np.concatenate(starts) if starts else np.empty(0, np.int64)


def _spectra(gaze: Floats, at_rest: npt.NDArray[np.bool_], rate_hz: float) -> tuple[Floats, Floats]:
    length = round(PSD_WINDOW_S * rate_hz)
    taper = np.hanning(length)
    starts = _windows(at_rest, length)
    parts = gaze[starts[:, np.newaxis] + np.arange(length)]
    parts = (parts - parts.mean(axis=1, keepdims=True)) * taper[:, np.newaxis]
    power = np.abs(np.fft.rfft(parts, axis=1)) ** 2 / (rate_hz * (taper**2).sum())
    frequencies: Floats = np.fft.rfftfreq(length, 1 / rate_hz).astype(np.float64)
    return frequencies, np.asarray(power.transpose(0, 2, 1), np.float64)


def _fixation_windows(
    gaze: Floats, at_rest: npt.NDArray[np.bool_], rate_hz: float
) -> tuple[Floats, Floats]:
    """Return, per window of 200 ms, the mean speed after smoothing over 50 ms, and RMS-S2S."""
    length = round(0.2 * rate_hz)
    starts = _windows(at_rest, length)
    parts = gaze[starts[:, np.newaxis] + np.arange(length)]
    width = round(0.05 * rate_hz)
    summed = np.cumsum(parts, axis=1)
    smooth = (summed[:, width:] - summed[:, :-width]) / width
    speeds = np.hypot(*np.moveaxis(np.diff(smooth, axis=1), 2, 0)) * rate_hz
    steps = np.diff(parts, axis=1)
    return speeds.mean(axis=1), np.sqrt((steps**2).sum(axis=2).mean(axis=1))
