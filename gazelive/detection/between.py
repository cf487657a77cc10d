"""What lies between saccades: fixations, blinks and other losses, of a whole interval."""

from __future__ import annotations

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
    found = []
    for first, last in runs_of(resting):
        seen = valid[first : last + 1]
        if last - first + 1 < shortest or not seen.any():
            continue
        found.append(
            Fixation(
                eye=eye,
                onset_us=int(times_us[first]),
                offset_us=int(times_us[last]),
                x_deg=float(x_deg[first : last + 1][seen].mean()),
                y_deg=float(y_deg[first : last + 1][seen].mean()),
                confidence=float(seen.mean()),
                detection_delay_ms=float(times_us[-1] - times_us[last]) / 1000.0,
            )
        )
    return tuple(found)
