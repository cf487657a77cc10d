"""The settled detection: the online detector over a whole interval, with σ of the whole.

It runs when a viewing interval has ended, live and offline alike; the same samples give the
same events. σ is computed twice: of all samples first, then of those outside the saccades found
with it, since it is the noise of a resting eye. `review` then judges each saccade; fixations and
pursuit are what lies between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gazelive.detection.events import Runs, fixations, near_losses, to_output
from gazelive.detection.online import online_kernels
from gazelive.detection.online.detector import compiled_push
from gazelive.detection.online.noise import NoiseMemory, is_noisy, noise_of_the_whole
from gazelive.detection.online.online_state import (
    A_SACCADE,
    LOSS,
    RETRACTION,
    ROW,
    SACCADE,
    Records,
    make_settings,
    make_state,
    thresholds_of,
)
from gazelive.detection.online.velocity_kernels import centred_velocity
from gazelive.detection.parameters import PRESETS, DetectorParameters, check_rate, to_samples
from gazelive.detection.result import (
    Detection,
    Method,
    Outcome,
    checked_samples,
    outcome_before_search,
)
from gazelive.detection.settled.pursuit import find_pursuit
from gazelive.detection.settled.review import NO_EVENT, EyeTrace, review
from gazelive.gaze import (
    Blink,
    EventEye,
    Fixation,
    Flags,
    Floats,
    Integers,
    Pursuit,
    Saccade,
)


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
    rate = check_rate(sampling_rate_hz)
    p = parameters or DetectorParameters()
    times, x, y = checked_samples(times_us, x_deg, y_deg)
    noise = noise_of_the_whole(times, x, y, rate, p)
    if is_noisy(x, y, noise, p):
        return detect_settled(times, x, y, rate, PRESETS["noisy"], eye=eye, eyes=eyes)
    rows = _search(times, x, y, make_settings(p, rate, noise), make_state(p, noise))
    noise = noise_of_the_whole(times, x, y, rate, p, _saccade_samples(rows, times))
    state = make_state(p, noise)
    rows = _search(times, x, y, make_settings(p, rate, noise), state)
    _flag_losses_after(rows, to_samples(p.near_loss_ms, rate))
    rows["decided_us"] = times[-1] if len(times) else 0
    half_width = to_samples(p.velocity_half_width_ms, rate, at_least=1)
    vx, vy = _velocities(x, y, rate, half_width)
    rows = _reviewed(rows, times, x, y, np.hypot(vx, vy), rate, p, eyes)
    thresholds = thresholds_of(state, p)
    calm = np.asarray((vx / thresholds[0]) ** 2 + (vy / thresholds[1]) ** 2 < 1.0)
    movements = _samples_of(rows[rows["kind"] == SACCADE], times)
    found = _found(rows, times, "settled", eye, rate, p)
    found = _with_rests(found, movements, times, x, y, calm)
    return _with_outcome(found, x, y, 2 * half_width + 1, thresholds)


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
    rate = check_rate(sampling_rate_hz)
    p = parameters or DetectorParameters()
    times, x, y = checked_samples(times_us, x_deg, y_deg)
    memory = memory or NoiseMemory()
    state = memory.begin((p, rate, eye))
    rows = _search(times, x, y, make_settings(p, rate), state)
    memory.keep(state, (p, rate, eye))
    window = 2 * to_samples(p.velocity_half_width_ms, rate, at_least=1) + 1
    found = _found(rows, times, "online", eye, rate, p)
    return _with_outcome(found, x, y, window, thresholds_of(state, p))


def _found(
    rows: Records,
    times: Integers,
    method: Method,
    eye: EventEye,
    rate: float,
    p: DetectorParameters,
) -> Detection:
    """Return the events of the kernel's rows; outcome and thresholds are those of a search."""
    outputs = [to_output(row, eye, p, 1000.0 / rate) for row in rows.tolist()]
    movements = [o for o in outputs if isinstance(o, Saccade)]
    saccades = tuple(o for o in movements if o.kind == "saccade")
    rests = tuple(o for o in outputs if isinstance(o, Fixation))
    return Detection(
        method=method,
        eye=eye,
        outcome=Outcome.FOUND if saccades else Outcome.NOTHING_FOUND,
        sampling_rate_hz=rate,
        parameters=p,
        thresholds_deg_s=None,
        saccades=saccades,
        fixations=rests,
        blinks=tuple(o for o in outputs if isinstance(o, Blink)),
        saccade_samples=_saccade_samples(rows, times),
        artefacts=tuple(o for o in movements if o.kind != "saccade"),
        rests=rests,
    )


def _with_outcome(
    found: Detection, x: Floats, y: Floats, window: int, thresholds: tuple[float, float]
) -> Detection:
    """Add the thresholds, or the reason why nothing could be searched."""
    problem = outcome_before_search(x, y, window)
    if problem is not None:
        return replace(found, outcome=problem)
    return replace(found, thresholds_deg_s=thresholds)


def _with_rests(
    found: Detection, movements: Runs, times: Integers, x: Floats, y: Floats, calm: Flags
) -> Detection:
    """Add what lies between movements: fixations and pursuit."""
    rate, eye, p = found.sampling_rate_hz, found.eye, found.parameters
    assert isinstance(p, DetectorParameters)
    rests = fixations(times, x, y, movements, rate, p, eye, calm)
    runs = find_pursuit(x, y, _samples_of_events(rests, times), rate, p)
    if not len(runs):
        return replace(found, fixations=rests, rests=rests)
    spans = np.concatenate((movements, runs))
    return replace(
        found,
        fixations=fixations(times, x, y, spans, rate, p, eye, calm),
        pursuits=tuple(_pursuit(times, x, y, first, last, eye) for first, last in runs),
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


def _reviewed(
    rows: Records,
    times: Integers,
    x: Floats,
    y: Floats,
    speed: Floats,
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
    rows["saccade_kind"][is_saccade] = review(x, y, speed, found, runs, rate, parameters, eyes)
    kept: Records = rows[rows["saccade_kind"] != NO_EVENT]
    return kept


def _velocities(x: Floats, y: Floats, rate: float, half_width: int) -> tuple[Floats, Floats]:
    vx, vy = np.empty(len(x)), np.empty(len(x))
    centred_velocity(x, half_width, rate, vx)
    centred_velocity(y, half_width, rate, vy)
    return vx, vy


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
