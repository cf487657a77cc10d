"""SceneWalk's log probability and its gradient, carried forward fixation by fixation.

Beside the maps of `scenewalk_kernels` a walk here carries the relative derivatives

    ∂ ln A/∂ω_A,  ∂ ln A/∂σ_A,  ∂ ln F/∂ω_F,  ∂ ln F/∂σ_F

which, unlike ∂A and ∂F themselves, neither underflow nor need a division later. With T the
normalised window, o = e^(−ω d)·A_{t−1}/A_t and h = T/A_t the recursions are

    ∂ ln A_t/∂ω = o·(∂ ln A_{t−1}/∂ω − d) + d·e^(−ω d)·h
    ∂ ln A_t/∂σ = o·∂ ln A_{t−1}/∂σ + (1 − e^(−ω d))·h·∂ ln T/∂σ
    ∂ ln T/∂σ   = (r² − E_T[r²])/σ³

(Makowski et al. 2020, Appendix, with its misprints corrected, divided by A_t). Every sum that a
gradient needs is independent of where the next fixation falls, so `score` only looks up a cell.
"""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Floats, Integers
from gazelive.models.math_kernels import quotient, vectorised
from gazelive.models.scenewalk.slope_kernels import (
    evolve_row,
    mean_slope,
    raise_rows,
    seen_and_slope,
    window_and_slope,
)
from gazelive.models.scenewalk.value_kernels import (
    ATTENTION,
    ATTENTION_POWER,
    BLOCK_ROWS,
    C_F,
    GAMMA,
    INHIBITION,
    INHIBITION_POWER,
    LAMBDA,
    LEAST_POTENTIAL,
    LEAST_PROBABILITY,
    MASS_A,
    OMEGA_A,
    OMEGA_F,
    PEAK_F,
    POTENTIAL,
    POWER_A,
    POWER_F,
    SALIENCY,
    SIGMA_A,
    SIGMA_F,
    START_LEVEL,
    ZETA,
    Maps,
    scale_of,
    total,
)
from gazelive.system import kernel

ATTENTION_LOG, INHIBITION_LOG = 5, 6
ATTENTION_BY_RATE, ATTENTION_BY_SIGMA, INHIBITION_BY_RATE, INHIBITION_BY_SIGMA = 7, 8, 9, 10
N_MAPS = 11
"""The five of a walk, log2 A and log2 F, and the four relative derivatives."""

_WHOLE, _POSITIVE = 5, 13
N_SUMS = 21
"""The five of a walk; A^λ times (1, log2 A, ∂ω, ∂σ) and F^γ likewise, over all and over U > 0."""
_LN_2 = 0.6931471805599453


@vectorised
def add_positive_sums(maps: Maps, a: float, f: float, sums: Floats) -> None:
    """Add U and the weighted sums of A^λ and F^γ over the cells where U = a·A^λ − f·F^γ > 0."""
    attention, inhibition = maps[ATTENTION_POWER], maps[INHIBITION_POWER]
    attention_log, inhibition_log = maps[ATTENTION_LOG], maps[INHIBITION_LOG]
    attention_by_rate, attention_by_sigma = maps[ATTENTION_BY_RATE], maps[ATTENTION_BY_SIGMA]
    inhibition_by_rate, inhibition_by_sigma = maps[INHIBITION_BY_RATE], maps[INHIBITION_BY_SIGMA]
    n_rows, n_columns = attention.shape
    u, a0, a1, a2, a3, f0, f1, f2, f3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for row in range(n_rows):
        for column in range(n_columns):
            up, down = attention[row, column], inhibition[row, column]
            potential = a * up - f * down
            above = potential > 0.0
            u += potential if above else 0.0
            up = up if above else 0.0
            down = down if above else 0.0
            a0 += up
            a1 += up * attention_log[row, column]
            a2 += up * attention_by_rate[row, column]
            a3 += up * attention_by_sigma[row, column]
            f0 += down
            f1 += down * inhibition_log[row, column]
            f2 += down * inhibition_by_rate[row, column]
            f3 += down * inhibition_by_sigma[row, column]
    sums[POTENTIAL] = u
    sums[_POSITIVE] = a0
    sums[_POSITIVE + 1] = a1
    sums[_POSITIVE + 2] = a2
    sums[_POSITIVE + 3] = a3
    sums[_POSITIVE + 4] = f0
    sums[_POSITIVE + 5] = f1
    sums[_POSITIVE + 6] = f2
    sums[_POSITIVE + 7] = f3


