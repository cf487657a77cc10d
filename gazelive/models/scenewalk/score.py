"""SceneWalk's log likelihood with its gradient: live, fixation by fixation, or of a viewing."""

from __future__ import annotations

import math

import numpy as np

from gazelive.errors import ModelError
from gazelive.gaze import Floats
from gazelive.models.scenewalk import gradient_kernels as kernels, value_kernels
from gazelive.models.scenewalk.equations import (
    ImageGrid,
    SceneWalkParameters,
    checked_saliency,
    new_maps,
    workspace,
)
from gazelive.models.scenewalk.value_kernels import N_PARAMETERS, SALIENCY
from gazelive.models.scenewalk.viewing import Viewing


class SceneWalkState:
    """One viewing of one image as it happens: constant memory, one step per fixation.

    `advance` when a fixation has ended, `score_next` when the next is known; scoring may be
    repeated. Summed by `add_next`, the scores are exactly what `scanpath_score` gives.
    """

    def __init__(self, parameters: SceneWalkParameters, saliency: Floats, grid: ImageGrid) -> None:
        self.grid = grid
        self.parameters = parameters
        self._values = parameters.to_array()
        self._maps = new_maps(kernels.N_MAPS, grid.shape)
        self._maps[SALIENCY][:] = checked_saliency(saliency, grid)
        self._sums = np.empty(kernels.N_SUMS)
        self._n_advanced = 0
        kernels.begin(self._maps, self._sums)

    def advance(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Let the maps and their derivatives evolve through a fixation."""
        if not (math.isfinite(x_deg) and math.isfinite(y_deg) and 0 <= duration_s < math.inf):
            raise ModelError("a fixation needs a position, and a duration of 0 s or more")
        kernels.advance(
            self._maps,
            self._sums,
            self.grid.x_deg,
            self.grid.y_deg,
            x_deg,
            y_deg,
            duration_s,
            self._values,
        )
        self._n_advanced += 1

    def score_next(self, x_deg: float, y_deg: float) -> tuple[float, Floats]:
        """Return ln p of the next fixation's position, and its gradient (8,) by the parameters."""
        gradient = np.zeros(N_PARAMETERS)
        return self.add_next(x_deg, y_deg, gradient), gradient

    def add_next(self, x_deg: float, y_deg: float, gradient: Floats) -> float:
        """Return ln p of the next fixation's position and add its gradient to a sum (8,)."""
        if not self._n_advanced:
            raise ModelError("the first fixation is given by the experiment: it has no score")
        row, column = self.grid.cell(x_deg, y_deg)
        return kernels.score(self._maps, self._sums, row, column, self._values, gradient)


def scanpath_log_likelihood(parameters: SceneWalkParameters, viewing: Viewing) -> float:
    """Return the natural-log likelihood of a viewing; exactly that of a `SceneWalk` through it.

    It may differ in the last digits from what `scanpath_score` gives, which sums otherwise.
    """
    grid = viewing.grid
    maps, sums = workspace(value_kernels.N_MAPS, value_kernels.N_SUMS, grid.shape)
    maps[SALIENCY][:] = viewing.saliency
    return value_kernels.scanpath_log_likelihood(
        maps,
        sums,
        grid.x_deg,
        grid.y_deg,
        viewing.x_deg,
        viewing.y_deg,
        viewing.duration_s,
        *viewing.cells,
        parameters.to_array(),
    )


def scanpath_score(parameters: SceneWalkParameters, viewing: Viewing) -> tuple[float, Floats]:
    """Return the natural-log likelihood of a viewing, and its gradient (8,) by the parameters."""
    grid = viewing.grid
    maps, sums = workspace(kernels.N_MAPS, kernels.N_SUMS, grid.shape)
    maps[SALIENCY][:] = viewing.saliency
    gradient = np.empty(N_PARAMETERS)
    log_likelihood = kernels.scanpath_score(
        maps,
        sums,
        grid.x_deg,
        grid.y_deg,
        viewing.x_deg,
        viewing.y_deg,
        viewing.duration_s,
        *viewing.cells,
        parameters.to_array(),
        gradient,
    )
    return log_likelihood, gradient
