"""What lies between saccades: fixations, blinks and other losses, of a whole interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.detection.findings import loss_event
from gazelive.detection.outcome import Floats, Integers
from gazelive.detection.parameters import DetectorParameters, to_samples
from gazelive.detection.velocity_kernels import mean_positions
from gazelive.gaze.events import Blink, EventEye, Fixation

Runs = npt.NDArray[np.int64]
"""First and last index of each run, shape (n, 2)."""


def runs_of(mask: npt.NDArray[np.bool_]) -> Runs:
    """Return the runs of True."""
    if not mask.any():
        return np.empty((0, 2), np.int64)
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
    stretches = _between(saccade_samples, x_deg, y_deg, sampling_rate_hz, parameters)
    measures = np.empty((len(stretches), 3))
    mean_positions(x_deg, y_deg, stretches, measures)
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
            times_us[stretches].tolist(), measures.tolist(), strict=True
        )
        if share > 0.0
    )


def _between(
    saccade_samples: Runs,
    x_deg: Floats,
    y_deg: Floats,
    sampling_rate_hz: float,
    parameters: DetectorParameters,
) -> Runs:
    """Return what is neither saccade nor longer loss, if it is long enough for a fixation."""
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


def near_losses(
    saccade_samples: Runs, valid: npt.NDArray[np.bool_], near: int
) -> npt.NDArray[np.bool_]:
    """Return for each saccade whether a sample is lost in it or at most `near` samples away."""
    lost = np.flatnonzero(~valid)
    first = np.searchsorted(lost, saccade_samples[:, 0] - near)
    after = np.searchsorted(lost, saccade_samples[:, 1] + near + 1)
    return np.asarray(first < after)
