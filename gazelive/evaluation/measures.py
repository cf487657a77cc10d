"""Measures: error rates, calibration, intervals by bootstrap over viewers, paired tests.

Terms of ISO/IEC 19795-1: a *mated* probe comes from an enrolled person, a *non-mated* one from a
stranger. FPIR (false-positive identification rate) is the share of non-mated probes that are
accepted; FNIR (false-negative identification rate) is the share of mated probes that are refused
or taken for somebody else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gazelive.gaze import Flags, Floats, Integers

N_BINS = 10
N_BOOTSTRAPS = 1000
N_PERMUTATIONS = 10_000
MOST_EXACT = 13
"""Up to this many viewers all sign changes are counted."""
Interval = tuple[float, float]


def equal_error_rate(genuine: Floats, impostor: Floats) -> float:
    """Return the rate at which as many genuine scores are refused as impostors are accepted."""
    if not len(genuine) or not len(impostor):
        return float("nan")
    at = np.unique(np.concatenate((genuine, impostor)))
    refused = np.searchsorted(np.sort(genuine), at) / len(genuine)
    accepted = 1 - np.searchsorted(np.sort(impostor), at) / len(impostor)
    best = int(np.argmin(np.abs(refused - accepted)))
    return float((refused[best] + accepted[best]) / 2)


def verification_error_rate(log_posteriors: Floats, truth: Integers) -> float:
    """Return the equal error rate of claims "this is X" for every enrolled X."""
    own = np.zeros(log_posteriors.shape, bool)
    own[np.arange(len(truth)), truth] = True
    return equal_error_rate(log_posteriors[own], log_posteriors[~own])


def calibration_bins(confidence: Floats, right: Flags) -> list[tuple[float, float, int]]:
    """Return mean confidence, accuracy and count of each of ten equal bins that has probes."""
    bins = np.minimum((confidence * N_BINS).astype(np.int64), N_BINS - 1)
    return [
        (
            float(confidence[bins == b].mean()),
            float(right[bins == b].mean()),
            int((bins == b).sum()),
        )
        for b in np.unique(bins)
    ]


def calibration_error(confidence: Floats, right: Flags) -> float:
    """Return the expected calibration error (ECE) of the leading posterior, ten equal bins."""
    if not len(right):
        return float("nan")
    bins = calibration_bins(confidence, right)
    return sum(n * abs(claimed - true) for claimed, true, n in bins) / len(right)


def calibration_interval(
    confidence: Floats, right: Flags, viewers: Integers, seed: int = 0
) -> Interval:
    """Return the 95 % interval of the ECE, by bootstrap over viewers.

    Viewers are drawn with all their probes: probes of one person are not independent.
    """
    names, codes = np.unique(viewers, return_inverse=True)
    bins = np.minimum((confidence * N_BINS).astype(np.int64), N_BINS - 1)
    excess = np.zeros((len(names), N_BINS))
    np.add.at(excess, (codes, bins), confidence - right)
    n_probes = np.bincount(codes)
    rng = np.random.default_rng(seed)
    times_drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), N_BOOTSTRAPS)
    errors = np.abs(times_drawn @ excess).sum(axis=1) / (times_drawn @ n_probes)
    low, high = np.percentile(errors, (2.5, 97.5))
    return float(low), float(high)


def mean_interval(per_viewer: Floats, seed: int = 0) -> Interval:
    """Return the 95 % interval of the mean of one value per viewer, by bootstrap."""
    rng = np.random.default_rng(seed)
    n = len(per_viewer)
    means = per_viewer[rng.integers(n, size=(N_BOOTSTRAPS, n))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def paired_p_value(differences: Floats, seed: int = 0) -> float:
    """Return the two-sided p of a mean difference, by changing signs at random.

    `differences` has one value per viewer. With few viewers all changes are counted.
    """
    n = len(differences)
    if n <= MOST_EXACT:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    else:
        drawn = np.random.default_rng(seed).integers(2, size=(N_PERMUTATIONS, n))
        signs = np.concatenate((np.ones((1, n), np.int64), 1 - 2 * drawn))
    means = np.abs(signs @ differences)
    return float(np.mean(means >= means[0] - 1e-12 * max(1.0, means[0])))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for several tests (Holm 1979)."""
    order = np.argsort(p_values)
    corrected = np.empty(len(p_values))
    largest = 0.0
    for rank, position in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[position]))
        corrected[position] = largest
    return [float(p) for p in corrected]


def detection_errors(
    mated: Floats, is_right: Flags, non_mated: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return thresholds with FPIR and FNIR at each, from the scores of both kinds of probes.

    A probe is accepted if its score is at least the threshold; a mated one counts as found only if
    the right viewer leads (`is_right`).
    """
    thresholds = np.unique(np.concatenate((mated, non_mated, [np.inf])))
    found = np.sort(mated[is_right])
    fpir = 1 - np.searchsorted(np.sort(non_mated), thresholds) / max(len(non_mated), 1)
    fnir = 1 - (len(found) - np.searchsorted(found, thresholds)) / max(len(mated), 1)
    return thresholds, fpir, fnir


def missed_at(fpir: Floats, fnir: Floats, rate: float) -> float:
    """Return the least FNIR with an FPIR of at most `rate`."""
    allowed = fpir <= rate
    return float(fnir[allowed].min()) if allowed.any() else 1.0