@vectorised
def turnover(rate_hz: float, duration_s: float) -> tuple[float, float, float]:
    """Return what is kept of a map through a fixation, what is taken, and d·kept/taken."""
    keep = math.exp(-rate_hz * duration_s)
    take = -math.expm1(-rate_hz * duration_s)
    return keep, take, (duration_s * keep / take if take > 0.0 else 0.0)


@vectorised
def step(
    maps: Maps,
    sums: Floats,
    x_deg: Floats,
    y_deg: Floats,
    fixation_x_deg: float,
    fixation_y_deg: float,
    duration_s: float,
    parameters: Floats,
) -> None:
    """Let a walk with derivatives evolve through one fixation."""
    saliency, attention, inhibition = maps[SALIENCY], maps[ATTENTION], maps[INHIBITION]
    n_rows, n_columns = attention.shape
    across_a, slope_xa = np.empty(n_columns), np.empty(n_columns)
    across_f, slope_xf = np.empty(n_columns), np.empty(n_columns)
    down_a, slope_ya = np.empty(n_rows), np.empty(n_rows)
    down_f, slope_yf = np.empty(n_rows), np.empty(n_rows)
    fresh, kept = np.empty(n_columns), np.empty(n_columns)
    sigma_a, sigma_f = parameters[SIGMA_A], parameters[SIGMA_F]
    window_and_slope(x_deg, fixation_x_deg, sigma_a, across_a, slope_xa)
    window_and_slope(y_deg, fixation_y_deg, sigma_a, down_a, slope_ya)
    window_and_slope(x_deg, fixation_x_deg, sigma_f, across_f, slope_xf)
    window_and_slope(y_deg, fixation_y_deg, sigma_f, down_f, slope_yf)
    seen_a, mean_a = seen_and_slope(saliency, across_a, down_a, slope_xa, slope_ya)
    seen_f = total(across_f) * total(down_f)
    mean_f = mean_slope(across_f, slope_xf) + mean_slope(down_f, slope_yf)
    keep_a, take_a, turnover_a = turnover(parameters[OMEGA_A], duration_s)
    keep_f, take_f, turnover_f = turnover(parameters[OMEGA_F], duration_s)
    sums[MASS_A] = keep_a * sums[MASS_A] + take_a
    sums[PEAK_F] = keep_f * sums[PEAK_F] + take_f / seen_f
    lambda_, gamma = parameters[LAMBDA], parameters[GAMMA]
    shift_a, least_a = scale_of(math.log2(sums[MASS_A]), lambda_)
    shift_f, least_f = scale_of(math.log2(sums[PEAK_F]), gamma)
    sums[POTENTIAL:] = 0.0
    sums_a, sums_f = sums[_WHOLE : _WHOLE + 4], sums[_WHOLE + 4 : _WHOLE + 8]
    for first in range(0, n_rows, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, n_rows)
        for row in range(first, last):
            gain = quotient(take_a * down_a[row], seen_a)
            for column in range(n_columns):
                fresh[column] = gain * (across_a[column] * saliency[row, column])
            evolve_row(
                attention,
                maps[ATTENTION_BY_RATE],
                maps[ATTENTION_BY_SIGMA],
                row,
                fresh,
                kept,
                keep_a,
                duration_s,
                turnover_a,
                slope_xa,
                slope_ya[row] - mean_a,
            )
            gain = quotient(take_f * down_f[row], seen_f)
            for column in range(n_columns):
                fresh[column] = gain * across_f[column]
            evolve_row(
                inhibition,
                maps[INHIBITION_BY_RATE],
                maps[INHIBITION_BY_SIGMA],
                row,
                fresh,
                kept,
                keep_f,
                duration_s,
                turnover_f,
                slope_xf,
                slope_yf[row] - mean_f,
            )
        raise_rows(
            attention,
            maps[ATTENTION_LOG],
            maps[ATTENTION_POWER],
            maps[ATTENTION_BY_RATE],
            maps[ATTENTION_BY_SIGMA],
            first,
            last,
            lambda_,
            shift_a,
            least_a,
            sums_a,
        )
        raise_rows(
            inhibition,
            maps[INHIBITION_LOG],
            maps[INHIBITION_POWER],
            maps[INHIBITION_BY_RATE],
            maps[INHIBITION_BY_SIGMA],
            first,
            last,
            gamma,
            shift_f,
            least_f,
            sums_f,
        )
    sums[POWER_A], sums[POWER_F] = sums_a[0], sums_f[0]
    add_positive_sums(
        maps, quotient(1.0, sums[POWER_A]), quotient(parameters[C_F], sums[POWER_F]), sums
    )


