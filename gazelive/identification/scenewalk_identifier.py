"""SceneWalk as an identifier: where people look next, given what there is to see.

`scenewalk`: each viewer has parameters of their own; evidence is the log likelihood ratio to the
pooled ones times one temperature. `fisher-scenewalk`: the gradient at the pooled parameters goes
through a linear machine. Both carry their maps forward fixation by fixation.

A probe may be anybody who is enrolled, so the saliency of an image never comes from their
fixations on it: it is the learned centre bias, times what can be computed from the image where
its file is given. Training uses the same rule, so that scores mean the same. Where a file is not
found or cannot be read, the centre bias counts alone, and that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelError
from gazelive.features.scanpath import Rows, Scanpath
from gazelive.identification.contract import Estimate
from gazelive.identification.counting import Counts
from gazelive.identification.evidence_kernels import log_posterior
from gazelive.identification.linear import checked_log_prior
from gazelive.identification.machines import Linear
from gazelive.identification.open_set import NOTHING_KNOWN, MatchThreshold
from gazelive.identification.plda import Plda
from gazelive.models.saliency import SaliencyMap
from gazelive.models.saliency_choice import SaliencyBank
from gazelive.models.scenewalk import ImageGrid
from gazelive.models.scenewalk_model import LiveScore, SceneWalkModel
from gazelive.models.scenewalk_viewing import Viewing
from gazelive.recordings.image_files import find_image

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scene:
    """What there is to see: where images lie, and which of their places draw the gaze."""

    grid: ImageGrid
    bank: SaliencyBank
    stimuli: tuple[Path, ...] | None = None
    """Folders of the images' files, of which a model keeps nothing; None where saliency is not
    computed from them."""

    def saliency(self, image: str | None) -> tuple[Floats, str]:
        """Return the map of an image for somebody who may be anybody enrolled, and its source."""
        chosen, _ = self._choose(image)
        return chosen.density, chosen.source

    def image_problem(self, image: str | None) -> str | None:
        """Say why the centre bias counts alone where the image's file was to count too."""
        return self._choose(image)[1]

    def _choose(self, image: str | None) -> tuple[SaliencyMap, str | None]:
        problem = None
        if self.stimuli is not None and image is not None:
            stimulus = find_image(image, self.stimuli)
            if stimulus is not None:
                try:
                    return self._map(image, stimulus), None
                except ModelError as error:
                    problem = str(error)
            elif self.stimuli:
                problem = f"{image} is not in {', '.join(map(str, self.stimuli))}"
            else:
                problem = "the model looks at the images, and nobody said where they are"
            problem += ": the centre bias counts instead"
        return self._map(image, None), problem

    def _map(self, image: str | None, stimulus: Path | None) -> SaliencyMap:
        anybody = self.bank.viewers
        return self.bank.choose(image, without=anybody, shape=self.grid.shape, stimulus=stimulus)

    def viewing(self, scanpath: Scanpath) -> Viewing:
        """Return the fixations of a scanpath together with what there was to see."""
        density, source = self.saliency(scanpath.image)
        fixations = scanpath.fixations[np.isfinite(scanpath.fixations).all(axis=1)]
        x_deg, y_deg, duration_s = fixations.T
        return Viewing(x_deg, y_deg, duration_s, density, self.grid, source)


@dataclass(frozen=True, eq=False)
class SceneWalkIdentifier:
    """See the module."""

    method: str
    viewer_ids: tuple[str, ...]
    scene: Scene
    pooled: SceneWalkModel
    own: tuple[SceneWalkModel, ...]
    """Of each viewer; empty where a machine decides."""
    temperature: float
    """Of the likelihood ratio."""
    machine: Linear | None
    """From scores (8,) to evidence; None for likelihoods."""
    threshold: MatchThreshold
    plda: Plda | None = None
    correlation: float = 0.0

    def probe(self, log_prior: Floats | None = None) -> SceneWalkProbe:
        """Begin to identify a person."""
        return SceneWalkProbe(self, log_prior)

    def image_problem(self, image: str | None) -> str | None:
        """Say why an image's file does not count as it did in training; None where it does."""
        return self.scene.image_problem(image)

    def evidence_scale(self, units: int) -> float:
        """Return how much the summed evidence of so many units of one session counts."""
        return 1 / (1 + max(units - 1, 0) * self.correlation)

    def evidence(self, viewing: Viewing) -> Floats:
        """Return what a viewing says for each viewer."""
        if not viewing.n_scored:
            return np.zeros(len(self.viewer_ids))
        if self.machine is not None:
            return self.machine(self.pooled.fisher_score(viewing))
        reference = self.pooled.log_likelihood(viewing)
        ratios = [model.log_likelihood(viewing) - reference for model in self.own]
        return self.temperature * np.array(ratios)


