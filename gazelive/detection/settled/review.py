"""Review of the saccades of a whole interval: saccades, artefacts, and movements that are neither.

The online detector decides when a saccade ends. A review also sees what follows, the pupil and each
eye by itself, and judges every movement by these rules (docs/detection.md has the evidence):

- Movement that does not stand out from the movement around it (pursuit, drift, wobble, restless
  gaze), or is far slower than a saccade of its size, is no event.
- Movement that one of two visible eyes does not share is an artefact of the other's loss or return.
- Movement faster than any saccade, and gaze that jumps away and returns at once, is an artefact.
- Movement too slow for its size while gaze drifts fast or the pupil changes size is that of a lid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazelive.detection.events import Runs
from gazelive.detection.online.online_state import A_SACCADE, BLINK_ARTEFACT, TRACKER_JUMP, Records
from gazelive.detection.parameters import DetectorParameters, to_samples
from gazelive.detection.settled.review_kernels import find_returns, fit_both_sides, usual_speeds
from gazelive.gaze import Flags, Floats, Integers

NO_EVENT = -1
"""Verdict on a movement that is no event; the others are the kinds of a saccade."""


@dataclass(frozen=True)
class EyeTrace:
    """One eye by itself: positions in degrees and pupil size, NaN where lost; shapes (n,)."""

    x_deg: Floats
    y_deg: Floats
    pupil: Floats | None = None


def review(
    x_deg: Floats,
    y_deg: Floats,
    speed_deg_s: Floats,
    saccades: Records,
    runs: Runs,
    sampling_rate_hz: float,
    parameters: DetectorParameters,
    eyes: Sequence[EyeTrace] = (),
) -> Integers:
    """Return the verdict on each movement that the kernel called a saccade, shape (n,).

    `saccades` are its rows, `runs` their first and last sample. Positions and speed are those of
    the gaze that was searched, `eyes` those of each eye, if known.
    """
    p, rate = parameters, sampling_rate_hz
    dx = saccades["end_x_deg"] - saccades["start_x_deg"]
    dy = saccades["end_y_deg"] - saccades["start_y_deg"]
    amplitude, peak = np.hypot(dx, dy), saccades["peak_deg_s"]
    verdicts = np.full(len(runs), A_SACCADE)

    around = _surroundings(x_deg, y_deg, runs, rate, p)
    along = (around.vx * dx + around.vy * dy) / np.maximum(amplitude, 1e-9)
    own = amplitude - along * (runs[:, 1] - runs[:, 0] + 1) / rate
    drifts = own < p.review_own_fraction * amplitude
    wobbles = (amplitude < p.review_wobble * around.largest_wobble_deg) & (
        amplitude < p.review_wobble_both * around.smallest_wobble_deg
    )
    restless = (amplitude < p.review_restless_deg) & (
        _usual_speed(speed_deg_s, runs, rate, p) > p.review_restless_fraction * peak
    )
    usual = typical_peak(amplitude)
    too_slow = peak < p.review_slowest_fraction * usual
    verdicts[drifts | wobbles | restless | too_slow] = NO_EVENT

    slow = peak < p.review_slow_fraction * usual
    pupil_change = _pupil_changes(eyes, runs, rate, p)
    lid = pupil_change > p.review_pupil_fraction
    drifts_fast = np.hypot(around.vx, around.vy) > p.review_fast_drift_deg_s
    verdicts[slow & (lid | drifts_fast)] = BLINK_ARTEFACT
    verdicts[pupil_change > p.review_pupil_alone] = BLINK_ARTEFACT
    verdicts[~_all_eyes_move(eyes, dx, dy, runs)] = BLINK_ARTEFACT

    jump = np.where(lid | (saccades["near_loss"] == 1), BLINK_ARTEFACT, TRACKER_JUMP)
    if _all_too_fast(amplitude, peak):
        return verdicts
    verdicts = np.where(peak > p.review_fastest_deg_s, jump, verdicts)
    back = np.empty(len(runs), np.int64)
    longest = to_samples(p.review_return_ms, rate)
    find_returns(x_deg, y_deg, saccades, runs, longest, p.review_return_fraction, back)
    for k in np.flatnonzero((back >= 0) & (amplitude >= p.review_return_deg)).tolist():
        there_and_back = (runs[:, 0] >= runs[k, 0]) & (runs[:, 0] <= back[k])
        verdicts[there_and_back] = jump[k]
    return verdicts


def typical_peak(amplitude_deg: Floats) -> Floats:
    """Return the usual peak velocity of a saccade: the main sequence of healthy adults."""
    return 500.0 * (1.0 - np.exp(-amplitude_deg / 5.0))


def smallest_amplitude(threshold_deg_s: float) -> float:
    """Return the amplitude in degrees whose usual peak is well above a threshold."""
    share = min(PEAK_OVER_THRESHOLD * threshold_deg_s / 500.0, 0.99)
    return -5.0 * math.log(1.0 - share)


PEAK_OVER_THRESHOLD = 1.5
"""A peak so much above the threshold keeps the velocity above it for long enough."""


def _all_too_fast(amplitude_deg: Floats, peak_deg_s: Floats) -> bool:
    """Return whether most saccades are faster than any: the rate or the screen is wrong.

    Then the speed of a movement says nothing against it.
    """
    faster = peak_deg_s / np.maximum(typical_peak(amplitude_deg), 1.0)
    return bool(len(faster) >= FEWEST and np.median(faster) > TOO_FAST)


TOO_FAST = 1.6
"""Times the main sequence: hardly anybody's saccades are so fast."""
FEWEST = 5
"""Fewer saccades say nothing about all."""


