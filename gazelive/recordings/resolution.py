"""The tracker's own resolution: one for a whole recording, and how far it varies.

EyeLink writes px per degree at the end of each block, as a mean over where the eye happened to
look. Blocks therefore differ although the screen stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gazelive.gaze import Floats, Integers
from gazelive.recordings.asc.columns import RESOLUTION_NAMES

if TYPE_CHECKING:
    from gazelive.recordings.recording import Block

PERCENTILES = 5.0, 95.0


@dataclass(frozen=True)
class TrackerResolution:
    """Horizontal and vertical px per degree."""

    px_per_deg: tuple[float, float]
    lowest: tuple[float, float]
    highest: tuple[float, float]
    """The range of samples (5th to 95th percentile) if they have a resolution, else of blocks."""

    @property
    def uncertainty(self) -> float:
        """How far the range goes from the middle, as a fraction."""
        middle = np.array(self.px_per_deg)
        above, below = np.array(self.highest) / middle - 1, 1 - np.array(self.lowest) / middle
        return float(max(above.max(), below.max()))


def tracker_resolution(blocks: Sequence[Block]) -> TrackerResolution | None:
    """Return the median of the blocks that have a resolution, each counted by its samples."""
    known = [block for block in blocks if block.stream.px_per_deg is not None]
    if not known:
        return None
    weights = np.array([max(len(block.samples), 1) for block in known])
    of_blocks = np.array([block.stream.px_per_deg for block in known]).T
    ranges = [_range(axis, known, name) for axis, name in enumerate(RESOLUTION_NAMES)]
    x, y = (_weighted_median(values, weights) for values in of_blocks)
    (x_low, x_high), (y_low, y_high) = ranges
    return TrackerResolution((x, y), (x_low, y_low), (x_high, y_high))


def _range(axis: int, blocks: Sequence[Block], name: str) -> tuple[float, float]:
    parts = [block.extras[name] for block in blocks if name in block.extras]
    values = np.concatenate(parts) if parts else np.empty(0)
    values = values[values > 0]  # leaves NaN out
    if len(values):
        low, high = np.percentile(values, PERCENTILES)
    else:
        of_blocks = [block.stream.px_per_deg[axis] for block in blocks if block.stream.px_per_deg]
        low, high = min(of_blocks), max(of_blocks)
    return float(low), float(high)


def _weighted_median(values: Floats, weights: Integers) -> float:
    """Return the smallest value at or below which half of the weight lies."""
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(up_to, up_to[-1] / 2)])
