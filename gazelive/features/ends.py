"""Where a saccade starts and ends: what the detector reports is what its features rest on.

The detector mends lone spikes and bridges dropouts before it says where a saccade starts and ends.
So displacement, amplitude and direction are those between the reported ends, and the amplitude is
the distance between them exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gazelive.features.kinematics_kernels import Kinematics
from gazelive.features.saccade_features import SaccadeFeatures
from gazelive.features.turns import turns
from gazelive.gaze.events import Saccade

Ends = tuple[float, float, float, float]
"""x and y of the start, x and y of the end, in degrees."""


def ends_of(saccade: Saccade) -> Ends:
    """Return the ends that a detector reports."""
    return saccade.start_x_deg, saccade.start_y_deg, saccade.end_x_deg, saccade.end_y_deg


def put_ends(kinematics: npt.NDArray[np.float64], ends: Ends) -> None:
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
