"""SceneWalk's equations on plain arrays.

A map is (rows, columns) float64 over the cells of an image; `x_deg` (columns) and `y_deg` (rows)
are the cells' centres. A walk's maps are a tuple of `N_MAPS` arrays, its sums one array of
`N_SUMS` numbers; `begin` sets them up and `advance` takes them through a fixation, so that what
follows (`log_probability`, `next_probabilities`) needs no more than a look. `parameters` is the
vector of `scenewalk.SceneWalkParameters.to_array`.

The loops are short and touch few arrays on purpose: that is what the compiler can vectorise.
"""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Floats, Integers
from gazelive.models.math_kernels import (
    LEAST_EXP2,
    exp2,
    log2,
    quotient,
    row_loop,
    vectorised,
)
from gazelive.system import kernel

Maps = tuple[Floats, ...]
Axes = tuple[Floats, Floats, Floats, Floats, Floats, Floats]

OMEGA_A, OMEGA_F, SIGMA_A, SIGMA_F, GAMMA, LAMBDA, C_F, ZETA = range(8)
N_PARAMETERS = 8

SALIENCY, ATTENTION, INHIBITION, ATTENTION_POWER, INHIBITION_POWER = range(5)
N_MAPS = 5
"""H, A, F, and A^λ and F^γ up to a factor."""

MASS_A, PEAK_F, POWER_A, POWER_F, POTENTIAL = range(5)
N_SUMS = 5
"""ΣA, an upper bound of F, ΣA^λ and ΣF^γ up to the factors of the maps, ΣU of what is above 0."""

START_LEVEL = 2.220446049250313e-16
"""A₀ and F₀ in every cell, as in the public reference model."""
LEAST_LEVEL = 1e-300
"""Least A and F whose logarithm is taken: far cells under a narrow window underflow to 0."""
LEAST_POTENTIAL = 1e-9
"""Least ΣU that counts as something: below, A^λ and c_F·F^γ cancel but for rounding errors."""
LEAST_PROBABILITY = 1e-300
"""Least p whose logarithm is taken; only ζ = 0 comes near it."""
BLOCK_ROWS = 16
"""Rows that are taken through a step together: they fit the first-level cache."""
_LOG2_E = 1.4426950408889634


@vectorised
def window(centres_deg: Floats, fixation_deg: float, sigma_deg: float, out: Floats) -> None:
    """Write one axis of a Gaussian window, scaled so that its largest value is 1.

    The scale cancels when the window is normalised; without it a narrow window between two cells
    would be 0 everywhere.
    """
    nearest = np.inf
    for i in range(len(centres_deg)):
        nearest = min(nearest, abs(centres_deg[i] - fixation_deg))
    scale = quotient(-0.5 * _LOG2_E, sigma_deg * sigma_deg)
    for i in range(len(centres_deg)):
        distance = centres_deg[i] - fixation_deg
        exponent = scale * (distance * distance - nearest * nearest)
        out[i] = exp2(exponent if exponent > LEAST_EXP2 else LEAST_EXP2)


@vectorised
def new_axes(n_columns: int, n_rows: int) -> Axes:
    """Return room for both axes of the windows of A, of F and of the next fixation's A."""
    return (
        np.empty(n_columns),
        np.empty(n_rows),
        np.empty(n_columns),
        np.empty(n_rows),
        np.zeros(n_columns),
        np.zeros(n_rows),
    )


@vectorised
def write_window(
    x_deg: Floats,
    y_deg: Floats,
    fixation_x_deg: float,
    fixation_y_deg: float,
    sigma_deg: float,
    across: Floats,
    down: Floats,
) -> None:
    """Write both axes of a window."""
    window(x_deg, fixation_x_deg, sigma_deg, across)
    window(y_deg, fixation_y_deg, sigma_deg, down)


@vectorised
def total(values: Floats) -> float:
    """Return the sum of an axis."""
    sum_ = 0.0
    for i in range(len(values)):
        sum_ += values[i]
    return sum_


@row_loop
def glance(saliency: Floats, row: int, across: Floats) -> float:
    """Return the sum of a row of the saliency under one axis of a window."""
    along = 0.0
    for column in range(saliency.shape[1]):
        along += across[column] * saliency[row, column]
    return along


@vectorised
def seen(saliency: Floats, across: Floats, down: Floats) -> float:
    """Return the sum of the saliency under a window."""
    sum_ = 0.0
    for row in range(saliency.shape[0]):
        sum_ += down[row] * glance(saliency, row, across)
    return sum_


