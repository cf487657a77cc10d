"""Turn types of Makowski et al. 2020, Section 3: the direction relative to the saccade before.

A turn of up to ±45° maintains the direction, one of 135° to 225° reverses it, the rest goes right
(clockwise as seen on the screen) or left. The borders themselves belong to `maintain` and
`reverse`; they are met exactly, because components are compared and no angle is computed.
"""

from __future__ import annotations

import enum

import numpy as np
import numpy.typing as npt

from gazelive.gaze import Flags, Floats


class Turn(enum.IntEnum):
    """A saccade's turn; the first saccade after a start or a loss has none."""

    NONE = -1
    MAINTAIN = 0
    RIGHT = 1
    LEFT = 2
    REVERSE = 3


def turn_between(dx_before: float, dy_before: float, dx_deg: float, dy_deg: float) -> Turn:
    """Return the turn from one displacement to the next (degrees, y downwards)."""
    if not np.isfinite(dx_before + dy_before + dx_deg + dy_deg):
        return Turn.NONE
    along = dx_before * dx_deg + dy_before * dy_deg
    across = dx_before * dy_deg - dy_before * dx_deg  # positive: clockwise, since y points down
    if along == 0 and across == 0:
        return Turn.NONE
    if along >= abs(across):
        return Turn.MAINTAIN
    if -along >= abs(across):
        return Turn.REVERSE
    return Turn.RIGHT if across > 0 else Turn.LEFT


def turns(dx_deg: Floats, dy_deg: Floats, follows_previous: Flags) -> npt.NDArray[np.int8]:
    """Return the turn of each of n saccades; `follows_previous` is False where a chain begins."""
    types = np.full(len(dx_deg), Turn.NONE, np.int8)
    for i in range(1, len(dx_deg)):
        if follows_previous[i]:
            types[i] = turn_between(dx_deg[i - 1], dy_deg[i - 1], dx_deg[i], dy_deg[i])
    return types
