"""SceneWalk as a generative model: fit, likelihood, Fisher score, samples, storage.

The parameters that a Fisher score is the gradient by are θ of `scenewalk_box` (logarithms, logit
of ζ).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gazelive.gaze import Floats
from gazelive.models.scenewalk import box
from gazelive.models.scenewalk.equations import (
    ImageGrid,
    SceneWalk,
    SceneWalkParameters,
)
from gazelive.models.scenewalk.fit import VIEWER_SD, fit_around, fit_pooled
from gazelive.models.scenewalk.score import SceneWalkState, scanpath_log_likelihood, scanpath_score
from gazelive.models.scenewalk.value_kernels import N_PARAMETERS
from gazelive.models.scenewalk.viewing import Viewing


@dataclass(frozen=True)
class SceneWalkModel:
    """SceneWalk at one point: of all viewers together, or of one."""

    natural: SceneWalkParameters
    """ω_A, ω_F, σ_A, σ_F, γ, λ, c_F, ζ in their own units."""
    fitted_to: str = "not fitted"
    """In words, for people."""

    @classmethod
    def fit(
        cls,
        viewings: Sequence[Viewing],
        *,
        n_starts: int = 6,
        max_viewings: int = 600,
        n_threads: int = 1,
        seed: int = 0,
    ) -> SceneWalkModel:
        """Return the model of all viewings together; see `scenewalk_fit.fit_pooled`."""
        fit = fit_pooled(
            viewings, n_starts=n_starts, max_viewings=max_viewings, n_threads=n_threads, seed=seed
        )
        bits = fit.log_likelihood / fit.n_fixations / np.log(2)
        return cls(
            fit.parameters,
            f"{fit.n_viewings} viewings, {fit.n_fixations} fixations, {bits:.3f} bits each",
        )

    def fit_viewer(
        self, viewings: Sequence[Viewing], *, sd: npt.ArrayLike = VIEWER_SD, n_threads: int = 1
    ) -> SceneWalkModel:
        """Return the model of one viewer, begun here and drawn here; see `fit_around`."""
        fit = fit_around(viewings, self.natural, sd=sd, n_threads=n_threads)
        return SceneWalkModel(
            fit.parameters, f"{fit.n_viewings} viewings, {fit.n_fixations} fixations of one viewer"
        )

    def log_likelihood(self, viewing: Viewing) -> float:
        """Return ln p of a viewing's fixations after the first; finite."""
        return scanpath_log_likelihood(self.natural, viewing)

    def fisher_score(self, viewing: Viewing) -> Floats:
        """Return the gradient (8,) of ln p with respect to `parameters()`; finite."""
        return self.score(viewing)[1]

    def score(self, viewing: Viewing) -> tuple[float, Floats]:
        """Return ln p and the Fisher score together; ln p may differ in the last digits."""
        log_likelihood, gradient = scanpath_score(self.natural, viewing)
        return log_likelihood, gradient * self.slopes

    def live(self, saliency: Floats, grid: ImageGrid) -> LiveScore:
        """Begin to score a viewing as it happens."""
        return LiveScore(self, saliency, grid)

    def sample(
        self,
        saliency: Floats,
        grid: ImageGrid,
        durations_s: npt.ArrayLike,
        rng: np.random.Generator,
        *,
        start_deg: tuple[float, float] = (0.0, 0.0),
    ) -> Viewing:
        """Draw where the fixations of given durations fall; the first is at `start_deg`."""
        durations = np.asarray(durations_s, np.float64)
        walk = SceneWalk(self.natural, saliency, grid)
        positions = [start_deg]
        for duration_s in durations[:-1].tolist():
            walk.advance(*positions[-1], duration_s)
            positions.append(walk.sample_next(rng))
        x_deg, y_deg = np.array(positions).T
        return Viewing(x_deg, y_deg, durations, saliency, grid)

    def parameters(self) -> Floats:
        """Return θ (8,): seven logarithms and the logit of ζ."""
        return box.to_coordinates(self.natural)

    @cached_property
    def slopes(self) -> Floats:
        """∂ natural/∂ θ (8,): what turns a gradient by the one into a gradient by the other."""
        return box.slopes(self.natural)


class LiveScore:
    """Log likelihood and Fisher score of a viewing so far, in one step per fixation.

    At the end both are exactly what `SceneWalkModel.score` gives for the whole viewing.
    """

    def __init__(self, model: SceneWalkModel, saliency: Floats, grid: ImageGrid) -> None:
        self.n_scored = 0
        self._slopes = model.slopes
        self._state = SceneWalkState(model.natural, saliency, grid)
        self._begun = False
        self._log_likelihood = 0.0
        self._gradient = np.zeros(N_PARAMETERS)

    def add_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Take a fixation that has ended; the first is only where the viewing begins."""
        if self._begun:
            self._log_likelihood += self._state.add_next(x_deg, y_deg, self._gradient)
            self.n_scored += 1
        self._state.advance(x_deg, y_deg, duration_s)
        self._begun = True

    @property
    def log_likelihood(self) -> float:
        """Natural logarithm."""
        return self._log_likelihood

    @property
    def fisher_score(self) -> Floats:
        """With respect to θ (8,)."""
        return self._gradient * self._slopes
