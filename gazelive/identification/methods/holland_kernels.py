"""Shape of a scanpath: area of its convex hull, and regions of interest."""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Floats
from gazelive.system import unchecked_kernel


@unchecked_kernel
def hull_area(x: Floats, y: Floats) -> float:
    """Return the area of the convex hull (A. M. Andrew's monotone chain, 1979)."""
    by_y = np.argsort(y, kind="mergesort")
    order = by_y[np.argsort(x[by_y], kind="mergesort")]
    hull = np.empty(2 * len(x) + 2, np.int64)
    twice = 0.0
    for turn in (1.0, -1.0):  # the lower chain, then the upper one
        n = 0
        for k in order:
            while n >= 2:
                a, b = hull[n - 2], hull[n - 1]
                cross = (x[b] - x[a]) * (y[k] - y[a]) - (y[b] - y[a]) * (x[k] - x[a])
                if turn * cross > 0:
                    break
                n -= 1
            hull[n] = k
            n += 1
        for i in range(n - 1):
            a, b = hull[i], hull[i + 1]
            twice += turn * (x[a] * y[b] - x[b] * y[a])
    return 0.5 * abs(twice)


@unchecked_kernel
def greedy_regions(x: Floats, y: Floats, radius: float) -> int:
    """Return the number of regions: a fixation joins the first whose centre is near, or opens one.

    The centre of a region is its first fixation.
    """
    centres = np.empty(len(x), np.int64)
    n = 0
    for i in range(len(x)):
        is_new = True
        for k in range(n):
            c = centres[k]
            if (x[c] - x[i]) ** 2 + (y[c] - y[i]) ** 2 < radius * radius:
                is_new = False
                break
        if is_new:
            centres[n] = i
            n += 1
    return n


@unchecked_kernel
def mean_shift_regions(x: Floats, y: Floats, width: float, most_steps: int) -> int:
    """Return the number of modes of a Gaussian kernel density, by mean shift to convergence.

    D. Comaniciu, P. Meer, "Mean shift", IEEE PAMI 2002. Modes less than half a width apart are one.
    """
    mode_x, mode_y = np.empty(len(x)), np.empty(len(x))
    n = 0
    for i in range(len(x)):
        at_x, at_y = x[i], y[i]
        for _ in range(most_steps):
            total = sum_x = sum_y = 0.0
            for j in range(len(x)):
                away = (x[j] - at_x) ** 2 + (y[j] - at_y) ** 2
                weight = math.exp(-0.5 * away / (width * width))
                total += weight
                sum_x += weight * x[j]
                sum_y += weight * y[j]
            next_x, next_y = sum_x / total, sum_y / total
            moved = abs(next_x - at_x) + abs(next_y - at_y)
            at_x, at_y = next_x, next_y
            if moved < 1e-4 * width:
                break
        is_new = True
        for k in range(n):
            if (mode_x[k] - at_x) ** 2 + (mode_y[k] - at_y) ** 2 < 0.25 * width * width:
                is_new = False
                break
        if is_new:
            mode_x[n], mode_y[n] = at_x, at_y
            n += 1
    return n
