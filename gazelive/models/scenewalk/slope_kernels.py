"""Parts of SceneWalk's gradient: windows with their slopes by σ, and rows of maps that evolve.

See `scenewalk_gradient_kernels` for the equations.
"""

from __future__ import annotations

from gazelive.gaze import Floats
from gazelive.models.math_kernels import exp2, log2, quotient, vectorised
from gazelive.models.scenewalk.value_kernels import LEAST_LEVEL, total, window


@vectorised
def window_and_slope(
    centres_deg: Floats, fixation_deg: float, sigma_deg: float, out: Floats, slope: Floats
) -> None:
    """Write one axis of a window, and of ∂ ln/∂σ of it before it is normalised."""
    window(centres_deg, fixation_deg, sigma_deg, out)
    scale = quotient(1.0, sigma_deg * sigma_deg * sigma_deg)
    for i in range(len(centres_deg)):
        distance = centres_deg[i] - fixation_deg
        slope[i] = scale * (distance * distance)


@vectorised
def mean_slope(window_: Floats, slope: Floats) -> float:
    """Return the mean of a slope under an axis of a window."""
    weighted = 0.0
    for i in range(len(window_)):
        weighted += window_[i] * slope[i]
    return weighted / total(window_)


@vectorised
def seen_and_slope(
    saliency: Floats, across: Floats, down: Floats, slope_x: Floats, slope_y: Floats
) -> tuple[float, float]:
    """Return the sum of the saliency under a window, and the mean slope there."""
    n_rows, n_columns = saliency.shape
    seen, sloping = 0.0, 0.0
    for row in range(n_rows):
        along, weighted = 0.0, 0.0
        for column in range(n_columns):
            glance = across[column] * saliency[row, column]
            along += glance
            weighted += glance * slope_x[column]
        seen += down[row] * along
        sloping += down[row] * (weighted + slope_y[row] * along)
    return seen, sloping / seen


@vectorised
def evolve_row(
    level: Floats,
    by_rate: Floats,
    by_sigma: Floats,
    row: int,
    fresh: Floats,
    kept: Floats,
    keep: float,
    duration_s: float,
    turnover_s: float,
    slope_x: Floats,
    slope: float,
) -> None:
    """Let a row of a map and its relative derivatives evolve by what is `fresh`.

    `fresh` (columns) is overwritten, `kept` is room. `turnover_s` is d·e^(−ω d)/(1 − e^(−ω d)).
    """
    n_columns = level.shape[1]
    for column in range(n_columns):
        old = keep * level[row, column]
        new = old + fresh[column]
        level[row, column] = new
        inverse = 1.0 / (new if new > LEAST_LEVEL else LEAST_LEVEL)
        kept[column] = old * inverse
        fresh[column] *= inverse
    for column in range(n_columns):
        before = by_rate[row, column] - duration_s
        by_rate[row, column] = kept[column] * before + turnover_s * fresh[column]
    for column in range(n_columns):
        here = fresh[column] * (slope_x[column] + slope)
        by_sigma[row, column] = kept[column] * by_sigma[row, column] + here


@vectorised
def raise_rows(
    level: Floats,
    log_: Floats,
    power: Floats,
    by_rate: Floats,
    by_sigma: Floats,
    first: int,
    last: int,
    exponent: float,
    shift: float,
    least: float,
    sums: Floats,
) -> None:
    """Write rows of log2 and of the power of a map; add the power's four weighted sums."""
    n_columns = level.shape[1]
    for row in range(first, last):
        for column in range(n_columns):
            here = level[row, column]
            log_[row, column] = log2(here if here > least else least)
    for row in range(first, last):
        for column in range(n_columns):
            power[row, column] = exp2(exponent * log_[row, column] + shift)
    sum_, by_exponent, sum_by_rate, sum_by_sigma = 0.0, 0.0, 0.0, 0.0
    for row in range(first, last):
        for column in range(n_columns):
            here = power[row, column]
            sum_ += here
            by_exponent += here * log_[row, column]
            sum_by_rate += here * by_rate[row, column]
            sum_by_sigma += here * by_sigma[row, column]
    sums[0] += sum_
    sums[1] += by_exponent
    sums[2] += sum_by_rate
    sums[3] += sum_by_sigma
