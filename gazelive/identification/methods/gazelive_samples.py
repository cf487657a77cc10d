"""Training of `gazelive` on recordings: embeddings of movement features.

Features of the saccade, of the 48 ms after it and of the fixation before it; a robust log-normal
(signed: normal) density of each for 12 types of saccades (four directions, three sizes). People
differ in the location of a density, not in its width: only the first entry of each score is kept.

All of training happens on the windows' tempered scores, which are computed once.
"""

from __future__ import annotations

import numpy as np

from gazelive.errors import ModelError
from gazelive.features import (
    AFTER,
    DIRECTIONS_AND_SIZES,
    MOVEMENT,
    TEXTURE,
    Feature,
    FeatureSet,
    copied,
)
from gazelive.gaze import Floats, Integers, SingleFloats
from gazelive.identification.calibration import fit_temperature, held_out_loss
from gazelive.identification.fitted import (
    NUMBERS_OF_IMAGES,
    PARTS_HELD_OUT,
    Accuracy,
    Fitted,
    Options,
    accuracy_of,
    image_groups,
    images_held_out,
)
from gazelive.identification.hyperparameters import N_SEARCH_FOLDS, Grid, Hyperparameters, Loss
from gazelive.identification.methods.embedding import (
    Embedding,
    EmbeddingIdentifier,
    Windows,
    best_match,
    counted_rows,
    directions_of,
    tempered_windows,
)
from gazelive.identification.open_set import (
    MatchThreshold,
    UsualStrangers,
    no_threshold,
    threshold_of_matches,
)
from gazelive.identification.scores import Block, robust_block
from gazelive.identification.training_data import TrainingSet
from gazelive.identification.units import shares_saccades

