"""Axis limits: round numbers that change only when the data leave them."""

from __future__ import annotations

import math

Limits = tuple[float, float]

SHRINK_BELOW = 0.4
"""Limits shrink if the data need less than this fraction of them."""


def steady_limits(low: float, high: float, previous: Limits | None, least_span: float) -> Limits:
    """Return limits around `low` to `high`: the previous ones if they still fit.

    NaN means no data: the previous limits stay.
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return previous or (0.0, least_span)
    wanted = _round_limits(low, high, least_span)
    if previous is None:
        return wanted
    needed = (wanted[1] - wanted[0]) / (previous[1] - previous[0])
    holds = previous[0] <= low and high <= previous[1] and needed >= SHRINK_BELOW
    return previous if holds else wanted


def round_step(span: float, most: int) -> float:
    """Return the smallest of 1, 2, 5 × 10ⁿ that cuts `span` into at most `most` parts."""
    raw = span / max(most, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= raw * (1 - 1e-9))


def round_ticks(limits: Limits, most: int, margin: float = 0.0) -> list[float]:
    """Return round values inside the limits, at most about `most`.

    `margin` is the fraction at either end without ticks, where a label would be cut off.
    """
    low, high = limits
    step, free = round_step(high - low, most), margin * (high - low)
    first, last = math.ceil((low + free) / step - 1e-9), math.floor((high - free) / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def _round_limits(low: float, high: float, least_span: float) -> Limits:
    middle, span = (low + high) / 2, max((high - low) * 1.1, least_span)
    step = round_step(span, 4)
    return (
        math.floor((middle - span / 2) / step) * step,
        math.ceil((middle + span / 2) / step) * step,
    )
