"""Gaps in time: steps between two samples in which samples are missing."""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze.arrays import Integers

GAP_INTERVALS = 1.5
"""A longer step, in sample intervals, is a gap: times may be off by half an interval."""
LONGEST_FILLED_S = 1.0
"""Only this much of a longer gap is filled with lost samples; no analysis looks further back."""


def longest_step_us(sampling_rate_hz: float) -> float:
    """Return the longest step between two samples that is not a gap."""
    return GAP_INTERVALS * 1e6 / sampling_rate_hz


def missing_samples(step_us: int, sampling_rate_hz: float) -> int:
    """Return how many samples are missing in a gap."""
    return math.ceil(step_us / (1e6 / sampling_rate_hz) - GAP_INTERVALS)


def find_gaps(
    times_us: Integers, sampling_rate_hz: float, before_us: int | None = None
) -> Integers:
    """Return the indices of the samples right after a gap.

    Times (n,) increase. `before_us` is the time of the sample before them, if there is one.
    """
    if not len(times_us):
        return np.empty(0, np.int64)
    first_us = times_us[0] if before_us is None else before_us
    return np.flatnonzero(np.diff(times_us, prepend=first_us) > longest_step_us(sampling_rate_hz))
