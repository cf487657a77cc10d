"""The offline algorithm of Engbert & Kliegl, equal to the authors' R toolbox.

Engbert, R., & Kliegl, R. (2003). Microsaccades uncover the orientation of covert attention.
Vision Research, 43, 1035–1045. Engbert, R., & Mergenthaler, K. (2006). Microsaccades are
triggered by low retinal image slip. PNAS, 103, 7192–7197.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gazelive.detection.binocular import cyclopean
from gazelive.detection.events import fixations, losses, near_losses, saccade_confidence
from gazelive.detection.median_kernels import median_room, middle_two
from gazelive.detection.online.velocity_kernels import (
    elliptic_runs,
    engbert_kliegl_velocity,
    measure_runs,
)
from gazelive.detection.parameters import (
    DetectorParameters,
    EngbertKlieglParameters,
    ThresholdForm,
    check_rate,
    to_samples,
)
from gazelive.detection.result import Detection, Outcome, checked_samples, outcome_before_search
from gazelive.gaze import EventEye, Flags, Floats, Integers, Saccade

SMALLEST_DEVIATION = 1e-10
"""Below it the toolbox falls back to the standard deviation, and then gives up."""
WINDOW = 5


@dataclass(frozen=True)
class EngbertKlieglSaccades:
    """Saccades as the toolbox tabulates them; indices count from 0, last sample included."""

    onset: Integers
    offset: Integers
    peak_velocity_deg_s: Floats
    dx_deg: Floats
    dy_deg: Floats
    amplitude_x_deg: Floats
    amplitude_y_deg: Floats

    def __len__(self) -> int:
        return len(self.onset)

    def __getitem__(self, which: npt.NDArray[np.intp]) -> EngbertKlieglSaccades:
        return EngbertKlieglSaccades(
            *(getattr(self, name)[which] for name in self.__dataclass_fields__)
        )


def velocity(position_deg: npt.ArrayLike, sampling_rate_hz: float) -> Floats:
    """Return the toolbox's five-point velocity (`vecvel`, type 2) in °/s, shape (n,)."""
    position = np.ascontiguousarray(position_deg, np.float64)
    result = np.empty(len(position))
    engbert_kliegl_velocity(position, sampling_rate_hz, result)
    return result


def median_deviation(
    velocity_deg_s: Floats, form: ThresholdForm = "centred", *, room: Floats | None = None
) -> float:
    """Return the median-based standard deviation of a velocity; lost samples are left out.

    0 means that there is no deviation to speak of, by any measure. `room` is a `median_room`.
    """
    median = sum(middle_two(velocity_deg_s, room=room)) / 2.0
    if math.isnan(median):
        return 0.0
    # a square is as monotonic as its root: the middle two squares are those of the middle two
    low, high = middle_two(velocity_deg_s, median if form == "centred" else 0.0, room=room)
    variance = (low**2 + high**2) / 2.0
    if form == "2003":
        variance -= median**2
    deviation = math.sqrt(max(variance, 0.0))
    if deviation < SMALLEST_DEVIATION:
        v = velocity_deg_s[np.isfinite(velocity_deg_s)]
        deviation = float(np.sqrt(max(np.mean(v**2) - np.mean(v) ** 2, 0.0)))
    return deviation if deviation >= SMALLEST_DEVIATION else 0.0


