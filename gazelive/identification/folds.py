"""How units are split for cross-validation: what is near is held out together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

N_FOLDS = 5


def unit_folds(
    images: Sequence[str | None], intervals: Integers, viewers: Integers, seed: int = 0
) -> Integers:
    """Return the fold (0 … N_FOLDS − 1) of each unit.

    Where every viewer has several intervals they are split along images, so that no image is in
    two folds (an interval without an image counts as one of its own). Where a viewer has fewer
    than `N_FOLDS` intervals, windows are split into contiguous parts of time.
    """
    n = len(intervals)
    per_viewer = [len(np.unique(intervals[viewers == v])) for v in np.unique(viewers)]
    if n and min(per_viewer) >= N_FOLDS:
        names = [
            f"#{i}" if image is None else image for image, i in zip(images, intervals, strict=True)
        ]
        distinct, codes = np.unique(np.array(names), return_inverse=True)
        order = np.random.default_rng(seed).permutation(len(distinct))
        return np.asarray(order[codes] % N_FOLDS, np.int64)
    folds = np.zeros(n, np.int64)
    for viewer in np.unique(viewers):
        own = np.flatnonzero(viewers == viewer)
        folds[own] = np.arange(len(own)) * N_FOLDS // max(len(own), N_FOLDS)
    return folds
