"""Training `scenewalk` and `fisher-scenewalk`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelError
from gazelive.identification.fitted import SCANPATHS_HELD_OUT, Fitted, Machine, accuracy_of
from gazelive.identification.folds import unit_folds
from gazelive.identification.machines import (
    cross_validated,
    fit_calibration,
    fit_svm,
    fit_temperature,
    fit_whitening,
)
from gazelive.identification.markov_methods import known_vigor_rate_deg
from gazelive.identification.open_set import no_threshold
from gazelive.identification.plda import FEWEST_VIEWERS, fit_plda, strangers_threshold
from gazelive.identification.scenewalk_identifier import Scene, SceneWalkIdentifier
from gazelive.identification.training_set import TrainingSet
from gazelive.models.saliency_choice import SaliencyBank, Seen
from gazelive.models.scenewalk import ImageGrid
from gazelive.models.scenewalk_model import SceneWalkModel
from gazelive.models.scenewalk_viewing import Viewing

Floats = npt.NDArray[np.float64]
Progress = Callable[[float], None]

GRID_CELLS = 64
"""Rows and columns: a quarter of the work of 128, and parameters that mean the same."""
MARGIN = 0.05
"""Of the extent of training's fixations, added on each side."""
DEFAULT_TEMPERATURE = 0.5
SVM_COST, RIDGE = 0.1, 0.1
N_HALVES = 2
"""Folds that the likelihoods' temperature is found with: every viewer is fitted once for each."""


def fit_scenewalk(
    training: TrainingSet,
    false_acceptance_rate: float,
    stimuli: Path | None,
    correlation: float,
    report: Progress,
) -> Fitted:
    """Fit the generative identifier: everybody's parameters, then each viewer's own."""
    base, viewings = _fit_base("scenewalk", training, stimuli)
    report(0.2)
    n_viewers = training.n_viewers
    reference = np.array([base.pooled.log_likelihood(viewing) for viewing in viewings])
    folds = _folds(training) % N_HALVES
    ratios = np.zeros((len(viewings), n_viewers))
    steps = [(v, fold) for v in range(n_viewers) for fold in range(N_HALVES)]
    for done, (viewer, fold) in enumerate(steps):
        known = (training.viewers == viewer) & (folds != fold)
        out = folds == fold
        if known.any() and out.any() and n_viewers > 1:
            model = base.pooled.fit_viewer([viewings[i] for i in np.flatnonzero(known)])
            ratios[out, viewer] = [
                model.log_likelihood(viewings[i]) - reference[i] for i in np.flatnonzero(out)
            ]
        report(0.2 + 0.5 * (done + 1) / len(steps))
    temperature, how = DEFAULT_TEMPERATURE, "one temperature, the default (too few scanpaths)"
    if ratios.any():
        temperature = fit_temperature(ratios, training.viewers)
        how = "one temperature by cross-validation over scanpaths"
    own = []
    for viewer in range(n_viewers):
        mine = np.flatnonzero(training.viewers == viewer)
        own.append(base.pooled.fit_viewer([viewings[i] for i in mine]))
        report(0.7 + 0.3 * (viewer + 1) / n_viewers)
    identifier = replace(base, own=tuple(own), temperature=temperature, correlation=correlation)
    identifier = _with_strangers(identifier, training, viewings, false_acceptance_rate)
    accuracy = accuracy_of(ratios, training.viewers, SCANPATHS_HELD_OUT, n_viewers)
    return Fitted(
        identifier,
        f"{how}: {temperature:.3g}",
        accuracy,
        vigor_rate_deg=known_vigor_rate_deg(training),
    )


