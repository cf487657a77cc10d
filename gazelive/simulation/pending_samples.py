"""Samples that were made and not yet taken."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class PendingSamples:
    """Goes in in pieces of any length and comes out in pieces of any other."""

    def __init__(self, n_eyes: int) -> None:
        self._n_eyes = n_eyes
        self._parts: list[tuple[Floats, Floats]] = []

    def append(self, gaze_deg: Floats, pupil: Floats) -> None:
        """Add gaze (n_eyes, n, 2) and pupil (n_eyes, n)."""
        self._parts.append((gaze_deg, pupil))

    def take(self, n: int) -> tuple[Floats, Floats]:
        """Remove and return the first `n`, which must be there."""
        gaze, pupil = np.empty((self._n_eyes, n, 2)), np.empty((self._n_eyes, n))
        filled = 0
        n_used = 0
        for part_gaze, part_pupil in self._parts:
            if filled == n:
                break
            use = min(part_gaze.shape[1], n - filled)
            gaze[:, filled : filled + use] = part_gaze[:, :use]
            pupil[:, filled : filled + use] = part_pupil[:, :use]
            filled += use
            if use == part_gaze.shape[1]:
                n_used += 1
            else:
                self._parts[n_used] = (part_gaze[:, use:], part_pupil[:, use:])
        del self._parts[:n_used]
        return gaze, pupil
