"""Events from the rows of the kernel, and the events between given saccades."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gazelive.detection.online.online_state import (
    DUPLICATE,
    FIXATION,
    LOSS,
    ONSET,
    RETRACTION,
    SACCADE,
    TIME_GAP,
    TIME_ORDER,
)
from gazelive.detection.online.velocity_kernels import mean_positions
from gazelive.detection.parameters import DetectorParameters, to_samples
from gazelive.gaze import (
    Blink,
    EventEye,
    Fixation,
    Flags,
    Floats,
    Integers,
    Quality,
    Retraction,
    Saccade,
    SaccadeKind,
    SaccadeOnset,
)

DetectorOutput = SaccadeOnset | Saccade | Fixation | Blink | Retraction | Quality

# All confidences are shares of what human coders agreed with on the labelled recordings;
# tests/benchmarks/evaluate_detection.py measures them anew.
SACCADE_LOG_ODDS = (1.8, 0.8)
"""Offset and slope over ln(peak / threshold)."""
TRIGGER_CONFIDENCE = 0.9
BLINK_CONFIDENCE = 0.97
"""That a loss with the duration of a blink was one."""
LOSS_CONFIDENCE = 0.65
"""That any other loss was none (some are parts of one: the lid flutters)."""

SACCADE_KINDS: tuple[SaccadeKind, ...] = get_args(SaccadeKind)

_PROBLEMS: dict[int, tuple[Literal["time_gap", "time_order", "duplicate"], str]] = {
    TIME_GAP: ("time_gap", "samples are missing for {gap_ms:g} ms: taken as lost"),
    TIME_ORDER: ("time_order", "a sample is {gap_ms:g} ms older than the one before"),
    DUPLICATE: ("duplicate", "a sample has the time of the one before"),
}


def saccade_confidence(strength: float) -> float:
    """Return the probability that a coder marks a saccade that peaks at so many thresholds."""
    offset, slope = SACCADE_LOG_ODDS
    return 1.0 / (1.0 + math.exp(-(offset + slope * math.log(max(strength, 1e-6)))))


def loss_event(
    first_us: int,
    last_us: int,
    decided_us: int,
    interval_ms: float,
    parameters: DetectorParameters,
    eye: EventEye,
) -> Blink:
    """Return a loss from its first to its last lost sample; its duration decides the cause."""
    duration_ms = (last_us - first_us) / 1000.0 + interval_ms
    blink = parameters.shortest_blink_ms <= duration_ms <= parameters.longest_blink_ms
    return Blink(
        eye=eye,
        onset_us=first_us,
        offset_us=last_us,
        cause="blink" if blink else "loss",
        confidence=BLINK_CONFIDENCE if blink else LOSS_CONFIDENCE,
        detection_delay_ms=(decided_us - last_us) / 1000.0,
    )


def to_output(
    row: tuple[Any, ...], eye: EventEye, parameters: DetectorParameters, interval_ms: float
) -> DetectorOutput:
    """Return the document that a row of the kernel stands for.

    `row` is a `ROW` as a plain tuple: reading a record's fields one by one is slow.
    """
    kind, _, _, onset_us, offset_us, decided_us, x, y, end_x, end_y, peak, *rest = row
    strength, near, saccade_kind, arrival_us = rest
    delay_ms = (decided_us - offset_us) / 1000.0
    if kind == ONSET:
        return SaccadeOnset(
            eye=eye,
            onset_us=onset_us,
            detection_delay_ms=(decided_us - onset_us) / 1000.0,
            confidence=TRIGGER_CONFIDENCE,
        )
    if kind == SACCADE:
        return Saccade(
            eye=eye,
            onset_us=onset_us,
            offset_us=offset_us,
            start_x_deg=x,
            start_y_deg=y,
            end_x_deg=end_x,
            end_y_deg=end_y,
            peak_velocity_deg_s=peak,
            confidence=saccade_confidence(strength),
            detection_delay_ms=delay_ms,
            near_loss=bool(near),
            kind=SACCADE_KINDS[saccade_kind],
            oscillation_ms=(offset_us - arrival_us) / 1000.0,
        )
    if kind == FIXATION:
        return Fixation(
            eye=eye,
            onset_us=onset_us,
            offset_us=offset_us,
            x_deg=x,
            y_deg=y,
            confidence=strength,
            detection_delay_ms=delay_ms,
        )
    if kind == LOSS:
        return loss_event(onset_us, offset_us, decided_us, interval_ms, parameters, eye)
    if kind == RETRACTION:
        return Retraction(
            eye=eye, onset_us=onset_us, reason="gaze was lost right after it: it was the lid"
        )
    quality, text = _PROBLEMS[kind]
    gap_ms = abs(offset_us - onset_us) / 1000.0
    return Quality(
        tracker_time_us=onset_us,
        kind=quality,
        text=text.format(gap_ms=gap_ms),
        value=gap_ms,
    )


Runs = npt.NDArray[np.int64]
"""First and last index of each run, shape (n, 2)."""


def runs_of(mask: Flags) -> Runs:
    """Return the runs of True."""
    if not mask.any():
        return np.empty((0, 2), np.int64)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return np.column_stack((edges[::2], edges[1::2] - 1)).astype(np.int64)


def losses(
    times_us: Integers,
    valid: Flags,
    sampling_rate_hz: float,
    parameters: DetectorParameters,
    eye: EventEye,
) -> tuple[Blink, ...]:
    """Return every stretch of lost samples as a blink or as another loss."""
    interval_ms = 1000.0 / sampling_rate_hz
    return tuple(
        loss_event(
            int(times_us[first]),
            int(times_us[last]),
            int(times_us[-1]),
            interval_ms,
            parameters,
            eye,
        )
        for first, last in runs_of(~valid)
    )


def fixations(
    times_us: Integers,
    x_deg: Floats,
    y_deg: Floats,
    saccade_samples: Runs,
    sampling_rate_hz: float,
    parameters: DetectorParameters,
    eye: EventEye,
    calm: Flags | None = None,
) -> tuple[Fixation, ...]:
    """Return the stretches between saccades that no loss of `fixation_gap_ms` interrupts.

    Their confidence is the share of their samples that were seen, or of those that are `calm`.
    """
    stretches = _between(saccade_samples, x_deg, y_deg, sampling_rate_hz, parameters)
    measures = np.empty((len(stretches), 3))
    mean_positions(x_deg, y_deg, stretches, measures)
    seen = measures[:, 0] > 0.0
    if calm is not None:
        so_far = np.concatenate(([0], np.cumsum(calm)))
        n_calm = so_far[stretches[:, 1] + 1] - so_far[stretches[:, 0]]
        measures[:, 0] = n_calm / (stretches[:, 1] - stretches[:, 0] + 1)
    last_us = int(times_us[-1]) if len(times_us) else 0
    return tuple(
        Fixation(
            eye=eye,
            onset_us=onset_us,
            offset_us=offset_us,
            x_deg=x,
            y_deg=y,
            confidence=share,
            detection_delay_ms=(last_us - offset_us) / 1000.0,
        )
        for (onset_us, offset_us), (share, x, y) in zip(
            times_us[stretches[seen]].tolist(), measures[seen].tolist(), strict=True
        )
    )


def _between(
    saccade_samples: Runs,
    x_deg: Floats,
    y_deg: Floats,
    sampling_rate_hz: float,
    parameters: DetectorParameters,
) -> Runs:
    """Return stretches between saccades and longer losses that are long enough for a fixation."""
    lost = runs_of(~(np.isfinite(x_deg) & np.isfinite(y_deg)))
    shortest_gap = to_samples(parameters.fixation_gap_ms, sampling_rate_hz, at_least=1)
    lost = lost[lost[:, 1] - lost[:, 0] + 1 >= shortest_gap]
    others = np.concatenate((saccade_samples, lost))
    others = others[np.argsort(others[:, 0], kind="stable")]
    stretches = np.column_stack(
        (
            np.concatenate(([0], np.maximum.accumulate(others[:, 1]) + 1)),
            np.concatenate((others[:, 0] - 1, [len(x_deg) - 1])),
        )
    )
    shortest = parameters.shortest_fixation_ms * sampling_rate_hz / 1000.0 - 1e-9
    long_enough: Runs = stretches[stretches[:, 1] - stretches[:, 0] + 1 >= max(shortest, 1)]
    return long_enough


def near_losses(saccade_samples: Runs, valid: Flags, near: int) -> Flags:
    """Return for each saccade whether a sample is lost in it or at most `near` samples away."""
    lost = np.flatnonzero(~valid)
    first = np.searchsorted(lost, saccade_samples[:, 0] - near)
    after = np.searchsorted(lost, saccade_samples[:, 1] + near + 1)
    return np.asarray(first < after)
