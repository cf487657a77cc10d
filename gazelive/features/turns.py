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
    displacements = (dx_before, dy_before, dx_deg, dy_deg)
    return Turn(int(_turns_between(*(np.array([one]) for one in displacements))[0]))


def turns(dx_deg: Floats, dy_deg: Floats, follows_previous: Flags) -> npt.NDArray[np.int8]:
    """Return the turn of each of n saccades; `follows_previous` is False where a chain begins."""
    types = np.full(len(dx_deg), Turn.NONE, np.int8)
    chained = np.flatnonzero(follows_previous[1:])
    types[chained + 1] = _turns_between(
        dx_deg[chained], dy_deg[chained], dx_deg[chained + 1], dy_deg[chained + 1]
    )
    return types


def _turns_between(
    dx_before: Floats, dy_before: Floats, dx_deg: Floats, dy_deg: Floats
) -> npt.NDArray[np.int8]:
    """Return the turn from each displacement to the one that follows it."""
    with np.errstate(over="ignore", invalid="ignore"):  # of nonsense positions: no turn
        along = dx_before * dx_deg + dy_before * dy_deg
        across = dx_before * dy_deg - dy_before * dx_deg  # positive: clockwise, since y points down
    is_known = np.isfinite(along) & np.isfinite(across) & ((along != 0) | (across != 0))
    found = np.where(across > 0, Turn.RIGHT, Turn.LEFT)
    found = np.where(-along >= np.abs(across), Turn.REVERSE, found)
    found = np.where(along >= np.abs(across), Turn.MAINTAIN, found)
    return np.where(is_known, found, Turn.NONE).astype(np.int8)
