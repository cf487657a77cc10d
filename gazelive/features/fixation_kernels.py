"""Columns of saccades between fixations that depend on all fixations before them."""

from __future__ import annotations

import math

from gazelive.gaze import Floats, Integers
from gazelive.system import kernel


@kernel
def write_onsets_and_returns(
    x_deg: Floats,
    y_deg: Floats,
    duration_s: Floats,
    starts: Integers,
    onset_s: Floats,
    back_deg: Floats,
    nearest_deg: Floats,
) -> None:
    """Write the columns of each saccade (fixations less scanpaths): onset and returns.

    `starts` are the positions of the scanpaths' first fixations, and the end. Distances are from
    where a saccade lands to the fixation before the one it starts from, and to the nearest of that
    and all earlier ones; the first saccade has none, and what was there stays.
    """
    saccade = 0
    for path in range(len(starts) - 1):
        first = starts[path]
        elapsed_s = 0.0
        for fixation in range(first, starts[path + 1] - 1):
            elapsed_s += duration_s[fixation]
            onset_s[saccade] = elapsed_s
            nearest = math.inf
            for earlier in range(first, fixation):
                distance = math.hypot(
                    x_deg[fixation + 1] - x_deg[earlier], y_deg[fixation + 1] - y_deg[earlier]
                )
                nearest = min(nearest, distance)
                back_deg[saccade] = distance
                nearest_deg[saccade] = nearest
            saccade += 1
