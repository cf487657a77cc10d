"""Four two-sample statistics of a histogram against those of all enrolled viewers, in one pass."""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Floats, SingleFloats
from gazelive.system import unchecked_kernel

N_STATISTICS = 4
"""Kolmogorov-Smirnov, Cramér-von Mises, Mann-Whitney, Ansari-Bradley."""


@unchecked_kernel
def histogram_distances(
    counts: Floats, cumulative: SingleFloats, sizes: Floats, out: Floats
) -> None:
    """Write the distances (viewers, features, 4); NaN where one of the two samples is empty.

    `counts` (features, bins) is the probe; `cumulative` (features, bins, viewers) holds the
    viewers' distribution functions F_e at the upper ends of the bins, `sizes` (features, viewers)
    their numbers of values. H is the distribution function of both samples together.

    - Kolmogorov-Smirnov: max |F_p − F_e|
    - Cramér-von Mises: √ of the mean of (F_p − F_e)² over both samples
    - Mann-Whitney: |P(viewer < probe) + ½ P(equal) − ½|
    - Ansari-Bradley: |mean over the probe of |H − ½| − ¼|

    Viewers are the inner loop: it has no dependencies, so it is vectorised.
    """
    n_features, n_bins, n_viewers = cumulative.shape
    before, share = np.empty(n_viewers), np.empty(n_viewers)
    largest, squared = np.empty(n_viewers), np.empty(n_viewers)
    below, outward = np.empty(n_viewers), np.empty(n_viewers)
    for f in range(n_features):
        m = 0.0
        for g in range(n_bins):
            m += counts[f, g]
        for e in range(n_viewers):
            share[e] = m / (m + sizes[f, e])  # of the probe in both samples
            before[e] = largest[e] = squared[e] = below[e] = outward[e] = 0.0
        reached = 0.0
        for g in range(n_bins):
            p = counts[f, g] / m
            first, reached = reached, reached + p
            for e in range(n_viewers):
                now = float(cumulative[f, g, e])
                own = share[e]
                h_first = own * first + (1 - own) * before[e]
                h_last = own * reached + (1 - own) * now
                apart = abs(reached - now)
                largest[e] = apart if apart > largest[e] else largest[e]
                squared[e] += (h_last - h_first) * apart * apart
                below[e] += p * (before[e] + now)
                outward[e] += p * abs(h_first + h_last - 1)
                before[e] = now
        for e in range(n_viewers):
            if m > 0 and sizes[f, e] > 0:
                out[e, f, 0] = largest[e]
                out[e, f, 1] = math.sqrt(squared[e] if squared[e] > 0 else 0.0)
                out[e, f, 2] = abs(0.5 * below[e] - 0.5)
                out[e, f, 3] = abs(0.5 * outward[e] - 0.25)
            else:
                out[e, f, :] = np.nan
