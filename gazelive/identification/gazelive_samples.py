"""The `gazelive` method on recordings: how the eye moves, compared in a whitened space.

Features of the saccade, of the 48 ms after it and of the fixation before it; a robust log-normal
(signed: normal) density of each for 12 types of saccades (four directions, three sizes). Where a
density lies tells people apart; how wide it is does not, so only the first entry of each score is
kept.

All of training happens on the windows' tempered scores, which are computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelError
from gazelive.features.feature_set import DIRECTIONS_AND_SIZES, Feature, FeatureSet, copied
from gazelive.features.scanpath import Scanpath
from gazelive.features.schema import AFTER, MOVEMENT, TEXTURE
from gazelive.identification.embedding import Embedding, OpenWindow, best_match, counted_rows
from gazelive.identification.folds import shares_saccades
from gazelive.identification.machines import fit_temperature
from gazelive.identification.open_set import (
    MatchThreshold,
    UsualStrangers,
    no_threshold,
    threshold_of_matches,
)
from gazelive.identification.representation import Block, robust_block
from gazelive.identification.training_set import TrainingSet
from gazelive.identification.units import unit_windows

Floats = npt.NDArray[np.float64]
SingleFloats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

LEAST_AMPLITUDE_DEG = 0.3
STEP = 5
CLIPPED_SD = 3.0
MIN_VALUES = 10
"""Of a cell. With more to ask for, two or three viewers of 100 saccades have no cell at all and
are told apart by the frequencies of directions alone, far too sure of itself."""
RIDGE = 0.5
"""Added to each eigenvalue of the windows' covariance, in units of the mean eigenvalue."""
MOST_DIMENSIONS = 400
LARGEST_TEMPERATURE = 60.0
USUAL_DIMENSIONS = 60.0
USUAL_SACCADES = 20.0
"""How τ depends on enrolment (`default_temperature`), fitted across sessions of BioEye 2015
(random dots and reading, both ways; galleries of 2 to 20, 20 to 230 saccades of each)."""
USUAL_STRANGERS = UsualStrangers(spread=0.022, spread_per_log=0.0057, n_strangers=100.0)
"""From half of the people of BioEye 2015."""
FEWEST_VIEWERS_TO_CALIBRATE = 20
FEWEST_FOR_STRANGERS = 4
VIEWER_FOLDS = 4
STRANGER_SACCADES = (10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
STRANGER_DRAWS = 12


def identity_features(*, texture: bool = True) -> list[Feature]:
    """Return the features; without `texture` nothing of the fixation before is used.

    The noise in it may be the recording's rather than the person's.
    """
    groups = (*MOVEMENT, *AFTER, *(TEXTURE if texture else ()))
    features = copied([f.name for f in groups if not f.signed])
    return features + copied([f.name for f in groups if f.signed], signed=True)


@dataclass(frozen=True, eq=False)
class Windows:
    """The tempered (not yet centred) scores of all windows of a training set, in order."""

    scores: SingleFloats
    """(windows, dimensions)"""
    scanpath: Integers
    weight: Floats
    """How many saccades each stands for; windows overlap."""

    def of(self, scanpaths: Flags) -> Windows:
        """Return the windows of the chosen scanpaths."""
        chosen = scanpaths[self.scanpath]
        return Windows(self.scores[chosen], self.scanpath[chosen], self.weight[chosen])


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


def tempered_windows(scanpaths: Sequence[Scanpath], block: Block) -> Windows:
    """Return the tempered score of every window of every scanpath."""
    nothing = np.zeros((block.n_dimensions, 1), np.float32)
    uncentred = Embedding(block, np.zeros(block.n_dimensions), nothing, STEP, LEAST_AMPLITUDE_DEG)
    window = OpenWindow(uncentred)
    scores, of_scanpath, weights = [], [], []
    for number, path in enumerate(scanpaths):
        rows = counted_rows(path.saccades, LEAST_AMPLITUDE_DEG)
        pieces = unit_windows(len(rows), STEP)
        shared = sum(beyond - first for first, beyond in pieces)
        for first, beyond in pieces:
            window.clear()
            for row in rows[first:beyond]:
                window.add(row)
            scores.append(window.tempered().copy())
            of_scanpath.append(number)
            weights.append(len(rows) * (beyond - first) / shared)
    return Windows(
        np.array(scores, np.float32).reshape(-1, block.n_dimensions),
        np.array(of_scanpath, np.int64),
        np.array(weights),
    )


def fit_embedding(block: Block, windows: Windows) -> Embedding:
    """Fit centre and whitening to windows."""
    if len(windows.scores) < 2:
        raise ModelError("there are too few saccades to learn from")
    mean = windows.scores.mean(axis=0, dtype=np.float64)
    centred = windows.scores - mean.astype(np.float32)
    covariance = (centred.T @ centred).astype(np.float64) / len(centred)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    kept = np.flatnonzero(eigenvalues > 1e-6 * eigenvalues[-1])[-MOST_DIMENSIONS:]
    reach = np.sqrt(eigenvalues[kept] + RIDGE * eigenvalues.mean())
    # in the order in which it is read from a file: another one rounds differently
    projection = np.ascontiguousarray(vectors[:, kept] / reach, np.float32)
    return Embedding(block, mean, projection, STEP, LEAST_AMPLITUDE_DEG)


def embedded(embedding: Embedding, windows: Windows) -> SingleFloats:
    """Return the embeddings (windows, embedded)."""
    centred = windows.scores - embedding.mean.astype(np.float32)
    return np.asarray(centred @ embedding.projection, np.float32)


def directions_of(vectors: SingleFloats, weights: Floats, labels: Integers, n: int) -> SingleFloats:
    """Return the unit vectors of the weighted sums of windows by label."""
    summed = np.zeros((n, vectors.shape[1]))
    np.add.at(summed, labels, vectors * weights[:, None])
    lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.asarray(summed / np.maximum(lengths, 1e-12), np.float32)


def held_out_cosines(
    training: TrainingSet, windows: Windows, vectors: SingleFloats, folds: Integers
) -> tuple[Floats, Integers]:
    """Return cosines (parts, viewers) of held-out parts, and the viewer of each part.

    A part is all of a viewer's windows in one fold, but those that share saccades with another.
    """
    n_viewers = training.n_viewers
    viewers = training.viewers[windows.scanpath]
    unseen = ~shares_saccades(windows.scanpath, folds)
    cosines, labels = [], []
    for fold in np.unique(folds):
        rest, out = folds != fold, (folds == fold) & unseen
        present = np.unique(viewers[out])
        if not len(present) or not np.isin(present, viewers[rest]).all():
            continue
        known = directions_of(vectors[rest], windows.weight[rest], viewers[rest], n_viewers)
        probes = directions_of(vectors[out], windows.weight[out], viewers[out], n_viewers)
        cosines.append((probes[present] @ known.T).astype(np.float64))
        labels.append(present)
    if not cosines:
        return np.empty((0, n_viewers)), np.empty(0, np.int64)
    return np.concatenate(cosines), np.concatenate(labels)


def session_folds(training: TrainingSet, windows: Windows) -> Integers:
    """Return the number of each window's session."""
    names = sorted(set(training.sessions))
    codes = np.array([names.index(session) for session in training.sessions], np.int64)
    return codes[windows.scanpath]


def default_temperature(n_dimensions: int, saccades_per_viewer: float) -> float:
    """Return τ for so much enrolment: 48 with 400 dimensions and 216 saccades of each viewer.

    In a space of few dimensions, which is all that few windows span, anybody's cosines are large;
    and the mean of few windows lies beside where the person's own would.
    """
    of_space = n_dimensions / (n_dimensions + USUAL_DIMENSIONS)
    of_means = saccades_per_viewer / (saccades_per_viewer + USUAL_SACCADES)
    return LARGEST_TEMPERATURE * of_space * of_means


def calibrated_temperature(
    training: TrainingSet, windows: Windows, vectors: SingleFloats
) -> tuple[float, str]:
    """Return τ and how it was found: the default, or refined across sessions where there are two.

    The refinement is shrunken: 20 viewers count as much as the default.
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
    cosines, labels = held_out_cosines(training, windows, vectors, folds)
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
    false_acceptance_rate: float,
    seed: int = 0,
) -> MatchThreshold:
    """Return how well the best of the others fits viewers who were left out, a fold at a time."""
    n_viewers = training.n_viewers
    if n_viewers < FEWEST_FOR_STRANGERS:
        return no_threshold(f"{n_viewers} viewers are too few to know what strangers are like")
    rng = np.random.default_rng(seed)
    fold_of_viewer = rng.permutation(n_viewers) % VIEWER_FOLDS
    matches: dict[float, list[float]] = {}
    for fold in range(VIEWER_FOLDS):
        is_known = fold_of_viewer[training.viewers] != fold
        known = windows.of(is_known)
        embedding = fit_embedding(block, known)
        labels = training.viewers[known.scanpath]
        directions = directions_of(embedded(embedding, known), known.weight, labels, n_viewers)
        directions = directions[fold_of_viewer != fold]
        strange = windows.of(~is_known)
        vectors = embedded(embedding, strange)
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
        # the best of n is about as good as ln n, and those left out met fewer
        growth=float(np.log(n_viewers) / np.log(n_viewers * (1 - 1 / VIEWER_FOLDS))),
    )


def _add_matches(
    matches: dict[float, list[float]],
    vectors: SingleFloats,
    weights: Floats,
    directions: SingleFloats,
    rng: np.random.Generator,
) -> None:
    """Add the best matches of a stranger, seen for several numbers of saccades."""
    seen = np.concatenate(([0.0], np.cumsum(weights)))
    for amount in STRANGER_SACCADES:
        last = int(np.searchsorted(seen, seen[-1] - amount, side="right"))
        if seen[-1] < amount:
            break
        for first in rng.choice(last, min(last, STRANGER_DRAWS), replace=False):
            beyond = int(np.searchsorted(seen, seen[first] + amount))
            part = slice(first, beyond)
            total = weights[part] @ vectors[part].astype(np.float64)
            length = max(float(np.linalg.norm(total)), 1e-12)
            cosines = directions @ (total / length).astype(np.float32)
            matches.setdefault(amount, []).append(best_match(cosines.astype(np.float64)))