@vectorised
def add_score(
    maps: Maps, sums: Floats, row: int, column: int, parameters: Floats, gradient: Floats
) -> float:
    """Return ln p of a cell to be fixated next and add its gradient to `gradient` (8,)."""
    uniform, zeta, c_f = 1.0 / maps[ATTENTION].size, parameters[ZETA], parameters[C_F]
    power_a, power_f, whole = sums[POWER_A], sums[POWER_F], sums[POTENTIAL]
    a = maps[ATTENTION_POWER][row, column] / power_a
    f = maps[INHIBITION_POWER][row, column] / power_f
    potential = a - c_f * f
    if whole <= LEAST_POTENTIAL:
        return math.log(uniform)  # nothing is left of U: no parameter matters
    share = max(potential, 0.0) / whole
    p = max((1 - zeta) * share + zeta * uniform, LEAST_PROBABILITY)
    gradient[ZETA] += (uniform - share) / p
    # (1 − ζ)/(p·ΣU) · (∂U(q) − U(q)/ΣU · ∂ΣU), both sums over U > 0 only
    scale = (1 - zeta) / (p * whole)
    if potential <= 0.0:
        return math.log(p)
    positive_a, positive_f = sums[_POSITIVE] / power_a, sums[_POSITIVE + 4] / power_f
    gradient[C_F] -= scale * (f - share * positive_f)
    here_a = (
        maps[ATTENTION_LOG][row, column],
        maps[ATTENTION_BY_RATE][row, column],
        maps[ATTENTION_BY_SIGMA][row, column],
    )
    here_f = (
        maps[INHIBITION_LOG][row, column],
        maps[INHIBITION_BY_RATE][row, column],
        maps[INHIBITION_BY_SIGMA][row, column],
    )
    for k in range(3):
        mean_a = sums[_WHOLE + 1 + k] / power_a
        at_cell = a * (here_a[k] - mean_a)
        at_all = sums[_POSITIVE + 1 + k] / power_a - positive_a * mean_a
        by_a = scale * (at_cell - share * at_all)
        mean_f = sums[_WHOLE + 5 + k] / power_f
        at_cell = f * (here_f[k] - mean_f)
        at_all = sums[_POSITIVE + 5 + k] / power_f - positive_f * mean_f
        by_f = -c_f * scale * (at_cell - share * at_all)
        if k == 0:
            gradient[LAMBDA] += _LN_2 * by_a
            gradient[GAMMA] += _LN_2 * by_f
        elif k == 1:
            gradient[OMEGA_A] += parameters[LAMBDA] * by_a
            gradient[OMEGA_F] += parameters[GAMMA] * by_f
        else:
            gradient[SIGMA_A] += parameters[LAMBDA] * by_a
            gradient[SIGMA_F] += parameters[GAMMA] * by_f
    return math.log(p)


@kernel
def begin(maps: Maps, sums: Floats) -> None:
    """Set a walk to its start: every cell alike. The saliency is left as it is."""
    n_cells = maps[ATTENTION].size
    for k in range(1, N_MAPS):
        maps[k][:] = 0.0
    maps[ATTENTION][:] = START_LEVEL
    maps[INHIBITION][:] = START_LEVEL
    maps[ATTENTION_POWER][:] = 1.0
    maps[INHIBITION_POWER][:] = 1.0
    sums[:] = 0.0
    sums[MASS_A], sums[PEAK_F] = n_cells * START_LEVEL, START_LEVEL
    sums[POWER_A], sums[POWER_F] = n_cells, n_cells


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
    """Let a walk with derivatives evolve through one fixation."""
    step(maps, sums, x_deg, y_deg, fixation_x_deg, fixation_y_deg, duration_s, parameters)


@kernel
def score(
    maps: Maps, sums: Floats, row: int, column: int, parameters: Floats, gradient: Floats
) -> float:
    """Return ln p of a cell to be fixated next and add its gradient to `gradient` (8,)."""
    return add_score(maps, sums, row, column, parameters, gradient)


@kernel
def scanpath_score(
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
    gradient: Floats,
) -> float:
    """Return Σ ln p(q_{t+1} | q_1 … q_t, d_1 … d_t) and write its gradient to `gradient` (8,).

    Both are exactly those of a walk which is advanced and scored fixation by fixation.
    """
    begin(maps, sums)
    gradient[:] = 0.0
    log_likelihood = 0.0
    for t in range(len(rows) - 1):
        step(
            maps,
            sums,
            x_deg,
            y_deg,
            fixation_x_deg[t],
            fixation_y_deg[t],
            durations_s[t],
            parameters,
        )
        log_likelihood += add_score(maps, sums, rows[t + 1], columns[t + 1], parameters, gradient)
    return log_likelihood