LEAST_AMPLITUDE_DEG = 0.3
STEP = 5
CLIPPED_SD = 3.0
MIN_VALUES = 10
"""Of a cell. With a higher limit, two or three viewers of 100 saccades have no cell at all and only
the frequencies of directions count, with far too much confidence."""
GRID = Grid({"ridge": (0.1, 0.25, 0.5, 1.0, 2.0)}, {"ridge": 0.5})
"""`ridge` is added to each eigenvalue of the covariance of windows, in units of the mean one."""
MOST_DIMENSIONS = 400
LARGEST_TEMPERATURE = 60.0
USUAL_DIMENSIONS = 60.0
USUAL_SACCADES = 20.0
"""Parameters of `default_temperature`, fitted across sessions of BioEye 2015
(random dots and reading, both ways; galleries of 2 to 20, 20 to 230 saccades of each)."""
USUAL_STRANGERS = UsualStrangers(spread=0.022, spread_per_log=0.0057, n_strangers=100.0)
"""Estimated on half of the people of BioEye 2015."""
FEWEST_VIEWERS_TO_CALIBRATE = 20
FEWEST_FOR_STRANGERS = 4
VIEWER_FOLDS = 4
STRANGER_SACCADES = (10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
STRANGER_DRAWS = 12


def fit_gazelive_samples(method: str, training: TrainingSet, options: Options) -> Fitted:
    """Fit `gazelive` to a training set made from recordings."""
    block = fit_block(training, texture=options.texture)
    options.report(0.1)
    windows = tempered_windows(training.scanpaths, block, STEP, LEAST_AMPLITUDE_DEG)
    options.report(0.4)
    chosen = GRID.choose(_loss(training, block, windows), search=options.search)
    embedding = fit_embedding(block, windows, chosen)
    vectors = embedding.embed(windows)
    viewers = training.viewers[windows.scanpath]
    temperature, how = calibrated_temperature(training, windows, vectors)
    if training.n_sessions > 1:
        folds = session_folds(training, windows)
        protocol = "whole sessions held out"
    else:
        folds = training.folds(windows.scanpath)
        protocol = PARTS_HELD_OUT
    cosines, labels = held_out_cosines(training, windows, vectors, folds, viewers)
    options.report(0.6)
    identifier = EmbeddingIdentifier(
        method,
        training.viewer_ids,
        embedding,
        directions_of(vectors, windows.weight, viewers, training.n_viewers),
        temperature,
        strangers_threshold(training, block, windows, chosen, options.false_acceptance_rate),
    )
    accuracy = accuracy_of(cosines, labels, protocol, training.n_viewers)
    return Fitted(
        identifier,
        how,
        accuracy,
        hyperparameters=chosen,
        accuracy_by_images=_accuracy_by_images(training, windows, vectors, folds),
    )


def _accuracy_by_images(
    training: TrainingSet, windows: Windows, vectors: SingleFloats, folds: Integers
) -> dict[str, Accuracy]:
    """Return the accuracy for several images together, whose windows are one embedding."""
    viewers, found = training.viewers[windows.scanpath], {}
    for name, n_images in NUMBERS_OF_IMAGES.items():
        groups = image_groups(viewers, windows.scanpath, folds, n_images)
        cosines, labels = held_out_cosines(training, windows, vectors, folds, groups)
        protocol = images_held_out(n_images)
        accuracy = accuracy_of(cosines, labels, protocol, training.n_viewers)
        if accuracy is not None:
            found[name] = accuracy
    return found


def _loss(training: TrainingSet, block: Block, windows: Windows) -> Loss:
    """Return the loss of a search: held-out scanpaths (or parts of long ones) are identified."""
    folds = training.folds(windows.scanpath, N_SEARCH_FOLDS)

    def loss(at: Hyperparameters) -> float:
        vectors = fit_embedding(block, windows, at).embed(windows)
        return held_out_loss(*held_out_cosines(training, windows, vectors, folds, windows.scanpath))

    return loss


def identity_features(*, texture: bool = True) -> list[Feature]:
    """Return the features; without `texture` none of the fixation before the saccade.

    Its noise may be the recording's rather than the person's.
    """
    groups = (*MOVEMENT, *AFTER, *(TEXTURE if texture else ()))
    features = copied([f.name for f in groups if not f.signed])
    return features + copied([f.name for f in groups if f.signed], signed=True)


def fit_block(training: TrainingSet, *, texture: bool = True) -> Block:
    """Fit the pooled densities."""
    return robust_block(
        FeatureSet(DIRECTIONS_AND_SIZES, identity_features(texture=texture)),
        counted_rows(training.rows(), LEAST_AMPLITUDE_DEG),
        family="log-gaussian",
        entries=1,
        clipped_sd=CLIPPED_SD,
        min_values=MIN_VALUES,
    )


def fit_embedding(block: Block, windows: Windows, chosen: Hyperparameters) -> Embedding:
    """Fit centre and whitening to windows."""
    if len(windows.scores) < 2:
        raise ModelError("too few saccades to learn from")
    mean = windows.scores.mean(axis=0, dtype=np.float64)
    centred = windows.scores - mean.astype(np.float32)
    covariance = (centred.T @ centred).astype(np.float64) / len(centred)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    kept = np.flatnonzero(eigenvalues > 1e-6 * eigenvalues[-1])[-MOST_DIMENSIONS:]
    reach = np.sqrt(eigenvalues[kept] + chosen["ridge"] * eigenvalues.mean())
    # C order, as when read from a file: another order rounds differently
    projection = np.ascontiguousarray(vectors[:, kept] / reach, np.float32)
    return Embedding(block, mean, projection, STEP, LEAST_AMPLITUDE_DEG)


def held_out_cosines(
    training: TrainingSet,
    windows: Windows,
    vectors: SingleFloats,
    folds: Integers,
    parts: Integers,
) -> tuple[Floats, Integers]:
    """Return cosines (parts, viewers) of held-out parts, and the viewer of each part.

    `parts` numbers what is judged together: the windows of a viewer or of a scanpath, in one fold
    and without those that share saccades with another. Windows with a negative number are not
    judged.
    """
    n_viewers = training.n_viewers
    viewers = training.viewers[windows.scanpath]
    unseen = ~shares_saccades(windows.scanpath, folds)
    cosines, labels = [], []
    for fold in np.unique(folds):
        rest, out = folds != fold, (folds == fold) & unseen & (parts >= 0)
        present, first, part = np.unique(parts[out], return_index=True, return_inverse=True)
        if not len(present) or not np.isin(viewers[out], viewers[rest]).all():
            continue
        known = directions_of(vectors[rest], windows.weight[rest], viewers[rest], n_viewers)
        probes = directions_of(vectors[out], windows.weight[out], part, len(present))
        cosines.append((probes @ known.T).astype(np.float64))
        labels.append(viewers[out][first])
    if not cosines:
        return np.empty((0, n_viewers)), np.empty(0, np.int64)
    return np.concatenate(cosines), np.concatenate(labels)


def session_folds(training: TrainingSet, windows: Windows) -> Integers:
    """Return the number of each window's session."""
    names = sorted(set(training.sessions))
    codes = np.array([names.index(session) for session in training.sessions], np.int64)
    return codes[windows.scanpath]


def default_temperature(n_dimensions: int, saccades_per_viewer: float) -> float:
    """Return τ for an amount of enrolment: 48 for 400 dimensions and 216 saccades per viewer.

    Few windows span a space of few dimensions, in which all cosines are large; and the mean of
    few windows is a noisy estimate of a person's direction.
    """
    of_space = n_dimensions / (n_dimensions + USUAL_DIMENSIONS)
    of_means = saccades_per_viewer / (saccades_per_viewer + USUAL_SACCADES)
    return LARGEST_TEMPERATURE * of_space * of_means


def calibrated_temperature(
    training: TrainingSet, windows: Windows, vectors: SingleFloats
) -> tuple[float, str]:
    """Return τ and its origin: the default, refined across sessions where there are two.

    The refinement is shrunken: 20 viewers have the weight of the default.
    """
    n_viewers = training.n_viewers
    saccades_per_viewer = float(windows.weight.sum()) / n_viewers
    usual = default_temperature(vectors.shape[1], saccades_per_viewer)
    default = (
        f"the default temperature {usual:.3g} for {saccades_per_viewer:.0f} saccades of a viewer "
        "(BioEye 2015, across sessions)"
    )
    if training.n_sessions < 2 or n_viewers < FEWEST_VIEWERS_TO_CALIBRATE:
        return usual, default
    folds = session_folds(training, windows)
    viewers = training.viewers[windows.scanpath]
    cosines, labels = held_out_cosines(training, windows, vectors, folds, viewers)
    if not len(labels):
        return usual, default
    own = fit_temperature(cosines, labels)
    share = n_viewers / (n_viewers + FEWEST_VIEWERS_TO_CALIBRATE)
    shrunken = float(np.exp(share * np.log(own) + (1 - share) * np.log(usual)))
    return shrunken, f"temperature {shrunken:.3g}, refined across sessions from {default}"


def strangers_threshold(
    training: TrainingSet,
    block: Block,
    windows: Windows,
    chosen: Hyperparameters,
    false_acceptance_rate: float,
    seed: int = 0,
) -> MatchThreshold:
    """Return the threshold from viewers who are left out, a fold at a time."""
    n_viewers = training.n_viewers
    if n_viewers < FEWEST_FOR_STRANGERS:
        return no_threshold(f"{n_viewers} viewers are too few to know what strangers are like")
    rng = np.random.default_rng(seed)
    fold_of_viewer = rng.permutation(n_viewers) % VIEWER_FOLDS
    matches: dict[float, list[float]] = {}
    for fold in range(VIEWER_FOLDS):
        is_known = fold_of_viewer[training.viewers] != fold
        known = windows.of(is_known)
        embedding = fit_embedding(block, known, chosen)
        labels = training.viewers[known.scanpath]
        directions = directions_of(embedding.embed(known), known.weight, labels, n_viewers)
        directions = directions[fold_of_viewer != fold]
        strange = windows.of(~is_known)
        vectors = embedding.embed(strange)
        for viewer in np.flatnonzero(fold_of_viewer == fold):
            own = training.viewers[strange.scanpath] == viewer
            _add_matches(matches, vectors[own], strange.weight[own], directions, rng)
    found = {amount: np.array(values) for amount, values in matches.items()}
    return threshold_of_matches(
        found,
        false_acceptance_rate,
        f"{n_viewers} viewers, left out a quarter at a time",
        n_strangers=n_viewers,
        usual=USUAL_STRANGERS,
        # the best of n matches grows like ln n, and impostors meet fewer viewers
        growth=float(np.log(n_viewers) / np.log(n_viewers * (1 - 1 / VIEWER_FOLDS))),
    )


def _add_matches(
    matches: dict[float, list[float]],
    vectors: SingleFloats,
    weights: Floats,
    directions: SingleFloats,
    rng: np.random.Generator,
) -> None:
    """Add the best matches of an impostor for several numbers of saccades."""
    seen = np.concatenate(([0.0], np.cumsum(weights)))
    for amount in STRANGER_SACCADES:
        last = int(np.searchsorted(seen, seen[-1] - amount, side="right"))
        if seen[-1] < amount:
            break
        for first in rng.choice(last, min(last, STRANGER_DRAWS), replace=False):
            stop = int(np.searchsorted(seen, seen[first] + amount))
            part = slice(first, stop)
            total = weights[part] @ vectors[part].astype(np.float64)
            length = max(float(np.linalg.norm(total)), 1e-12)
            cosines = directions @ (total / length).astype(np.float32)
            matches.setdefault(amount, []).append(best_match(cosines.astype(np.float64)))
