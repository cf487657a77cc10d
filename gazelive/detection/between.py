"""What lies between saccades: fixations, blinks and other losses, of a whole interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.detection.findings import loss_event
from gazelive.detection.outcome import Floats, Integers
from gazelive.detection.parameters import DetectorParameters, to_samples
from gazelive.gaze.events import Blink, EventEye, Fixation

Runs = npt.NDArray[np.int64]
"""First and last index of each run, shape (n, 2)."""


def runs_of(mask: npt.NDArray[np.bool_]) -> Runs:
    """Return the runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return np.column_stack((edges[::2], edges[1::2] - 1)).astype(np.int64)


def losses(
    times_us: Integers,
    valid: npt.NDArray[np.bool_],
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
) -> tuple[Fixation, ...]:
    """Return the stretches between saccades that no loss of `fixation_gap_ms` interrupts.

    Their confidence is the share of their samples that were seen.
    """
    valid = np.isfinite(x_deg) & np.isfinite(y_deg)
    resting = np.ones(len(valid), bool)
    for first, last in saccade_samples:
        resting[first : last + 1] = False
    shortest_gap = to_samples(parameters.fixation_gap_ms, sampling_rate_hz, at_least=1)
    for first, last in runs_of(~valid):
        if last - first + 1 >= shortest_gap:
            resting[first : last + 1] = False
    shortest = parameters.shortest_fixation_ms * sampling_rate_hz / 1000.0 - 1e-9
    stretches = runs_of(resting)
    stretches = stretches[stretches[:, 1] - stretches[:, 0] + 1 >= shortest]
    n_seen = _sums(valid, stretches)
    stretches, n_seen = stretches[n_seen > 0], n_seen[n_seen > 0]
    shares = n_seen / (stretches[:, 1] - stretches[:, 0] + 1)
    mean_x = _sums(np.where(valid, x_deg, 0.0), stretches) / n_seen
    mean_y = _sums(np.where(valid, y_deg, 0.0), stretches) / n_seen
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
        for (onset_us, offset_us), x, y, share in zip(
            times_us[stretches].tolist(),
            mean_x.tolist(),
            mean_y.tolist(),
            shares.tolist(),
            strict=True,
        )
    )


def near_losses(
    saccade_samples: Runs, valid: npt.NDArray[np.bool_], near: int
) -> npt.NDArray[np.bool_]:
    """Return for each saccade whether a sample is lost in it or at most `near` samples away."""
    lost = np.flatnonzero(~valid)
    first = np.searchsorted(lost, saccade_samples[:, 0] - near)
    after = np.searchsorted(lost, saccade_samples[:, 1] + near + 1)
    return np.asarray(first < after)


def _sums(values: npt.NDArray[Any], stretches: Runs) -> Floats:
    """Return the sum over each stretch."""
    if not len(stretches):
        return np.empty(0)
    # reduceat sums from each index to the next: every other one is a stretch
    edges = np.column_stack((stretches[:, 0], stretches[:, 1] + 1)).ravel()
    padded = np.append(values, 0).astype(np.float64)
    sums: Floats = np.add.reduceat(padded, edges)[::2]
    return sums