@vectorised
def scale_of(log2_level: float, exponent: float) -> tuple[float, float]:
    """Return what to add to exponent·log2(x), and the least x, so that 2^(…) stays in range.

    `log2_level` is that of a number at least as large as every x, and not larger by much.
    """
    least = 2.0 ** (log2_level + LEAST_EXP2 / exponent)
    return -exponent * log2_level, least if least > LEAST_LEVEL else LEAST_LEVEL


@vectorised
def raise_cells(levels: Floats, exponent: float, shift: float, least: float, out: Floats) -> float:
    """Write levels^exponent · 2^shift (without the shift for 1) and return their sum."""
    sum_ = 0.0
    if exponent == 1.0:
        for i in range(len(levels)):
            level = levels[i]
            level = level if level > least else least
            out[i] = level
            sum_ += level
        return sum_
    for i in range(len(levels)):
        level = levels[i]
        out[i] = log2(level if level > least else least)
    for i in range(len(out)):
        power = exp2(exponent * out[i] + shift)
        out[i] = power
        sum_ += power
    return sum_


@vectorised
def potential_sum(attention_power: Floats, inhibition_power: Floats, a: float, f: float) -> float:
    """Return the sum of a·attention − f·inhibition over the cells where that is above 0."""
    sum_ = 0.0
    for i in range(len(attention_power)):
        potential = a * attention_power[i] - f * inhibition_power[i]
        sum_ += potential if potential > 0.0 else 0.0
    return sum_


@vectorised
def step(
    maps: Maps,
    sums: Floats,
    axes: Axes,
    seen_now: float,
    duration_s: float,
    parameters: Floats,
) -> float:
    """Let a walk evolve through one fixation (Equations 16 to 18, corrected).

    Returns the sum of the saliency under the window of the fixation after it, which is taken
    here because the saliency is at hand.
    """
    saliency, attention, inhibition = maps[SALIENCY], maps[ATTENTION], maps[INHIBITION]
    levels_a, levels_f = attention.ravel(), inhibition.ravel()
    powers_a, powers_f = maps[ATTENTION_POWER].ravel(), maps[INHIBITION_POWER].ravel()
    across_a, down_a, across_f, down_f, across_next, down_next = axes
    n_rows, n_columns = attention.shape
    sum_f = total(across_f) * total(down_f)
    keep_a = math.exp(-parameters[OMEGA_A] * duration_s)
    keep_f = math.exp(-parameters[OMEGA_F] * duration_s)
    take_a = -math.expm1(-parameters[OMEGA_A] * duration_s)
    take_f = -math.expm1(-parameters[OMEGA_F] * duration_s)
    sums[MASS_A] = keep_a * sums[MASS_A] + take_a
    sums[PEAK_F] = keep_f * sums[PEAK_F] + take_f / sum_f
    lambda_, gamma = parameters[LAMBDA], parameters[GAMMA]
    shift_a, least_a = scale_of(math.log2(sums[MASS_A]), lambda_)
    shift_f, least_f = scale_of(math.log2(sums[PEAK_F]), gamma)
    power_a, power_f, seen_next = 0.0, 0.0, 0.0
    for first in range(0, n_rows, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, n_rows)
        for row in range(first, last):
            gain_a = quotient(take_a * down_a[row], seen_now)
            gain_f = quotient(take_f * down_f[row], sum_f)
            seen_next += down_next[row] * glance(saliency, row, across_next)
            for column in range(n_columns):
                fresh = gain_a * (across_a[column] * saliency[row, column])
                attention[row, column] = keep_a * attention[row, column] + fresh
                fresh = gain_f * across_f[column]
                inhibition[row, column] = keep_f * inhibition[row, column] + fresh
        begin_, end = first * n_columns, last * n_columns
        levels, powers = levels_a[begin_:end], powers_a[begin_:end]
        power_a += raise_cells(levels, lambda_, shift_a, least_a, powers)
        levels, powers = levels_f[begin_:end], powers_f[begin_:end]
        power_f += raise_cells(levels, gamma, shift_f, least_f, powers)
    sums[POWER_A], sums[POWER_F] = power_a, power_f
    sums[POTENTIAL] = potential_sum(
        powers_a,
        powers_f,
        quotient(1.0, power_a),
        quotient(parameters[C_F], power_f),
    )
    return seen_next