def find_saccades(
    x_deg: Floats,
    y_deg: Floats,
    sampling_rate_hz: float,
    parameters: EngbertKlieglParameters,
) -> tuple[EngbertKlieglSaccades, tuple[float, float] | None]:
    """Return the saccades (`microsacc`) and the thresholds of x and y in °/s.

    Positions of shape (n,), NaN for lost. No thresholds mean that an axis never moves.
    """
    form, room = parameters.threshold_form, median_room(len(x_deg))
    # one axis after the other: half as much has to fit the cache
    vx = velocity(x_deg, sampling_rate_hz)
    deviation_x = median_deviation(vx, form, room=room)
    vy = velocity(y_deg, sampling_rate_hz)
    deviation_y = median_deviation(vy, form, room=room)
    if min(deviation_x, deviation_y) == 0.0:
        return _table(x_deg, y_deg, vx, vy, np.empty((0, 2), np.int64)), None
    threshold_x = parameters.threshold_noise * deviation_x
    threshold_y = parameters.threshold_noise * deviation_y
    shortest = to_samples(parameters.shortest_saccade_ms, sampling_rate_hz, at_least=1)
    runs = np.empty((len(vx) // (shortest + 1) + 2, 2), np.int64)
    n_runs = elliptic_runs(vx, vy, threshold_x, threshold_y, shortest, runs)
    return _table(x_deg, y_deg, vx, vy, runs[:n_runs]), (threshold_x, threshold_y)


def _table(x: Floats, y: Floats, vx: Floats, vy: Floats, runs: Integers) -> EngbertKlieglSaccades:
    measures = np.empty((len(runs), 5))
    measure_runs(x, y, vx, vy, runs, measures)
    return EngbertKlieglSaccades(runs[:, 0].copy(), runs[:, 1].copy(), *measures.T.copy())


def pair_eyes(
    left: EngbertKlieglSaccades, right: EngbertKlieglSaccades
) -> tuple[EngbertKlieglSaccades, EngbertKlieglSaccades]:
    """Return the saccades that both eyes made (`binsacc`), row by row.

    Saccades that overlap form a cluster; a cluster with both eyes in it is one binocular
    saccade, and each eye's largest stands for it.
    """
    pairs: list[tuple[int, int]] = []
    for first, last in _clusters(left, right):
        in_left = np.flatnonzero((left.onset >= first) & (left.offset <= last))
        in_right = np.flatnonzero((right.onset >= first) & (right.offset <= last))
        if len(in_left) and len(in_right):
            pairs.append((_largest(left, in_left), _largest(right, in_right)))
    which = np.array(pairs, np.intp).reshape(-1, 2)
    return left[which[:, 0]], right[which[:, 1]]


def _largest(saccades: EngbertKlieglSaccades, which: npt.NDArray[np.intp]) -> int:
    amplitude = np.hypot(saccades.amplitude_x_deg[which], saccades.amplitude_y_deg[which])
    return int(which[np.argmax(amplitude)])


def _clusters(left: EngbertKlieglSaccades, right: EngbertKlieglSaccades) -> list[tuple[int, int]]:
    """Return first and last sample of each stretch that is covered without a break."""
    intervals = sorted(
        (int(a), int(b))
        for eye in (left, right)
        for a, b in zip(eye.onset, eye.offset, strict=True)
    )
    clusters: list[tuple[int, int]] = []
    for first, last in intervals:
        if clusters and first <= clusters[-1][1] + 1:
            clusters[-1] = clusters[-1][0], max(last, clusters[-1][1])
        else:
            clusters.append((first, last))
    return clusters


def detect_engbert_kliegl(
    times_us: npt.ArrayLike,
    x_deg: npt.ArrayLike,
    y_deg: npt.ArrayLike,
    sampling_rate_hz: float | None,
    parameters: EngbertKlieglParameters | None = None,
    *,
    eye: EventEye = "both",
) -> Detection:
    """Find the events of a whole interval of one eye; shapes (n,), y down, NaN for lost."""
    rate = check_rate(sampling_rate_hz)
    parameters = parameters or EngbertKlieglParameters()
    times, x, y = checked_samples(times_us, x_deg, y_deg)
    problem = outcome_before_search(x, y, WINDOW)
    none = _table(x, y, x, y, np.empty((0, 2), np.int64))
    found, thresholds = (none, None) if problem else find_saccades(x, y, rate, parameters)
    if problem is None and thresholds is None:
        problem = Outcome.CONSTANT_GAZE
    return _detection(times, x, y, rate, parameters, eye, problem, found, thresholds)


def detect_engbert_kliegl_binocular(
    times_us: npt.ArrayLike,
    left_x_deg: npt.ArrayLike,
    left_y_deg: npt.ArrayLike,
    right_x_deg: npt.ArrayLike,
    right_y_deg: npt.ArrayLike,
    sampling_rate_hz: float | None,
    parameters: EngbertKlieglParameters | None = None,
) -> Detection:
    """Find what both eyes did together.

    A binocular saccade lasts from the earlier onset to the later offset, as far as gaze was seen;
    positions are those of the cyclopean gaze, which is the mean of both eyes where both are seen.
    Thresholds are those of the left eye (the right eye has its own).
    """
    rate = check_rate(sampling_rate_hz)
    parameters = parameters or EngbertKlieglParameters()
    times, lx, ly = checked_samples(times_us, left_x_deg, left_y_deg)
    _, rx, ry = checked_samples(times_us, right_x_deg, right_y_deg)
    problems = [outcome_before_search(x, y, WINDOW) for x, y in ((lx, ly), (rx, ry))]
    problem = problems[0] if problems[0] == problems[1] else Outcome.ONE_EYE_MISSING
    x, y = cyclopean(lx, ly, rx, ry, rate, times_us=times)
    found = _table(x, y, x, y, np.empty((0, 2), np.int64))
    thresholds = None
    if problem is None:
        left, thresholds = find_saccades(lx, ly, rate, parameters)
        right, right_thresholds = find_saccades(rx, ry, rate, parameters)
        if thresholds is None or right_thresholds is None:
            problem = Outcome.CONSTANT_GAZE
        left, right = pair_eyes(left, right)
        vx, vy = velocity(x, rate), velocity(y, rate)
        both = np.column_stack(
            (np.minimum(left.onset, right.onset), np.maximum(left.offset, right.offset))
        )
        both, is_seen = _seen_ends(x, both)
        found = _table(x, y, vx, vy, both)
        # where one eye comes or goes within it, the cyclopean gaze may have no velocity at all
        of_eyes = np.maximum(left.peak_velocity_deg_s, right.peak_velocity_deg_s)[is_seen]
        peaks = np.where(found.peak_velocity_deg_s > 0, found.peak_velocity_deg_s, of_eyes)
        found = replace(found, peak_velocity_deg_s=peaks)
    return _detection(times, x, y, rate, parameters, "both", problem, found, thresholds)


def _seen_ends(x: Floats, runs: Integers) -> tuple[Integers, Flags]:
    """Return runs that start and end with a sample that was seen, and which of all have any."""
    seen = np.flatnonzero(np.isfinite(x))
    first, beyond = np.searchsorted(seen, runs[:, 0]), np.searchsorted(seen, runs[:, 1] + 1)
    any_seen = first < beyond
    return np.column_stack((seen[first[any_seen]], seen[beyond[any_seen] - 1])), any_seen


def _detection(
    times: Integers,
    x: Floats,
    y: Floats,
    rate: float,
    parameters: EngbertKlieglParameters,
    eye: EventEye,
    problem: Outcome | None,
    found: EngbertKlieglSaccades,
    thresholds: tuple[float, float] | None,
) -> Detection:
    common = DetectorParameters()
    valid = np.isfinite(x) & np.isfinite(y)
    samples = np.column_stack((found.onset, found.offset))
    # the confidence was fitted in units of the adaptive detector's threshold
    unit = max(thresholds or (1.0,)) * common.threshold_noise / parameters.threshold_noise
    last_us = int(times[-1]) if len(times) else 0
    saccades = [
        Saccade(
            eye=eye,
            onset_us=onset_us,
            offset_us=offset_us,
            start_x_deg=start_x,
            start_y_deg=start_y,
            end_x_deg=end_x,
            end_y_deg=end_y,
            peak_velocity_deg_s=peak,
            confidence=saccade_confidence(peak / unit),
            detection_delay_ms=(last_us - offset_us) / 1000.0,
            near_loss=near_loss,
        )
        for onset_us, offset_us, start_x, start_y, end_x, end_y, peak, near_loss in zip(
            times[found.onset].tolist(),
            times[found.offset].tolist(),
            x[found.onset].tolist(),
            y[found.onset].tolist(),
            x[found.offset].tolist(),
            y[found.offset].tolist(),
            found.peak_velocity_deg_s.tolist(),
            near_losses(samples, valid, to_samples(common.near_loss_ms, rate)).tolist(),
            strict=True,
        )
    ]
    rests = fixations(times, x, y, samples, rate, common, eye)
    return Detection(
        method="engbert-kliegl",
        eye=eye,
        outcome=problem or (Outcome.FOUND if saccades else Outcome.NOTHING_FOUND),
        sampling_rate_hz=rate,
        parameters=parameters,
        thresholds_deg_s=thresholds,
        saccades=tuple(saccades),
        fixations=rests,
        blinks=losses(times, valid, rate, common, eye),
        saccade_samples=samples,
        rests=rests,
    )
