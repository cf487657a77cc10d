"""How units are split for cross-validation: what is near is held out together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

N_FOLDS = 5


def unit_folds(
    images: Sequence[str | None], intervals: Integers, viewers: Integers, seed: int = 0
) -> Integers:
    """Return the fold (0 … N_FOLDS − 1) of each unit.

    Units are split along images, so that no image is in two folds (an interval without an image
    counts as one of its own), if that leaves every viewer something in another fold. Else, where
    a viewer saw too few images, each viewer's units are split into contiguous parts of time.
    """
    if not len(intervals):
        return np.empty(0, np.int64)
    names = [
        f"#{i}" if image is None else f"={image}"
        for image, i in zip(images, intervals, strict=True)
    ]
    distinct, codes = np.unique(np.array(names), return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(distinct))
    folds = np.asarray(order[codes] % N_FOLDS, np.int64)
    own_images = [len(np.unique(codes[viewers == v])) for v in np.unique(viewers)]
    own_folds = [len(np.unique(folds[viewers == v])) for v in np.unique(viewers)]
    if min(own_images) >= N_FOLDS and min(own_folds) > 1:
        return folds
    for viewer in np.unique(viewers):
        own = np.flatnonzero(viewers == viewer)
        folds[own] = np.arange(len(own)) * N_FOLDS // max(len(own), N_FOLDS)
    return folds


def shares_saccades(intervals: Integers, folds: Integers) -> Flags:
    """Say which units, windows that overlap, share saccades with one that is in another fold.

    What a machine says of them is no test of it: half of their saccades were seen.
    """
    parted = (np.diff(intervals) == 0) & (np.diff(folds) != 0)
    return np.asarray(np.append(parted, False) | np.append(False, parted), np.bool_)
