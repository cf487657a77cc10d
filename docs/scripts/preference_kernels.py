"""The likelihood of fixations under SceneWalk times a person's preferences, and its derivatives.

Given SceneWalk's maps the preferences are a conditional logit model: log p is concave in them, its
gradient is what was observed less what was expected, its curvature the covariance of the
statistics over the map. The statistics are, for each turn, 1, ln(a/5°) and the bend
a/5° − 1 − ln(a/5°); then the four directions.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gazelive.gaze.arrays import Floats
from gazelive.models.scenewalk import value_kernels as scenewalk_kernels
from gazelive.simulation.scanpath.choice_kernels import NO_TURN, direction_of, turn_of
from gazelive.system.jit import kernel

Ints = npt.NDArray[np.int64]

N_STATISTICS = 16
DIRECTION_0 = 12
REFERENCE_DEG = 5.0
SMALLEST_DEG = 0.15


@kernel
def scanpath_log_likelihood(
    saliency: Floats,
    x_deg: Floats,
    y_deg: Floats,
    fixations: Floats,
    rows: Ints,
    columns: Ints,
    scenewalk: Floats,
    preferences: Floats,
    gradient: Floats,
    information: Floats,
    with_derivatives: bool,
) -> tuple[float, int]:
    """Return log likelihood and number of a scanpath's saccades that have a turn.

    `fixations` (n, 3) has x and y in degrees and the duration in seconds, `rows` and `columns`
    their cells. With derivatives, gradient (16) and information (16, 16) are added to.
    """
    weights = np.empty_like(saliency)
    maps = (saliency.copy(), weights.copy(), weights.copy(), weights.copy(), weights.copy())
    totals = np.empty(scenewalk_kernels.N_SUMS)
    scenewalk_kernels.begin(maps, totals)
    log_likelihood, n_saccades = 0.0, 0
    for t in range(len(rows) - 1):
        x, y, duration_s = fixations[t]
        scenewalk_kernels.advance(maps, totals, x_deg, y_deg, x, y, duration_s, scenewalk)
        if t == 0:
            continue
        before_dx, before_dy = x - fixations[t - 1, 0], y - fixations[t - 1, 1]
        if before_dx == 0 and before_dy == 0:
            continue
        scenewalk_kernels.next_probabilities(maps, totals, scenewalk, weights)
        fixated_turn, fixated_direction, fixated_weight = 0, 0, 0.0
        fixated_level, fixated_bend = 0.0, 0.0
        # per turn and direction: sums of w, w·l, w·b, w·l², w·l·b, w·b²
        sums = np.zeros((4, 4, 6))
        for row in range(len(y_deg)):
            dy = y_deg[row] - y
            for column in range(len(x_deg)):
                dx = x_deg[column] - x
                turn = turn_of(before_dx, before_dy, dx, dy)
                if turn == NO_TURN:
                    continue
                direction = direction_of(dx, dy)
                ratio = max(math.sqrt(dx * dx + dy * dy), SMALLEST_DEG) / REFERENCE_DEG
                level = math.log(ratio)
                bend = ratio - 1 - level
                weight = weights[row, column] * math.exp(
                    preferences[3 * turn]
                    + preferences[3 * turn + 1] * level
                    + preferences[3 * turn + 2] * bend
                    + preferences[DIRECTION_0 + direction]
                )
                cell = sums[turn, direction]
                cell[0] += weight
                if with_derivatives:
                    cell[1] += weight * level
                    cell[2] += weight * bend
                    cell[3] += weight * level * level
                    cell[4] += weight * level * bend
                    cell[5] += weight * bend * bend
                if row == rows[t + 1] and column == columns[t + 1]:
                    fixated_weight = weight
                    fixated_turn, fixated_direction = turn, direction
                    fixated_level, fixated_bend = level, bend
        if fixated_weight == 0:
            continue
        total = sums[:, :, 0].sum()
        log_likelihood += math.log(fixated_weight / total)
        n_saccades += 1
        if with_derivatives:
            gradient[3 * fixated_turn] += 1
            gradient[3 * fixated_turn + 1] += fixated_level
            gradient[3 * fixated_turn + 2] += fixated_bend
            gradient[DIRECTION_0 + fixated_direction] += 1
            _add_expectations(sums / total, gradient, information)
    return log_likelihood, n_saccades


@kernel
def _add_expectations(shares: Floats, gradient: Floats, information: Floats) -> None:
    mean = np.zeros(N_STATISTICS)
    second = np.zeros((N_STATISTICS, N_STATISTICS))
    for turn in range(4):
        first = 3 * turn
        for direction in range(4):
            share = shares[turn, direction]
            column = DIRECTION_0 + direction
            for k in range(3):
                mean[first + k] += share[k]
                second[first, first + k] += share[k]
                second[first + k, column] += share[k]
            second[first + 1, first + 1] += share[3]
            second[first + 1, first + 2] += share[4]
            second[first + 2, first + 2] += share[5]
            mean[column] += share[0]
            second[column, column] += share[0]
    gradient -= mean
    for i in range(N_STATISTICS):
        for j in range(i, N_STATISTICS):
            covariance = second[i, j] - mean[i] * mean[j]
            information[i, j] += covariance
            if i != j:
                information[j, i] += covariance
