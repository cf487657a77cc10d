"""All features of the saccades of one stretch of gaze.

The stretch is a viewing interval or a whole block. `stream.FeatureStream` computes the same numbers
live, bit for bit, with the same kernels. Displacement, amplitude and direction are those between
the ends that the detector reports, after it has mended spikes and bridged dropouts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gazelive.detection import Detection
from gazelive.features.derivatives import DerivativeFilter, identity_filter, short_filter
from gazelive.features.identity_kernels import STEP_MS, After, Movement, Texture
from gazelive.features.kinematics_kernels import N_KINEMATICS, Kinematics
from gazelive.features.row_kernels import any_lost, bridge_short_losses, fill_rows, long_losses
from gazelive.features.turns import turns
from gazelive.features.vigor import DEFAULT_RATE_DEG, vigor_deg_s
from gazelive.gaze import Flags, Floats, Integers, Saccade

Indices = npt.NDArray[np.int64]

LONG_LOSS_MS = 12.0
"""A loss of this long ends a fixation and a chain of turns, unless it is bridged."""
BRIDGED_LOSS_MS, BRIDGED_SAMPLES = 8.0, 3
"""Losses of at most so long, or of so few samples, are bridged by a straight line for features."""
NEAR_LOSS_MS = 100.0
"""A loss so near that cannot be bridged makes the dynamics of a saccade doubtful."""


@dataclass(frozen=True)
class FeatureSettings:
    """Settings of the kernels for a sampling rate."""

    sampling_rate_hz: float
    short: DerivativeFilter
    identity: DerivativeFilter
    step: int
    """Samples in the 4 ms that identification features are counted in."""
    long_loss: int
    """Samples in a long loss."""
    bridged_loss: int
    """Samples in the longest loss that is bridged."""
    near_loss: int
    """Samples within which a longer loss counts as near."""

    @classmethod
    def at(cls, sampling_rate_hz: float) -> FeatureSettings:
        """Return the settings of a rate."""
        bridged_loss = max(BRIDGED_SAMPLES, round(BRIDGED_LOSS_MS * sampling_rate_hz / 1000))
        long_loss = math.ceil(LONG_LOSS_MS * sampling_rate_hz / 1000 - 1e-9)
        return cls(
            sampling_rate_hz,
            short_filter(sampling_rate_hz),
            identity_filter(sampling_rate_hz),
            max(1, round(STEP_MS * sampling_rate_hz / 1000)),
            max(long_loss, bridged_loss + 1),
            bridged_loss,
            round(NEAR_LOSS_MS * sampling_rate_hz / 1000),
        )


@dataclass(frozen=True)
class SaccadeFeatures:
    """Columns of n saccades in their order; NaN is masked."""

    sampling_rate_hz: float
    onset: Indices
    offset: Indices
    """First and last sample inside, as indices into the stretch."""
    follows_previous: Flags
    """False where the stretch begins or a long loss lies before."""
    turn: npt.NDArray[np.int8]
    previous_fixation_ms: Floats
    next_fixation_ms: Floats
    """Masked for the last one (cut by the end) and where a long loss lies in it."""
    lost_before: Flags
    lost_after: Flags
    """Whether a loss that is not bridged lies at most 100 ms before it (or in it), or after it."""
    kinematics: Floats
    movement: Floats
    after: Floats
    texture: Floats

    def __len__(self) -> int:
        return len(self.onset)

    def vigor_x_deg_s(self, rate_deg: float = DEFAULT_RATE_DEG) -> Floats:
        """Return the horizontal vigor with the rate b."""
        return vigor_deg_s(
            self.kinematics[:, Kinematics.DX_DEG],
            self.kinematics[:, Kinematics.PEAK_VELOCITY_X_DEG_S],
            rate_deg,
        )

    def vigor_y_deg_s(self, rate_deg: float = DEFAULT_RATE_DEG) -> Floats:
        """Return the vertical vigor with the rate b."""
        return vigor_deg_s(
            self.kinematics[:, Kinematics.DY_DEG],
            self.kinematics[:, Kinematics.PEAK_VELOCITY_Y_DEG_S],
            rate_deg,
        )


def saccade_features(
    x_deg: Floats,
    y_deg: Floats,
    onset: Indices,
    offset: Indices,
    sampling_rate_hz: float,
) -> SaccadeFeatures:
    """Return the features of saccades (inclusive indices, ascending) in a stretch of gaze.

    `x_deg`, `y_deg` are (n,) degrees, y downwards, NaN where lost.
    """
    settings = FeatureSettings.at(sampling_rate_hz)
    x, y = np.array(x_deg, np.float64), np.array(y_deg, np.float64)
    # contiguous, since a kernel is compiled anew for columns of a table: live that takes too long
    onset, offset = np.ascontiguousarray(onset, np.int64), np.ascontiguousarray(offset, np.int64)
    n = len(onset)
    follows = _follows_previous(x, y, onset, offset, settings)
    bridge_short_losses(x, y, 0, len(x), settings.bridged_loss)
    gap = np.where(follows, onset - np.roll(offset, 1), 0)
    kinematics, movement = np.empty((n, N_KINEMATICS)), np.empty((n, len(Movement)))
    after, texture = np.empty((n, len(After))), np.empty((n, len(Texture)))
    fill_rows(
        x,
        y,
        gap,
        onset,
        offset,
        settings.sampling_rate_hz,
        settings.step,
        settings.short.weights,
        settings.identity.weights,
        (kinematics, movement, after, texture),
    )
    before_ms = np.where(follows, (gap - 1) * 1000.0 / settings.sampling_rate_hz, np.nan)
    after_ms = np.append(before_ms[1:], np.nan) if n else before_ms
    return SaccadeFeatures(
        sampling_rate_hz=sampling_rate_hz,
        onset=onset,
        offset=offset,
        follows_previous=follows,
        turn=turns(kinematics[:, Kinematics.DX_DEG], kinematics[:, Kinematics.DY_DEG], follows),
        previous_fixation_ms=before_ms,
        next_fixation_ms=after_ms,
        lost_before=_any_lost(x, y, onset - settings.near_loss, offset),
        lost_after=_any_lost(x, y, offset, offset + settings.near_loss),
        kinematics=kinematics,
        movement=movement,
        after=after,
        texture=texture,
    )


def _follows_previous(
    x: Floats, y: Floats, onset: Indices, offset: Indices, settings: FeatureSettings
) -> Flags:
    found = np.empty(len(x), np.int64)
    n_found, _ = long_losses(x, y, 0, 0, settings.long_loss, found)
    lost_before = np.searchsorted(found[:n_found], onset)
    lost_before_previous = np.searchsorted(found[:n_found], offset)
    follows = np.zeros(len(onset), dtype=bool)
    follows[1:] = lost_before[1:] == lost_before_previous[:-1]
    return follows


def _any_lost(x: Floats, y: Floats, first: Indices, last: Indices) -> Flags:
    """Return for each saccade whether `any_lost` in its samples `first` … `last`."""
    return np.array([any_lost(x, y, a, b) for a, b in zip(first, last, strict=True)], bool)


@dataclass(frozen=True)
class AnalysedGaze:
    """Events and features of a stretch of gaze."""

    times_us: Integers
    x_deg: Floats
    y_deg: Floats
    detection: Detection
    features: SaccadeFeatures


Ends = tuple[float, float, float, float]
"""x and y of the start, x and y of the end, in degrees."""


def ends_of(saccade: Saccade) -> Ends:
    """Return the ends that a detector reports."""
    return saccade.start_x_deg, saccade.start_y_deg, saccade.end_x_deg, saccade.end_y_deg


def put_ends(kinematics: Floats, ends: Ends) -> None:
    """Write displacement, amplitude and direction between the ends into a kinematics row."""
    start_x, start_y, end_x, end_y = ends
    dx, dy = end_x - start_x, end_y - start_y
    amplitude = math.hypot(dx, dy)
    kinematics[Kinematics.DX_DEG], kinematics[Kinematics.DY_DEG] = dx, dy
    kinematics[Kinematics.AMPLITUDE_DEG] = amplitude
    kinematics[Kinematics.DIRECTION_DEG] = (
        math.degrees(math.atan2(0.0 - dy, dx)) if amplitude > 0 else np.nan  # left is 180, not −180
    )


def between_ends(features: SaccadeFeatures, saccades: Sequence[Saccade]) -> SaccadeFeatures:
    """Return features whose displacements and turns are those between the reported ends."""
    kinematics = features.kinematics.copy()
    for row, saccade in zip(kinematics, saccades, strict=True):
        put_ends(row, ends_of(saccade))
    return replace(
        features,
        kinematics=kinematics,
        turn=turns(
            kinematics[:, Kinematics.DX_DEG],
            kinematics[:, Kinematics.DY_DEG],
            features.follows_previous,
        ),
    )