@dataclass(frozen=True)
class _Surroundings:
    vx: Floats
    vy: Floats
    """Mean velocity around each run, 0 where unknown."""
    largest_wobble_deg: Floats
    smallest_wobble_deg: Floats
    """Deviation from a straight line on the worse and the better side, 0 where unknown."""


def _surroundings(
    x_deg: Floats, y_deg: Floats, runs: Runs, rate_hz: float, p: DetectorParameters
) -> _Surroundings:
    sides = np.empty((len(runs), 2, 3))
    gap, width = to_samples(p.review_gap_ms, rate_hz), to_samples(p.review_window_ms, rate_hz)
    fit_both_sides(x_deg, y_deg, runs, gap, width, rate_hz, sides)
    known = np.isfinite(sides[:, :, 2])
    n_known = np.maximum(known.sum(axis=1), 1)
    sums = np.where(known[:, :, None], sides, 0.0).sum(axis=1)
    wobble = np.where(known, sides[:, :, 2], 0.0)
    return _Surroundings(
        sums[:, 0] / n_known, sums[:, 1] / n_known, wobble.max(axis=1), wobble.min(axis=1)
    )


def _usual_speed(speed_deg_s: Floats, runs: Runs, rate_hz: float, p: DetectorParameters) -> Floats:
    """Return the usual speed on the faster side of each run, 0 where unknown."""
    both_sides = np.empty((len(runs), 2))
    gap = to_samples(p.review_restless_gap_ms, rate_hz)
    width = to_samples(p.review_restless_ms, rate_hz, at_least=1)
    usual_speeds(speed_deg_s, runs, gap, width, both_sides)
    return np.asarray(np.nan_to_num(both_sides).max(axis=1))


def _pupil_changes(
    eyes: Sequence[EyeTrace], runs: Runs, rate_hz: float, p: DetectorParameters
) -> Floats:
    """Return by how much a pupil changes size around each run, as a fraction of its smallest."""
    changes = np.zeros(len(runs))
    margin = to_samples(p.review_pupil_ms, rate_hz)
    for eye in eyes:
        if eye.pupil is None:
            continue
        size = np.where(eye.pupil > 0, eye.pupil, np.nan)
        for k, (first, last) in enumerate(runs.tolist()):
            around = size[max(0, first - margin) : last + margin + 1]
            around = around[np.isfinite(around)]
            if len(around):
                changes[k] = max(changes[k], around.max() / around.min() - 1.0)
    return changes


def _all_eyes_move(eyes: Sequence[EyeTrace], dx: Floats, dy: Floats, runs: Runs) -> Flags:
    """Return whether each eye that was seen makes its part of each movement."""
    move = np.ones(len(runs), bool)
    for eye in eyes if len(eyes) > 1 else ():
        eye_dx, eye_dy = (a[runs[:, 1]] - a[runs[:, 0]] for a in (eye.x_deg, eye.y_deg))
        share = eye_dx * dx + eye_dy * dy
        move &= ~(share < SMALLEST_SHARE * (dx * dx + dy * dy))  # NaN where the eye was not seen
    return move


SMALLEST_SHARE = 0.3
"""Of a movement of both eyes, each eye makes at least so much."""
