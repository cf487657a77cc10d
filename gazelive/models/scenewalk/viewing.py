"""One viewing of one image, as SceneWalk takes it: fixations, and what there was to see."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gazelive.errors import ModelError
from gazelive.gaze import Floats, Integers
from gazelive.models.scenewalk.equations import ImageGrid, checked_saliency


@dataclass(frozen=True, eq=False)
class Viewing:
    """The fixations of a viewing in order, the image's saliency and its cells.

    The first position is given by the experiment and not scored; the last duration is not used
    and may be anything. Fixations outside the image count to its nearest cell.
    """

    x_deg: Floats
    y_deg: Floats
    duration_s: Floats
    saliency: Floats
    """(rows, columns), positive; only its proportions matter."""
    grid: ImageGrid
    saliency_source: str = "given"
    """Source of the saliency map."""

    def __post_init__(self) -> None:
        for name in ("x_deg", "y_deg", "duration_s"):
            array = np.ascontiguousarray(getattr(self, name), np.float64)
            object.__setattr__(self, name, array)
        if not (self.x_deg.ndim == 1 and self.x_deg.shape == self.y_deg.shape):
            raise ModelError("a viewing needs as many x as y, in one dimension each")
        if self.duration_s.shape != self.x_deg.shape:
            raise ModelError("a viewing needs as many durations as positions")
        if not (np.isfinite(self.x_deg).all() and np.isfinite(self.y_deg).all()):
            raise ModelError("a fixation without a position cannot be scored: leave it out")
        used = self.duration_s[:-1]
        if not (np.isfinite(used).all() and (used >= 0).all()):
            raise ModelError("every fixation but the last needs a duration of 0 s or more")
        checked_saliency(self.saliency, self.grid)

    @cached_property
    def cells(self) -> tuple[Integers, Integers]:
        """Row and column of each fixation."""
        return self.grid.cells(self.x_deg, self.y_deg)

    @property
    def n_scored(self) -> int:
        """Number of fixations that have a likelihood."""
        return max(len(self.x_deg) - 1, 0)

    def coarsened(self, factor: int) -> Viewing:
        """Return the same viewing on cells that are `factor` times as wide and high.

        At 2 a likelihood costs a quarter; the parameters keep their meaning.
        """
        n_rows, n_columns = self.grid.shape
        if n_rows % factor or n_columns % factor:
            raise ModelError(f"a grid of {self.grid.shape} does not divide by {factor}")
        if factor == 1:
            return self
        grid = ImageGrid(self.grid.x_edges_deg[::factor], self.grid.y_edges_deg[::factor])
        blocks = self.saliency.reshape(n_rows // factor, factor, n_columns // factor, factor)
        saliency = np.asarray(blocks.sum(axis=(1, 3)), np.float64)
        return Viewing(
            self.x_deg, self.y_deg, self.duration_s, saliency, grid, self.saliency_source
        )