class SceneWalkProbe:
    """One person being identified by a `SceneWalkIdentifier`."""

    def __init__(self, identifier: SceneWalkIdentifier, log_prior: Floats | None = None) -> None:
        self._identifier = identifier
        n_viewers = len(identifier.viewer_ids)
        self._log_prior = checked_log_prior(log_prior, n_viewers)
        self._settled = np.zeros(n_viewers)
        self._score = np.zeros(len(identifier.pooled.parameters()))
        self._log_unknown = NOTHING_KNOWN
        self._live: Sequence[LiveScore] = ()
        self._n_units = 0
        self._n_settled = 0
        self._counts = Counts()

    def begin(self, image: str | None) -> None:
        """Open an interval; what an unsettled one said before stays."""
        if self._counts.is_open:
            n_open = self._counts.n_open
            self._close(self._open_evidence(), n_open, 0.0, is_unit=self._has_spoken)
        identifier = self._identifier
        density, _ = identifier.scene.saliency(image)
        grid = identifier.scene.grid
        self._live = [m.live(density, grid) for m in (identifier.pooled, *identifier.own)]
        self._counts.is_open = True

    def add_saccade(self, row: Rows) -> None:
        """A saccade by itself says nothing here: the fixation after it does."""
        self._counts.n_open += 1

    def complete_saccade(self, row: Rows) -> None:
        """Nothing here waits for it."""

    def add_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Let the maps evolve; the next fixation is scored by where it lies."""
        for live in self._live:
            live.add_fixation(x_deg, y_deg, duration_s)

    def settle(self, scanpath: Scanpath) -> None:
        """Replace the open interval's evidence."""
        identifier = self._identifier
        viewing = identifier.scene.viewing(scanpath)
        evidence, says = identifier.evidence(viewing), viewing.n_scored > 0
        self._close(evidence, scanpath.n_saccades, scanpath.seconds, is_unit=says)
        if identifier.plda is None or not says:
            return
        self._n_settled += 1
        self._score += identifier.pooled.fisher_score(viewing)
        leader = int(np.argmax(self._settled + self._log_prior))
        match = identifier.plda.log_ratio(self._score / self._n_settled, self._n_settled, leader)
        self._log_unknown = identifier.threshold.log_unknown(match, self._n_settled)

    def estimate(self, seconds: float | None = None) -> Estimate:
        """Return the posterior of all evidence so far."""
        log_probabilities = np.empty(len(self._settled))
        units = self._n_units + self._has_spoken
        scale = self._identifier.evidence_scale(units)
        log_posterior(
            self._settled, self._open_evidence(), scale, self._log_prior, log_probabilities
        )
        return self._counts.estimate(log_probabilities, self._log_unknown, seconds)

    @property
    def _has_spoken(self) -> bool:
        """Whether the open interval says anything yet."""
        return self._counts.is_open and self._live[0].n_scored > 0

    def _open_evidence(self) -> Floats:
        identifier = self._identifier
        if not self._has_spoken:
            return np.zeros(len(self._settled))
        if identifier.machine is not None:
            return identifier.machine(self._live[0].fisher_score)
        reference = self._live[0].log_likelihood
        ratios = [live.log_likelihood - reference for live in self._live[1:]]
        return identifier.temperature * np.array(ratios)

    def _close(self, evidence: Floats, n_saccades: int, seconds: float, *, is_unit: bool) -> None:
        self._settled += evidence
        self._n_units += is_unit
        self._counts.close(n_saccades, seconds)
        self._live = ()
