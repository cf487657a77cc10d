"""Units of evidence and their folds: a viewing interval, or windows of a long one.

An interval of up to `LONGEST_UNIT` saccades is one unit. A longer one is cut into windows of
`WINDOW` saccades every `STEP`, the last reaching to the end: every saccade is in a unit, and no
unit is longer than `LONGEST_UNIT`. Cross-validation holds out neighbouring units together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gazelive.gaze import Flags, Integers

STEP = 10
WINDOW = 2 * STEP
LONGEST_UNIT = 3 * STEP
N_FOLDS = 5


def unit_windows(n_saccades: int, step: int = STEP) -> list[tuple[int, int]]:
    """Return start and stop of each unit of an interval, in saccades."""
    if not n_saccades:
        return []
    starts = range(0, max(1, n_saccades - 2 * step), step)
    return [(s, s + 2 * step) for s in starts[:-1]] + [(starts[-1], n_saccades)]


def n_units(n_saccades: int) -> float:
    """Return the number of units of an interval: 1, or its saccades over `WINDOW`.

    Neighbouring windows share half of their saccades, so there are about twice as many windows.
    """
    return 1.0 if n_saccades <= LONGEST_UNIT else n_saccades / WINDOW


def unit_folds(
    images: Sequence[str | None],
    intervals: Integers,
    viewers: Integers,
    seed: int = 0,
    n_folds: int = N_FOLDS,
) -> Integers:
    """Return the fold (0 … n_folds − 1) of each unit.

    Units are split along images: no image is in two folds, and an interval without an image is an
    image of its own. Where a viewer saw too few images for that, each viewer's units are split
    into contiguous parts of time.
    """
    if not len(intervals):
        return np.empty(0, np.int64)
    names = [
        f"#{i}" if image is None else f"={image}"
        for image, i in zip(images, intervals, strict=True)
    ]
    distinct, codes = np.unique(np.array(names), return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(distinct))
    folds = np.asarray(order[codes] % n_folds, np.int64)
    own_images = [len(np.unique(codes[viewers == v])) for v in np.unique(viewers)]
    own_folds = [len(np.unique(folds[viewers == v])) for v in np.unique(viewers)]
    if min(own_images) >= n_folds and min(own_folds) > 1:
        return folds
    for viewer in np.unique(viewers):
        own = np.flatnonzero(viewers == viewer)
        folds[own] = np.arange(len(own)) * n_folds // max(len(own), n_folds)
    return folds


def shares_saccades(intervals: Integers, folds: Integers) -> Flags:
    """Return a mask of units (overlapping windows) that share saccades with another fold.

    Scores on them are no test: half of their saccades were used for training.
    """
    parted = (np.diff(intervals) == 0) & (np.diff(folds) != 0)
    return np.asarray(np.append(parted, False) | np.append(False, parted), np.bool_)
