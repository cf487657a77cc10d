"""Overshoot of saccades: how far gaze goes beyond the place where it comes to rest."""

from __future__ import annotations

import numpy as np

from gazelive.features.saccades import AnalysedGaze
from gazelive.gaze import Floats

FURTHEST_MS = 20.0
"""The furthest point lies at most this long after the movement …"""
REST_MS = 40.0
"""… and the place of rest is the mean of this long after that."""


def overshoots(gaze: AnalysedGaze) -> Floats:
    """Return the overshoot of each saccade in degrees, NaN where gaze was not seen after it.

    Dynamic overshoot and post-saccadic oscillation (Kapoula et al., 1986; Nyström & Holmqvist,
    2010) both count.
    """
    rate = gaze.detection.sampling_rate_hz
    furthest, rest = (max(1, round(ms * rate / 1000)) for ms in (FURTHEST_MS, REST_MS))
    found = np.full(len(gaze.detection.saccades), np.nan)
    for k, saccade in enumerate(gaze.detection.saccades):
        start, arrival = np.searchsorted(gaze.times_us, (saccade.onset_us, saccade.arrival_us))
        dx, dy = saccade.end_x_deg - saccade.start_x_deg, saccade.end_y_deg - saccade.start_y_deg
        amplitude = np.hypot(dx, dy)
        x, y = (a[start : arrival + 1 + furthest + rest] for a in (gaze.x_deg, gaze.y_deg))
        if len(x) < arrival - start + 1 + furthest + rest or amplitude == 0:
            continue
        along = ((x - saccade.start_x_deg) * dx + (y - saccade.start_y_deg) * dy) / amplitude
        if np.isfinite(along).all():
            found[k] = max(0.0, along[:-rest].max() - along[-rest:].mean())
    return found
