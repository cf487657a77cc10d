"""Kernel of pursuit: a straight line through the gaze around each sample."""

from __future__ import annotations

import math

import numpy as np

from gazelive.system import kernel


@kernel
def fit_lines(
    x_deg: np.ndarray, y_deg: np.ndarray, half: int, slopes: np.ndarray, shares: np.ndarray
) -> None:
    """Fit a line to 2 · half + 1 samples around each sample (at the ends: to the first or last).

    Write its slope in degrees per sample, and the share of the variance that it explains. Nothing
    is lost. Sums move with the window, so the time does not depend on its width.
    """
    n = len(x_deg)
    width = min(n, 2 * half + 1)
    sum_x = sum_y = sum_xx = sum_yy = sum_kx = sum_ky = 0.0
    for k in range(width):
        x, y = x_deg[k] - x_deg[0], y_deg[k] - y_deg[0]
        sum_x += x
        sum_y += y
        sum_xx += x * x
        sum_yy += y * y
        sum_kx += k * x
        sum_ky += k * y
    middle = 0.5 * (width - 1)
    tt = width * (width * width - 1) / 12.0
    start = 0
    for i in range(n):
        if i - half > start and start + width < n:
            x, y = x_deg[start] - x_deg[0], y_deg[start] - y_deg[0]
            new_x, new_y = x_deg[start + width] - x_deg[0], y_deg[start + width] - y_deg[0]
            sum_kx += (width - 1) * new_x - (sum_x - x)  # one position further to the front
            sum_ky += (width - 1) * new_y - (sum_y - y)
            sum_x += new_x - x
            sum_y += new_y - y
            sum_xx += new_x * new_x - x * x
            sum_yy += new_y * new_y - y * y
            start += 1
        tx, ty = sum_kx - middle * sum_x, sum_ky - middle * sum_y
        variance = sum_xx - sum_x * sum_x / width + sum_yy - sum_y * sum_y / width
        slopes[i] = math.sqrt(tx * tx + ty * ty) / tt
        shares[i] = (tx * tx + ty * ty) / tt / max(variance, 1e-12)
