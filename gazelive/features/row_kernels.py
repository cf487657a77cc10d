"""The feature rows of many saccades at once, and the losses that break their chain."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gazelive.features.identity_kernels import (
    after_features,
    movement_features,
    texture_features,
)
from gazelive.features.kinematics_kernels import saccade_kinematics
from gazelive.gaze import Floats
from gazelive.system import kernel

Indices = npt.NDArray[np.int64]
Weights = tuple[Floats, Floats]
"""Filter weights of velocity and of acceleration."""


@kernel
def fill_identity_row(
    x: Floats,
    y: Floats,
    gap: int,
    onset: int,
    offset: int,
    rate_hz: float,
    step: int,
    weights: Weights,
    movement: Floats,
    after: Floats,
    texture: Floats,
) -> None:
    """Fill all identification features of one saccade; `gap` as for `texture_features`."""
    v_weights, a_weights = weights
    movement_features(x, y, onset, offset, rate_hz, step, v_weights, a_weights, movement)
    after_features(x, y, onset, offset, step, v_weights, after)
    texture_features(x, y, gap, onset, rate_hz, step, texture)


@kernel
def fill_rows(
    x: Floats,
    y: Floats,
    gaps: Indices,
    onsets: Indices,
    offsets: Indices,
    rate_hz: float,
    step: int,
    short: Weights,
    identity: Weights,
    rows: tuple[Floats, Floats, Floats, Floats],
) -> None:
    """Fill the rows (kinematics, movement, after, texture) of every saccade."""
    kinematics, movement, after, texture = rows
    for i in range(len(onsets)):
        onset, offset = onsets[i], offsets[i]
        saccade_kinematics(x, y, onset, offset, rate_hz, short[0], short[1], kinematics[i])
        fill_identity_row(
            x,
            y,
            gaps[i],
            onset,
            offset,
            rate_hz,
            step,
            identity,
            movement[i],
            after[i],
            texture[i],
        )


@kernel
def long_losses(
    x: Floats, y: Floats, first_index: int, run: int, shortest: int, found: Indices
) -> tuple[int, int]:
    """Find where runs of lost samples reach the length `shortest`.

    `run` is how many samples were lost in a row before these; `first_index` is the stream index
    of the first. Stream indices go to `found` (as long as the samples); returns how many there
    are, and the run at the end.
    """
    n_found = 0
    for i in range(len(x)):
        if math.isfinite(x[i]) and math.isfinite(y[i]):
            run = 0
        else:
            run += 1
            if run == shortest:
                found[n_found] = first_index + i
                n_found += 1
    return n_found, run


@kernel
def bridge_short_losses(x: Floats, y: Floats, first: int, beyond: int, longest: int) -> None:
    """Put a straight line where at most `longest` samples in a row are lost between two seen.

    Only runs that end within samples `first` … `beyond` − 1 are bridged, in place.
    """
    last_seen = -1
    for i in range(first, beyond):
        if not (math.isfinite(x[i]) and math.isfinite(y[i])):
            continue
        n_lost = i - last_seen - 1
        if last_seen >= 0 and 0 < n_lost <= longest:
            for k in range(1, n_lost + 1):
                part = k / (n_lost + 1)
                x[last_seen + k] = x[last_seen] + (x[i] - x[last_seen]) * part
                y[last_seen + k] = y[last_seen] + (y[i] - y[last_seen]) * part
        last_seen = i


@kernel
def any_lost(x: Floats, y: Floats, first: int, last: int) -> bool:
    """Return whether any of the samples `first` … `last` that exist is lost."""
    for i in range(max(first, 0), min(last + 1, len(x))):
        if not (math.isfinite(x[i]) and math.isfinite(y[i])):
            return True
    return False
