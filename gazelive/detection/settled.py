"""The settled detection: the online detector over a whole interval, with σ of the whole.

It runs when a viewing interval has ended, live and offline alike; the same samples give the
same events. σ is computed twice: of all samples first, then of those outside the saccades found
with it, since it is the noise of a resting eye.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gazelive.detection import online_kernels
from gazelive.detection.events import Runs, fixations, near_losses, to_output
from gazelive.detection.median_kernels import median_room, middle_two
from gazelive.detection.noise_kernels import SMALLEST_NOISE_DEG_S
from gazelive.detection.online import compiled_push
from gazelive.detection.online_state import (
    A_SACCADE,
    LOSS,
    RETRACTION,
    ROW,
    SACCADE,
    Records,
    copy_noise,
    make_settings,
    make_state,
    thresholds_of,
)
from gazelive.detection.parameters import PRESETS, DetectorParameters, check_rate, to_samples
from gazelive.detection.pursuit import find_pursuit
from gazelive.detection.result import (
    Detection,
    Method,
    Outcome,
    checked_samples,
    outcome_before_search,
)
from gazelive.detection.review import NO_EVENT, EyeTrace, review
from gazelive.detection.velocity_kernels import centred_velocity
from gazelive.gaze import (
    Blink,
    EventEye,
    Fixation,
    Flags,
    Floats,
    Integers,
    Pursuit,
    Saccade,
    find_gaps,
)

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


def detect_settled(
    times_us: npt.ArrayLike,
    x_deg: npt.ArrayLike,
    y_deg: npt.ArrayLike,
    sampling_rate_hz: float | None,
    parameters: DetectorParameters | None = None,
    *,
    eye: EventEye = "both",
    eyes: Sequence[EyeTrace] = (),
) -> Detection:
    """Find the events of a whole interval.

    Shapes (n,); y grows downwards; NaN is a lost sample. Times must increase; a gap in them is a
    loss. Delays are those until the last sample, since nothing is settled before. `eyes` are the
    traces of each eye at the same times; with them, artefacts of lids and of a lost eye are found.
    """
    return _detect(times_us, x_deg, y_deg, sampling_rate_hz, parameters, eye, "settled", eyes=eyes)


def detect_online(
    times_us: npt.ArrayLike,
    x_deg: npt.ArrayLike,
    y_deg: npt.ArrayLike,
    sampling_rate_hz: float | None,
    parameters: DetectorParameters | None = None,
    *,
    eye: EventEye = "both",
    memory: NoiseMemory | None = None,
) -> Detection:
    """Return the events that `OnlineDetector` finds in these samples, retractions applied.

    The thresholds are those at the end. Detection starts with the noise in `memory` and updates it.
    """
    return _detect(times_us, x_deg, y_deg, sampling_rate_hz, parameters, eye, "online", memory)


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


def _detect(
    times_us: npt.ArrayLike,
    x_deg: npt.ArrayLike,
    y_deg: npt.ArrayLike,
    sampling_rate_hz: float | None,
    parameters: DetectorParameters | None,
    eye: EventEye,
    method: Method,
    memory: NoiseMemory | None = None,
    eyes: Sequence[EyeTrace] = (),
) -> Detection:
    rate = check_rate(sampling_rate_hz)
    parameters = parameters or DetectorParameters()
    times, x, y = checked_samples(times_us, x_deg, y_deg)
    half_width = to_samples(parameters.velocity_half_width_ms, rate, at_least=1)
    problem = outcome_before_search(x, y, 2 * half_width + 1)

    if method == "online":
        memory = memory or NoiseMemory()
        state = memory.begin((parameters, rate, eye))
        rows = _search(times, x, y, make_settings(parameters, rate), state)
        memory.keep(state, (parameters, rate, eye))
    else:
        noise = noise_of_the_whole(times, x, y, rate, parameters)
        if _is_noisy(x, y, noise, parameters):
            noisy = PRESETS["noisy"]
            return _detect(times, x, y, rate, noisy, eye, method, eyes=eyes)
        settings, state = make_settings(parameters, rate, noise), make_state(parameters, noise)
        rows = _search(times, x, y, settings, state)
        noise = noise_of_the_whole(times, x, y, rate, parameters, _saccade_samples(rows, times))
        settings, state = make_settings(parameters, rate, noise), make_state(parameters, noise)
        rows = _search(times, x, y, settings, state)
        _flag_losses_after(rows, to_samples(parameters.near_loss_ms, rate))
        rows["decided_us"] = times[-1] if len(times) else 0
        rows = _reviewed(rows, times, x, y, rate, parameters, eyes)
    outputs = [to_output(row, eye, parameters, 1000.0 / rate) for row in rows.tolist()]
    movements = [o for o in outputs if isinstance(o, Saccade)]
    saccades = tuple(o for o in movements if o.kind == "saccade")
    thresholds = thresholds_of(state, parameters)
    rests = found_fixations = tuple(o for o in outputs if isinstance(o, Fixation))
    pursuits: tuple[Pursuit, ...] = ()
    if method == "settled":
        calm = _below_threshold(x, y, rate, half_width, thresholds)
        spans = _samples_of(rows[rows["kind"] == SACCADE], times)
        rests = found_fixations = fixations(times, x, y, spans, rate, parameters, eye, calm)
        runs = find_pursuit(x, y, _samples_of_events(rests, times), rate, parameters)
        if len(runs):
            spans = np.concatenate((spans, runs))
            found_fixations = fixations(times, x, y, spans, rate, parameters, eye, calm)
            pursuits = tuple(_pursuit(times, x, y, first, last, eye) for first, last in runs)
    return Detection(
        method=method,
        eye=eye,
        outcome=problem or (Outcome.FOUND if saccades else Outcome.NOTHING_FOUND),
        sampling_rate_hz=rate,
        parameters=parameters,
        thresholds_deg_s=None if problem else thresholds,
        saccades=saccades,
        fixations=found_fixations,
        blinks=tuple(o for o in outputs if isinstance(o, Blink)),
        saccade_samples=_saccade_samples(rows, times),
        artefacts=tuple(o for o in movements if o.kind != "saccade"),
        pursuits=pursuits,
        rests=rests,
    )


def _samples_of_events(events: Sequence[Fixation], times: Integers) -> Runs:
    ends_us = np.array([(e.onset_us, e.offset_us) for e in events], np.int64).reshape(-1, 2)
    return np.searchsorted(times, ends_us)


def _pursuit(
    times: Integers, x: Floats, y: Floats, first: int, last: int, eye: EventEye
) -> Pursuit:
    seen = np.flatnonzero(np.isfinite(x[first : last + 1])) + first
    return Pursuit(
        eye=eye,
        onset_us=int(times[first]),
        offset_us=int(times[last]),
        start_x_deg=float(x[seen[0]]),
        start_y_deg=float(y[seen[0]]),
        end_x_deg=float(x[seen[-1]]),
        end_y_deg=float(y[seen[-1]]),
        detection_delay_ms=float(times[-1] - times[last]) / 1000.0,
    )


def _is_noisy(x: Floats, y: Floats, noise: Noise, p: DetectorParameters) -> bool:
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


def _reviewed(
    rows: Records,
    times: Integers,
    x: Floats,
    y: Floats,
    rate: float,
    parameters: DetectorParameters,
    eyes: Sequence[EyeTrace],
) -> Records:
    """Return the rows with the kinds of their saccades, without those that are no events."""
    is_saccade = rows["kind"] == SACCADE
    found = rows[is_saccade]
    runs = _samples_of(found, times)
    near = to_samples(parameters.near_loss_ms, rate)
    for eye in eyes if len(eyes) > 1 else ():  # the loss of one eye is none of the gaze
        found["near_loss"] |= near_losses(runs, np.isfinite(eye.x_deg), near)
    rows["near_loss"][is_saccade] = found["near_loss"]
    rows["saccade_kind"][is_saccade] = review(x, y, found, runs, rate, parameters, eyes)
    kept: Records = rows[rows["saccade_kind"] != NO_EVENT]
    return kept


def _below_threshold(
    x: Floats, y: Floats, rate: float, half_width: int, thresholds: tuple[float, float]
) -> Flags:
    """Return which samples have a velocity below the threshold."""
    vx, vy = np.empty(len(x)), np.empty(len(x))
    centred_velocity(x, half_width, rate, vx)
    centred_velocity(y, half_width, rate, vy)
    return np.asarray((vx / thresholds[0]) ** 2 + (vy / thresholds[1]) ** 2 < 1.0)


def _saccade_samples(rows: Records, times: Integers) -> Runs:
    """Return where the saccades are in the samples."""
    return _samples_of(rows[(rows["kind"] == SACCADE) & (rows["saccade_kind"] == A_SACCADE)], times)


def _samples_of(rows: Records, times: Integers) -> Runs:
    """Return first and last sample of each row; the kernel's own indices count gaps too."""
    return np.column_stack(
        (np.searchsorted(times, rows["onset_us"]), np.searchsorted(times, rows["offset_us"]))
    ).astype(np.int64)