def fit_fisher_scenewalk(
    training: TrainingSet,
    false_acceptance_rate: float,
    stimuli: Path | None,
    correlation: float,
    report: Progress,
) -> Fitted:
    """Fit the Fisher SVM on SceneWalk's gradients."""
    base, viewings = _fit_base("fisher-scenewalk", training, stimuli)
    report(0.6)
    n_viewers = training.n_viewers
    scores = np.array([base.pooled.fisher_score(viewing) for viewing in viewings])
    whitening = fit_whitening(scores, RIDGE)
    whitened = whitening(scores)
    fit = fit_svm(SVM_COST)
    viewers = training.viewers
    decisions, held_out = cross_validated(whitened, viewers, _folds(training), n_viewers, fit)
    calibration = fit_calibration(decisions[held_out], viewers[held_out])
    counts = np.maximum(np.bincount(viewers, minlength=n_viewers), 0.5)
    log_prior = np.log(counts / counts.sum())
    logits = calibration.after(fit(whitened, viewers, n_viewers)).minus(log_prior)
    identifier = replace(base, machine=logits.after(whitening), correlation=correlation)
    identifier = _with_strangers(identifier, training, viewings, false_acceptance_rate)
    factor = float(np.mean(np.diag(calibration.weights)))
    return Fitted(
        identifier,
        "multinomial logistic regression on decisions cross-validated over scanpaths",
        # not what the calibration makes of them: it was fitted to these
        accuracy_of(decisions, viewers, SCANPATHS_HELD_OUT, n_viewers),
        Machine("svm", factor, whitening, whitened.astype(np.float32), viewers, logits),
        known_vigor_rate_deg(training),
    )


def _fit_base(
    method: str, training: TrainingSet, stimuli: Path | None
) -> tuple[SceneWalkIdentifier, list[Viewing]]:
    """Fit where images lie, the centre bias, and the pooled parameters."""
    grid = _grid(training)
    folders = None if stimuli is None else (stimuli,)
    scene = Scene(grid, SaliencyBank.of(_seen(training, grid)), folders)
    viewings = [scene.viewing(path) for path in training.scanpaths]
    pooled = SceneWalkModel.fit(viewings, n_threads=2)
    nobody = no_threshold("too few viewers to know what strangers are like")
    identifier = SceneWalkIdentifier(
        method, training.viewer_ids, scene, pooled, (), DEFAULT_TEMPERATURE, None, nobody
    )
    return identifier, viewings


def _grid(training: TrainingSet) -> ImageGrid:
    """Return cells over where people looked: images are shown at one place."""
    parts = [path.fixations[:, :2] for path in training.scanpaths if len(path.fixations)]
    places = np.concatenate(parts) if parts else np.empty((0, 2))
    places = places[np.isfinite(places).all(axis=1)]
    if len(places) < 2:
        raise ModelError("there are too few fixations for SceneWalk")
    low, high = np.percentile(places, (0.5, 99.5), axis=0)
    reach = MARGIN * (high - low) + 0.5
    edges = [np.linspace(low[k] - reach[k], high[k] + reach[k], GRID_CELLS + 1) for k in range(2)]
    return ImageGrid(*edges)


def _seen(training: TrainingSet, grid: ImageGrid) -> Iterator[Seen]:
    for number, (path, viewer) in enumerate(zip(training.scanpaths, training.viewers, strict=True)):
        fixations = path.fixations[np.isfinite(path.fixations).all(axis=1)]
        name = training.viewer_ids[viewer]
        image = path.image if path.image is not None else f"#{number}"
        yield Seen(name, image, fixations[:, 0], fixations[:, 1], grid)


def _folds(training: TrainingSet) -> npt.NDArray[np.int64]:
    images = [path.image for path in training.scanpaths]
    return unit_folds(images, np.arange(len(training)), training.viewers)


def _with_strangers(
    identifier: SceneWalkIdentifier,
    training: TrainingSet,
    viewings: list[Viewing],
    false_acceptance_rate: float,
) -> SceneWalkIdentifier:
    n_viewers = training.n_viewers
    if n_viewers <= FEWEST_VIEWERS:
        return identifier
    scores = np.array([identifier.pooled.fisher_score(viewing) for viewing in viewings])
    return replace(
        identifier,
        plda=fit_plda(scores, training.viewers, n_viewers),
        threshold=strangers_threshold(scores, training.viewers, n_viewers, false_acceptance_rate),
    )
