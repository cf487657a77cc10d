"""Stability of traits between sessions, and reaction times: BioEye 2015.

The tasks (a jumping dot, a text) are not free viewing, so only shares and reaction times are
taken from here, no means.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from gaze_statistics import find_saccades, slope
from population_statistics import decompose
from real_recordings import BIOEYE_RATE_HZ, BIOEYE_START_UP, bioeye_recordings

from gazelive.features.turns import turns
from gazelive.gaze.arrays import Floats
from gazelive.models.gamma import fit_gamma

SMALLEST_DEG = 0.5
LONGEST_S = 2.0
JUMP_INTERVAL_S = 1.0
"""The dot jumps on every full second of the recording."""
REACTIONS_S = (0.08, 0.5)
LARGE_DEG = 2.0
GROUPS = {
    "duration": ("log mean duration", "log shape of durations"),
    "amplitude": ("log mean amplitude", "log shape of amplitudes"),
    "turn": ("logit maintain", "logit reverse", "logit sideways"),
    "direction": ("logit up", "logit left", "logit down"),
}


@dataclass(frozen=True)
class Scanpath:
    """Saccades of one recording, and the fixations after them."""

    onset_s: Floats
    duration_s: Floats
    """Of the fixation that follows; NaN where something interrupts it."""
    amplitude_deg: Floats
    turn: npt.NDArray[np.int8]
    direction: npt.NDArray[np.int64]
    """0 right, 1 up, 2 left, 3 down."""


@dataclass(frozen=True)
class Reactions:
    """Log reaction time: centre, and standard deviations of persons, sessions and occasions."""

    log_mean: float
    between_sd: float
    within_sd: float
    trial_sd: float


def scanpath_of(gaze: Floats) -> Scanpath:
    """Return the scanpath of a BioEye recording."""
    velocity = slope(gaze, BIOEYE_RATE_HZ, 0.008)
    sigma = np.sqrt(np.nanmedian((velocity - np.nanmedian(velocity, axis=0)) ** 2, axis=0))
    found = find_saccades(gaze, velocity, sigma, BIOEYE_RATE_HZ)
    large = found["amplitude_deg"] >= SMALLEST_DEG
    onset, offset = found["onset_s"][large], found["offset_s"][large]
    amplitude, angle = found["amplitude_deg"][large], found["direction_rad"][large]
    lost = np.append(0, np.cumsum(~np.isfinite(gaze).all(axis=1)))
    index = (np.array([onset, offset]) * BIOEYE_RATE_HZ).astype(int)
    pause = np.append(onset[1:] - offset[:-1], np.nan)
    whole = np.append(lost[index[0, 1:]] == lost[index[1, :-1]], False)
    pause[~whole | (pause > LONGEST_S) | (pause <= 0)] = np.nan
    follows = np.append(False, np.isfinite(pause[:-1]))
    return Scanpath(
        onset_s=onset + BIOEYE_START_UP / BIOEYE_RATE_HZ,
        duration_s=pause,
        amplitude_deg=amplitude,
        turn=turns(amplitude * np.cos(angle), -amplitude * np.sin(angle), follows),
        direction=np.round(angle / (np.pi / 2)).astype(int) % 4,
    )


def across_sessions(folder: Path) -> dict[str, float]:
    """Return, for each kind of trait, the share of the variance over sessions that is the person's.

    The median over the statistics of the kind and over both tasks. The traits of a target's
    amplitude are named `level` and `tail`.
    """
    shares: dict[str, list[float]] = {group: [] for group in GROUPS}
    for task in ("RAN", "TEX"):
        recordings = bioeye_recordings(folder / f"bioeye2015_{task}.npz")
        persons = sorted({name.split("_")[0] for name in recordings})
        paths = [[scanpath_of(recordings[f"{p}_{s}"]) for s in (1, 2)] for p in persons]
        values = np.array([[_statistics(path) for path in row] for row in paths])
        halves = np.array([[_halves(path) for path in row] for row in paths])
        parts = decompose(values, halves)
        person = np.maximum(np.diag(parts.between), 0)
        session = np.maximum(np.diag(parts.within), 0)
        share = iter((person / (person + session)).tolist())
        for group, statistics in GROUPS.items():
            shares[group] += [next(share) for _ in statistics]
    medians = {group: float(np.median(values)) for group, values in shares.items()}
    return {**medians, "level": medians["amplitude"], "tail": medians["amplitude"]}


def reactions(path: Path) -> Reactions:
    """Return how fast people answer the jumps of the dot."""
    recordings = bioeye_recordings(path)
    persons = sorted({name.split("_")[0] for name in recordings})
    logs = [[_log_reactions(recordings[f"{p}_{s}"]) for s in (1, 2)] for p in persons]
    values = np.array([[[found.mean()] for found in row] for row in logs])
    halves = np.array([[[[f[::2].mean()], [f[1::2].mean()]] for f in row] for row in logs])
    parts = decompose(values, halves)
    return Reactions(
        log_mean=float(parts.mean[0]),
        between_sd=float(np.sqrt(parts.between[0, 0])),
        within_sd=float(np.sqrt(max(parts.within[0, 0], 0.0))),
        trial_sd=float(np.mean([found.std() for row in logs for found in row])),
    )


def _log_reactions(gaze: Floats) -> Floats:
    path = scanpath_of(gaze)
    since = path.onset_s % JUMP_INTERVAL_S
    answers = (path.amplitude_deg > LARGE_DEG) & (since > REACTIONS_S[0]) & (since < REACTIONS_S[1])
    jump = np.floor(path.onset_s / JUMP_INTERVAL_S)[answers]
    first = np.unique(jump, return_index=True)[1]
    return np.log(since[answers][first])


def _halves(path: Scanpath) -> tuple[Floats, Floats]:
    """Return the statistics of alternating runs of ten saccades."""
    half = (np.arange(len(path.turn)) // 10) % 2
    return _statistics(path, half == 0), _statistics(path, half == 1)


def _statistics(path: Scanpath, use: npt.NDArray[np.bool_] | None = None) -> Floats:
    use = np.ones(len(path.turn), bool) if use is None else use
    pauses = path.duration_s[use & np.isfinite(path.duration_s)]
    amplitudes = path.amplitude_deg[use]
    turn, direction = path.turn[use & (path.turn >= 0)], path.direction[use]
    return np.array(
        [
            *_gamma_statistics(pauses),
            *_gamma_statistics(amplitudes),
            _logit(turn == 0),
            _logit(turn == 3),
            _logit((turn == 1) | (turn == 2)),
            *(_logit(direction == k) for k in (1, 2, 3)),
        ]
    )


def _gamma_statistics(values: Floats) -> tuple[float, float]:
    shape, scale = fit_gamma(values.mean(), np.log(values).mean())
    return float(np.log(shape * scale)), float(np.log(shape))


def _logit(is_kind: npt.NDArray[np.bool_]) -> float:
    share = (is_kind.sum() + 0.5) / (len(is_kind) + 1)
    return float(np.log(share / (1 - share)))
