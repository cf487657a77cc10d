"""SceneWalk's equations on plain arrays.

Maps are (rows, columns) float64 over the cells of an image; `x_deg` (columns) and `y_deg` (rows)
are the cells' centres. `parameters` is the vector of `scenewalk.SceneWalkParameters.to_array`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gazelive.compilation import kernel

Floats = npt.NDArray[np.float64]

OMEGA_A, OMEGA_F, SIGMA_A, SIGMA_F, GAMMA, LAMBDA, C_F, ZETA = range(8)
N_PARAMETERS = 8
START_LEVEL = 2.220446049250313e-16
"""A₀ and F₀ in every cell, as in the public reference model."""
LOG_FLOOR = -690.0
"""Least ln A and ln F: a far cell under a narrow window would underflow to 0."""


@kernel
def window(centres_deg: Floats, fixation_deg: float, sigma_deg: float, out: Floats) -> None:
    """Write one axis of a Gaussian window, scaled so that its largest value is 1.

    The scale cancels when the window is normalised; without it a narrow window between two cells
    would be 0 everywhere.
    """
    nearest = np.inf
    for i in range(len(centres_deg)):
        nearest = min(nearest, (centres_deg[i] - fixation_deg) ** 2)
    for i in range(len(centres_deg)):
        excess = (centres_deg[i] - fixation_deg) ** 2 - nearest
        out[i] = math.exp(-excess / (2 * sigma_deg * sigma_deg))


@kernel
def advance_maps(
    attention: Floats,
    inhibition: Floats,
    saliency: Floats,
    x_deg: Floats,
    y_deg: Floats,
    fixation_x_deg: float,
    fixation_y_deg: float,
    duration_s: float,
    parameters: Floats,
) -> None:
    """Let A and F evolve in place through one fixation (Equations 16 and 17, corrected)."""
    n_rows, n_columns = attention.shape
    across_a, down_a = np.empty(n_columns), np.empty(n_rows)
    across_f, down_f = np.empty(n_columns), np.empty(n_rows)
    window(x_deg, fixation_x_deg, parameters[SIGMA_A], across_a)
    window(y_deg, fixation_y_deg, parameters[SIGMA_A], down_a)
    window(x_deg, fixation_x_deg, parameters[SIGMA_F], across_f)
    window(y_deg, fixation_y_deg, parameters[SIGMA_F], down_f)
    sum_a = 0.0
    for row in range(n_rows):
        along = 0.0
        for column in range(n_columns):
            along += across_a[column] * saliency[row, column]
        sum_a += down_a[row] * along
    sum_f = across_f.sum() * down_f.sum()
    keep_a = math.exp(-parameters[OMEGA_A] * duration_s)
    keep_f = math.exp(-parameters[OMEGA_F] * duration_s)
    for row in range(n_rows):
        gain_a = (1 - keep_a) * down_a[row] / sum_a
        gain_f = (1 - keep_f) * down_f[row] / sum_f
        for column in range(n_columns):
            attention[row, column] = (
                keep_a * attention[row, column] + gain_a * across_a[column] * saliency[row, column]
            )
            inhibition[row, column] = keep_f * inhibition[row, column] + gain_f * across_f[column]


@kernel
def powered(map_: Floats, exponent: float, out: Floats) -> None:
    """Write map^exponent / Σ map^exponent."""
    n_rows, n_columns = map_.shape
    total = 0.0
    if exponent == 1.0:
        for row in range(n_rows):
            for column in range(n_columns):
                out[row, column] = map_[row, column]
                total += map_[row, column]
    else:
        largest = map_.max()
        log_largest = math.log(largest)
        for row in range(n_rows):
            for column in range(n_columns):
                cell = map_[row, column]
                log_cell = max(math.log(cell), LOG_FLOOR) if cell > 0 else LOG_FLOOR
                value = math.exp(exponent * (log_cell - log_largest))
                out[row, column] = value
                total += value
    for row in range(n_rows):
        for column in range(n_columns):
            out[row, column] /= total


@kernel
def next_probabilities(
    attention: Floats, inhibition: Floats, parameters: Floats, scratch: Floats, out: Floats
) -> None:
    """Write the probability of each cell to be fixated next; `scratch` is of the same shape.

    The potential U is clipped at 0 and renormalised; if nothing is left it is uniform.
    """
    n_rows, n_columns = attention.shape
    powered(attention, parameters[LAMBDA], out)
    powered(inhibition, parameters[GAMMA], scratch)
    total = 0.0
    for row in range(n_rows):
        for column in range(n_columns):
            potential = out[row, column] - parameters[C_F] * scratch[row, column]
            potential = max(potential, 0.0)
            out[row, column] = potential
            total += potential
    uniform = 1.0 / (n_rows * n_columns)
    zeta = parameters[ZETA]
    for row in range(n_rows):
        for column in range(n_columns):
            chosen = out[row, column] / total if total > 0 else uniform
            out[row, column] = (1 - zeta) * chosen + zeta * uniform


@kernel
def scanpath_log_likelihood(
    saliency: Floats,
    x_deg: Floats,
    y_deg: Floats,
    fixation_x_deg: Floats,
    fixation_y_deg: Floats,
    durations_s: Floats,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    parameters: Floats,
) -> float:
    """Return Σ ln p(q_{t+1} | q_1 … q_t, d_1 … d_t); `rows`, `columns` are the fixated cells."""
    attention = np.full(saliency.shape, START_LEVEL)
    inhibition = np.full(saliency.shape, START_LEVEL)
    scratch = np.empty(saliency.shape)
    probabilities = np.empty(saliency.shape)
    log_likelihood = 0.0
    for t in range(len(rows) - 1):
        advance_maps(
            attention,
            inhibition,
            saliency,
            x_deg,
            y_deg,
            fixation_x_deg[t],
            fixation_y_deg[t],
            durations_s[t],
            parameters,
        )
        next_probabilities(attention, inhibition, parameters, scratch, probabilities)
        log_likelihood += math.log(probabilities[rows[t + 1], columns[t + 1]])
    return log_likelihood


@kernel
def cell_at(weights: Floats, fraction: float) -> tuple[int, int]:
    """Return row and column of the cell in which the sum of `weights` passes `fraction` of all."""
    n_rows, n_columns = weights.shape
    along = np.zeros(n_rows)
    for row in range(n_rows):
        for column in range(n_columns):
            along[row] += weights[row, column]
    share = fraction * along.sum()
    chosen_row, chosen_column = 0, 0
    running = 0.0
    for row in range(n_rows):
        if along[row] > 0:
            chosen_row = row
        running += along[row]
        if running > share:
            break
    running -= along[chosen_row]
    for column in range(n_columns):
        if weights[chosen_row, column] > 0:
            chosen_column = column
        running += weights[chosen_row, column]
        if running > share:
            break
    return chosen_row, chosen_column