@vectorised
def probability(maps: Maps, sums: Floats, row: int, column: int, parameters: Floats) -> float:
    """Return the probability of a cell to be fixated next.

    The potential U is clipped at 0 and renormalised; if nothing is left (`LEAST_POTENTIAL`) it
    is uniform.
    """
    uniform = 1.0 / maps[ATTENTION_POWER].size
    attraction = maps[ATTENTION_POWER][row, column] / sums[POWER_A]
    repulsion = parameters[C_F] * maps[INHIBITION_POWER][row, column] / sums[POWER_F]
    potential = max(float(attraction - repulsion), 0.0)
    share = potential / sums[POTENTIAL] if sums[POTENTIAL] > LEAST_POTENTIAL else uniform
    return float((1 - parameters[ZETA]) * share + parameters[ZETA] * uniform)


@kernel
def begin(maps: Maps, sums: Floats) -> None:
    """Set a walk to its start: every cell alike. The saliency is left as it is."""
    n_cells = maps[ATTENTION].size
    maps[ATTENTION][:] = START_LEVEL
    maps[INHIBITION][:] = START_LEVEL
    maps[ATTENTION_POWER][:] = 1.0
    maps[INHIBITION_POWER][:] = 1.0
    sums[MASS_A], sums[PEAK_F] = n_cells * START_LEVEL, START_LEVEL
    sums[POWER_A], sums[POWER_F], sums[POTENTIAL] = n_cells, n_cells, 0.0


@kernel
def advance(
    maps: Maps,
    sums: Floats,
    x_deg: Floats,
    y_deg: Floats,
    fixation_x_deg: float,
    fixation_y_deg: float,
    duration_s: float,
    parameters: Floats,
) -> None:
    """Let a walk evolve through one fixation."""
    axes = new_axes(len(x_deg), len(y_deg))
    x, y = fixation_x_deg, fixation_y_deg
    write_window(x_deg, y_deg, x, y, parameters[SIGMA_A], axes[0], axes[1])
    write_window(x_deg, y_deg, x, y, parameters[SIGMA_F], axes[2], axes[3])
    seen_now = seen(maps[SALIENCY], axes[0], axes[1])
    step(maps, sums, axes, seen_now, duration_s, parameters)


@kernel
def next_probabilities(maps: Maps, sums: Floats, parameters: Floats, out: Floats) -> None:
    """Write the probability of each cell to be fixated next."""
    n_rows, n_columns = out.shape
    for row in range(n_rows):
        for column in range(n_columns):
            out[row, column] = probability(maps, sums, row, column, parameters)


@kernel
def log_probability(maps: Maps, sums: Floats, row: int, column: int, parameters: Floats) -> float:
    """Return ln p of a cell to be fixated next."""
    return math.log(max(probability(maps, sums, row, column, parameters), LEAST_PROBABILITY))


@kernel
def scanpath_log_likelihood(
    maps: Maps,
    sums: Floats,
    x_deg: Floats,
    y_deg: Floats,
    fixation_x_deg: Floats,
    fixation_y_deg: Floats,
    durations_s: Floats,
    rows: Integers,
    columns: Integers,
    parameters: Floats,
) -> float:
    """Return Σ ln p(q_{t+1} | q_1 … q_t, d_1 … d_t); `rows`, `columns` are the fixated cells.

    The sum is exactly that of a walk which is advanced fixation by fixation.
    """
    begin(maps, sums)
    log_likelihood = 0.0
    if len(rows) < 2:
        return log_likelihood
    axes = new_axes(len(x_deg), len(y_deg))
    x, y = fixation_x_deg, fixation_y_deg
    write_window(x_deg, y_deg, x[0], y[0], parameters[SIGMA_A], axes[4], axes[5])
    seen_next = seen(maps[SALIENCY], axes[4], axes[5])
    for t in range(len(rows) - 1):
        axes = (axes[4], axes[5], axes[2], axes[3], axes[0], axes[1])  # the next is now
        write_window(x_deg, y_deg, x[t], y[t], parameters[SIGMA_F], axes[2], axes[3])
        write_window(x_deg, y_deg, x[t + 1], y[t + 1], parameters[SIGMA_A], axes[4], axes[5])
        seen_next = step(maps, sums, axes, seen_next, durations_s[t], parameters)
        log_likelihood += log_probability(maps, sums, rows[t + 1], columns[t + 1], parameters)
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