def _search(
    times: Integers,
    x: Floats,
    y: Floats,
    settings: Records,
    state: Records,
) -> Records:
    """Return the rows of the kernel for these samples."""
    push = compiled_push()
    buffer = np.zeros(4096, ROW)
    parts = []
    taken = 0
    while taken < len(times):
        n_rows = push(settings, state, buffer, times[taken:], x[taken:], y[taken:])
        parts.append(buffer[:n_rows].copy())
        taken += int(state[0]["n_taken"])
    n_rows = online_kernels.finish(settings, state, buffer)
    parts.append(buffer[:n_rows].copy())
    return _without_retracted(np.concatenate(parts))


def _without_retracted(rows: Records) -> Records:
    kind, onset = rows["kind"], rows["onset"]
    retracted = (kind == SACCADE) & np.isin(onset, onset[kind == RETRACTION])
    kept: Records = rows[~retracted & (kind != RETRACTION)]
    return kept


def _flag_losses_after(rows: Records, near: int) -> None:
    """Flag saccades that a loss follows, which the online detector cannot know in time."""
    losses = np.sort(rows["onset"][rows["kind"] == LOSS])
    saccades = np.flatnonzero(rows["kind"] == SACCADE)
    next_loss = np.searchsorted(losses, rows["offset"][saccades])
    followed = next_loss < len(losses)
    at = saccades[followed]
    rows["near_loss"][at] |= losses[next_loss[followed]] - rows["offset"][at] <= near
