"""Kernels that choose the next fixation target."""

from __future__ import annotations

import math

from gazelive.gaze import Floats
from gazelive.system import kernel

NO_TURN = 4
"""Row of the amplitude weights for a saccade that follows none."""


@kernel
def turn_of(before_dx: float, before_dy: float, dx: float, dy: float) -> int:
    """Return the turn (0 maintain, 1 right, 2 left, 3 reverse), `NO_TURN` without a direction.

    The rule of `features.turns.turn_between`, for kernels.
    """
    along = before_dx * dx + before_dy * dy
    across = before_dx * dy - before_dy * dx
    if along == 0 and across == 0:
        return NO_TURN
    if along >= abs(across):
        return 0
    if -along >= abs(across):
        return 3
    return 1 if across > 0 else 2


@kernel
def direction_of(dx: float, dy: float) -> int:
    """Return the direction (0 right, 1 up, 2 left, 3 down) of a movement, y downwards."""
    if abs(dx) >= abs(dy):
        return 0 if dx >= 0 else 2
    return 1 if dy < 0 else 3


@kernel
def weigh_by_preference(
    attraction: Floats,
    x_deg: Floats,
    y_deg: Floats,
    from_x_deg: float,
    from_y_deg: float,
    before_dx: float,
    before_dy: float,
    amplitude_weights: Floats,
    amplitude_step_deg: float,
    direction_weights: Floats,
) -> None:
    """Multiply a map (rows, columns) in place by the preferences among saccades.

    `amplitude_weights` (turns and none, amplitudes) is a table in steps of `amplitude_step_deg`;
    before_dx and before_dy are 0 for a saccade that follows none.
    """
    last = amplitude_weights.shape[1] - 1
    for row in range(attraction.shape[0]):
        dy = y_deg[row] - from_y_deg
        for column in range(attraction.shape[1]):
            dx = x_deg[column] - from_x_deg
            turn = turn_of(before_dx, before_dy, dx, dy)
            step = min(int(math.sqrt(dx * dx + dy * dy) / amplitude_step_deg + 0.5), last)
            attraction[row, column] *= (
                amplitude_weights[turn, step] * direction_weights[direction_of(dx, dy)]
            )
