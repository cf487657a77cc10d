"""Training of `gazelive` on recordings: profiles of movement features.

Features of the saccade, of the 48 ms after it and of the fixation before it; a robust log-normal
(signed: normal) density of each for 12 types of saccades (four directions, three sizes). People
differ in the location of a density, not in its width: only the first entry of each score is kept.

How profiles vary between people, sessions and saccades is learned from the lab's own recordings and
from other people's (`shipped.profiles`). A lab with one session cannot learn how people change;
with few people it cannot learn how they differ.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

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
from gazelive.gaze import Flags, Floats, Integers
from gazelive.identification.calibration import fit_temperature, held_out_loss
from gazelive.identification.comparison.counted_saccades import counted_rows
from gazelive.identification.comparison.profile import ProfileIdentifier, ProfileSpace
from gazelive.identification.fitted import (
    NUMBERS_OF_IMAGES,
    PARTS_HELD_OUT,
    TEXTURE_GROUP,
    Accuracy,
    Fitted,
    Options,
    accuracy_of,
    image_groups,
    images_held_out,
)
from gazelive.identification.hyperparameters import N_SEARCH_FOLDS, Grid, Hyperparameters, Loss
from gazelive.identification.open_set import (
    NO_STRANGERS,
    Strangers,
    no_strangers,
    strangers_of_matches,
)
from gazelive.identification.scores import Block, robust_block
from gazelive.identification.shipped.profiles import Variation, shipped_variation
from gazelive.identification.shipped.strangers import shipped_genuine
from gazelive.identification.training_data import TrainingSet
from gazelive.verdict import FEWEST_VIEWERS

GROUPS = ("movement", "after", TEXTURE_GROUP)
"""Groups of features that `Options.without` names; the name of a feature begins with its group."""
CLIPPED_SD = 3.0
MIN_VALUES = 10
"""Of a cell. With a higher limit, two or three viewers of 100 saccades have no cell at all and only
the frequencies of directions count."""
GRID = Grid({"ridge": (0.1, 0.3, 0.6)}, {"ridge": 0.3})
"""`ridge` is added to the noise of a saccade in every direction, in units of the mean."""
PIECE, TOGETHER = 4, 3
"""Saccades of a piece, and pieces from which the noise of a saccade is learned together: neighbours
are alike."""
USUAL_PIECES, USUAL_VIEWERS = 500.0, 80.0
"""Weights of the shipped noise, and of the shipped differences between people and sessions."""
SESSION_SHARE = 0.7
"""Share of the shipped changes between sessions."""
BETWEEN_SHRINKAGE, SESSION_SHRINKAGE = 0.15, 0.5
"""Towards the mean variance of all directions."""
MOST_DIMENSIONS = 128
LEAST_SACCADES = 1e-3
"""Of a viewer without any saccade that counts: nothing is known of them."""
USUAL_TEMPERATURE = 0.2
"""α of 20 saccades, fitted across the sessions of BioEye 2015 and the clips of SAVAM."""
_DEFAULT_TEMPERATURE = f"the default temperature {USUAL_TEMPERATURE:.3g} (BioEye 2015 and SAVAM)"
FEWEST_VIEWERS_TO_CALIBRATE = 20
VIEWER_FOLDS, FEW_VIEWERS = 4, 8
"""Viewers are left out in this many parts, few viewers one by one."""
STRANGER_SACCADES = (4, 8, 16, 32, 64, 128, 256)
STRANGER_DRAWS = 12


@dataclass(frozen=True, eq=False)
class Pieces:
    """Summed tempered scores of about `PIECE` neighbouring saccades each."""

    summed: Floats
    """(pieces, scores)"""
    n_saccades: Floats
    scanpath: Integers
    group: Integers
    """Number of the `TOGETHER` neighbours it belongs to."""
    viewer: Integers
    session: Integers

    def of(self, chosen: Flags) -> Pieces:
        """Return some of the pieces."""
        return Pieces(
            self.summed[chosen],
            self.n_saccades[chosen],
            self.scanpath[chosen],
            self.group[chosen],
            self.viewer[chosen],
            self.session[chosen],
        )

    def grouped(self, labels: Integers, n: int) -> tuple[Floats, Floats]:
        """Return the mean tempered score (n, scores) and the saccades of each label."""
        summed, counts = np.zeros((n, self.summed.shape[1])), np.zeros(n)
        np.add.at(summed, labels, self.summed)
        np.add.at(counts, labels, self.n_saccades)
        return summed / np.maximum(counts, 1)[:, None], counts


def fit_gazelive_samples(method: str, training: TrainingSet, options: Options) -> Fitted:
    """Fit `gazelive` to a training set made from recordings."""
    block = fit_block(training, options.groups_left_out)
    options.report(0.1)
    pieces = pieces_of(training, block)
    if len(pieces.summed) < 2:
        raise ModelError("too few saccades to learn from")
    options.report(0.4)
    prior = shipped_variation(block.dimension_names()) if options.shipped else None
    chosen = GRID.choose(_loss(training, block, pieces, prior), search=options.search)
    identifier = fit_profiles(method, training.viewer_ids, block, pieces, prior, chosen)
    options.report(0.5)
    several = training.n_sessions > 1
    folds = pieces.session if several else training.folds(pieces.scanpath)
    without = without_folds(training.viewer_ids, block, pieces, prior, chosen, folds)
    options.report(0.7)
    matches, labels = held_out_matches(without, pieces, folds, pieces.viewer)
    if options.same_session:
        single = held_out_matches(without, pieces, folds, pieces.scanpath)
        temperature, how = refined_temperature(*single, training.n_viewers, "within sessions")
    elif several:
        temperature, how = refined_temperature(
            matches, labels, training.n_viewers, "across sessions"
        )
    else:
        temperature, how = USUAL_TEMPERATURE, _DEFAULT_TEMPERATURE
    strangers = left_out_strangers(identifier, pieces, prior, chosen, options.false_acceptance_rate)
    options.report(0.9)
    protocol = "whole sessions held out" if several else PARTS_HELD_OUT
    return Fitted(
        replace(identifier, temperature=temperature, strangers=strangers),
        how + ("" if options.shipped else "; without shipped priors"),
        accuracy_of(matches, labels, protocol, training.n_viewers),
        hyperparameters=chosen,
        accuracy_by_images=_accuracy_by_images(without, pieces, folds, training.n_viewers),
    )


def identity_features(without: Collection[str] = ()) -> list[Feature]:
    """Return the features of all groups but some, or raise `ModelError` if none is left."""
    everything = (*MOVEMENT, *AFTER, *TEXTURE)
    kept = [f for f in everything if f.name.partition("_")[0] not in without]
    if not kept:
        raise ModelError(f"no features left: keep one of {', '.join(GROUPS)}")
    features = copied([f.name for f in kept if not f.signed])
    return features + copied([f.name for f in kept if f.signed], signed=True)


def fit_block(training: TrainingSet, without: Collection[str] = ()) -> Block:
    """Fit the pooled densities of all groups of features but some."""
    return robust_block(
        FeatureSet(DIRECTIONS_AND_SIZES, identity_features(without)),
        counted_rows(training.rows()),
        family="log-gaussian",
        entries=1,
        clipped_sd=CLIPPED_SD,
        min_values=MIN_VALUES,
    )


def pieces_of(training: TrainingSet, block: Block) -> Pieces:
    """Cut all scanpaths into pieces."""
    number_of = {session: i for i, session in enumerate(sorted(set(training.sessions)))}
    summed, n_saccades, where, groups = [], [], [], [0]
    for number, path in enumerate(training.scanpaths):
        rows = counted_rows(path.saccades)
        scores = block.row_scores(rows)
        tempered = np.sign(scores) * np.sqrt(np.abs(scores))
        n_pieces = max(1, round(len(rows) / PIECE)) if len(rows) else 0
        for i, piece in enumerate(np.array_split(tempered, n_pieces) if n_pieces else ()):
            summed.append(piece.sum(axis=0))
            n_saccades.append(float(len(piece)))
            where.append(number)
            groups.append(groups[-1] + (i % TOGETHER == 0))
    scanpath = np.array(where, np.int64)
    sessions = np.array([number_of[session] for session in training.sessions], np.int64)
    return Pieces(
        np.array(summed).reshape(-1, block.n_dimensions),
        np.array(n_saccades),
        scanpath,
        np.array(groups[1:], np.int64) - 1,
        training.viewers[scanpath],
        sessions[scanpath],
    )


def fit_profiles(
    method: str,
    viewer_ids: tuple[str, ...],
    block: Block,
    pieces: Pieces,
    prior: Variation | None,
    chosen: Hyperparameters,
) -> ProfileIdentifier:
    """Fit the space and everybody's profile; temperature and strangers are still to come."""
    means, _ = pieces.grouped(pieces.viewer, len(viewer_ids))
    centre = means[np.unique(pieces.viewer)].mean(axis=0)
    space = _space(block, centre, variation_of(pieces, prior), chosen["ridge"])
    nobody = np.zeros((len(viewer_ids), len(space.between)))
    empty = ProfileIdentifier(
        method,
        viewer_ids,
        space,
        nobody,
        nobody[:, 0],
        nobody[:, 0],
        USUAL_TEMPERATURE,
        NO_STRANGERS,
    )
    return _with_profiles(empty, pieces)


def variation_of(pieces: Pieces, prior: Variation | None) -> Variation:
    """Return how profiles vary: the lab's own, shrunken towards the shipped one."""
    noise, n_groups = _noise(pieces)
    if prior is not None:
        noise = _shrunken(noise, prior.noise, n_groups, USUAL_PIECES)
    session, n_changed = _changes(pieces, noise)
    if prior is not None:
        shipped = SESSION_SHARE * prior.session
        session = _shrunken(session, shipped, n_changed, USUAL_VIEWERS)
    present, viewer = np.unique(pieces.viewer, return_inverse=True)
    n_viewers = len(present)
    means, counts = pieces.grouped(viewer, n_viewers)
    between = np.zeros_like(noise)
    if n_viewers > 1:
        n_sessions = _n_sessions(pieces.session, viewer, n_viewers)
        of_noise, of_session = float(np.mean(1 / counts)), float(np.mean(1 / n_sessions))
        between = np.cov(means.T) - noise * of_noise - session * of_session
    if prior is not None:
        between = _shrunken(between, prior.between, n_viewers, USUAL_VIEWERS)
    return Variation(noise, between, session)


def _sessions(pieces: Pieces) -> tuple[Integers, Integers]:
    """Return a number for each viewer's session (pieces,), and the viewer of each."""
    label = pieces.viewer * (int(pieces.session.max()) + 1) + pieces.session
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    return number, pieces.viewer[first]


def _noise(pieces: Pieces) -> tuple[Floats, int]:
    """Return the covariance of a saccade around its session's mean, and the number of groups."""
    session, viewers = _sessions(pieces)
    of_session, _ = pieces.grouped(session, len(viewers))
    _, first, group = np.unique(pieces.group, return_index=True, return_inverse=True)
    means, counts = pieces.grouped(group, len(first))
    deviation = (means - of_session[session[first]]) * np.sqrt(counts)[:, None]
    n_free = max(len(means) - len(viewers), 1)
    return np.asarray(deviation.T @ deviation / n_free, np.float64), len(means)


def _changes(pieces: Pieces, noise: Floats) -> tuple[Floats, int]:
    """Return the covariance of sessions around their viewer's mean.

    Also return how many viewers have several sessions; without any the covariance is 0.
    """
    session, viewers = _sessions(pieces)
    means, counts = pieces.grouped(session, len(viewers))
    n_own = np.bincount(viewers)
    several = n_own[viewers] > 1
    if not several.any():
        return np.zeros_like(noise), 0
    of_viewer = np.zeros((len(n_own), means.shape[1]))
    np.add.at(of_viewer, viewers, means)
    deviation = (means - (of_viewer / np.maximum(n_own, 1)[:, None])[viewers])[several]
    n_changed = int((n_own > 1).sum())
    changes = deviation.T @ deviation / (int(several.sum()) - n_changed)
    return changes - noise * float(np.mean(1 / counts[several])), n_changed


def _n_sessions(session: Integers, viewer: Integers, n_viewers: int) -> Floats:
    """Return how many sessions each viewer has, at least 1."""
    pairs = np.unique(np.stack((viewer, session), axis=1), axis=0)
    return np.maximum(np.bincount(pairs[:, 0], minlength=n_viewers), 1).astype(np.float64)


def _shrunken(own: Floats, shipped: Floats, n: float, usual: float) -> Floats:
    """Return a covariance of n things, shrunken towards one that counts as `usual` things."""
    share = n / (n + usual)
    return np.asarray(share * own + (1 - share) * shipped, np.float64)


def _space(block: Block, centre: Floats, variation: Variation, ridge: float) -> ProfileSpace:
    """Return the space in which noise is 1 and people differ along the axes."""
    n_scores = len(centre)
    size = float(np.trace(variation.noise)) / n_scores
    noise = variation.noise + max(ridge * size, 1e-9) * np.eye(n_scores)
    values, vectors = np.linalg.eigh(noise)
    whitening = vectors / np.sqrt(values)
    between = whitening.T @ variation.between @ whitening
    values, vectors = np.linalg.eigh((between + between.T) / 2)
    projection = whitening @ vectors
    session = np.sum(projection * (variation.session @ projection), axis=0)
    between, session = np.maximum(values, 0), np.maximum(session, 0)
    between = (1 - BETWEEN_SHRINKAGE) * between + BETWEEN_SHRINKAGE * between.mean()
    session = (1 - SESSION_SHRINKAGE) * session + SESSION_SHRINKAGE * session.mean()
    between = np.maximum(between, 1e-9)
    kept = np.argsort(-between / (session + 1 / 50), kind="stable")[:MOST_DIMENSIONS]
    return ProfileSpace(
        # C order, as when read from a file: another order rounds differently
        block,
        centre,
        np.ascontiguousarray(projection[:, kept]),
        between[kept],
        session[kept],
    )


def _loss(training: TrainingSet, block: Block, pieces: Pieces, prior: Variation | None) -> Loss:
    """Return the loss of a search: held-out scanpaths (or parts of long ones) are identified."""
    folds = training.folds(pieces.scanpath, N_SEARCH_FOLDS)

    def loss(at: Hyperparameters) -> float:
        without = without_folds(training.viewer_ids, block, pieces, prior, at, folds)
        return held_out_loss(*held_out_matches(without, pieces, folds, pieces.scanpath))

    return loss


def without_folds(
    viewer_ids: tuple[str, ...],
    block: Block,
    pieces: Pieces,
    prior: Variation | None,
    chosen: Hyperparameters,
    folds: Integers,
) -> dict[int, ProfileIdentifier]:
    """Return the identifier without each fold that nobody has all pieces in.

    The space is fitted without it, too: directions in which people seem to differ contain what is
    held out.
    """
    found = {}
    for fold in np.unique(folds):
        rest = pieces.of(folds != fold)
        if np.isin(pieces.viewer[folds == fold], rest.viewer).all():
            found[int(fold)] = fit_profiles("", viewer_ids, block, rest, prior, chosen)
    return found


def held_out_matches(
    without: dict[int, ProfileIdentifier], pieces: Pieces, folds: Integers, parts: Integers
) -> tuple[Floats, Integers]:
    """Return α·match (parts, viewers) of held-out parts, and the viewer of each part.

    `parts` numbers what is judged together in one fold; pieces with a negative number are not
    judged.
    """
    matches, labels = [], []
    for fold, known in without.items():
        out = (folds == fold) & (parts >= 0)
        present, first, part = np.unique(parts[out], return_index=True, return_inverse=True)
        means, counts = pieces.of(out).grouped(part, len(present))
        matches += [
            known.alpha(n) * known.matches(n * mean @ known.space.projection, n)
            for mean, n in zip(means, counts, strict=True)
        ]
        labels += pieces.viewer[out][first].tolist()
    n_viewers = len(next(iter(without.values())).viewer_ids) if without else 0
    return np.array(matches).reshape(len(labels), n_viewers), np.array(labels, np.int64)


def _with_profiles(identifier: ProfileIdentifier, pieces: Pieces) -> ProfileIdentifier:
    """Return the identifier with the profiles that some pieces give."""
    n_viewers, space = len(identifier.viewer_ids), identifier.space
    means, counts = pieces.grouped(pieces.viewer, n_viewers)
    profiles = (means - space.centre) @ space.projection
    return replace(
        identifier,
        profiles=np.where(counts[:, None] > 0, profiles, 0.0),
        n_saccades=np.maximum(counts, LEAST_SACCADES),
        n_sessions=_n_sessions(pieces.session, pieces.viewer, n_viewers),
    )


def _accuracy_by_images(
    without: dict[int, ProfileIdentifier], pieces: Pieces, folds: Integers, n_viewers: int
) -> dict[str, Accuracy]:
    """Return the accuracy for several images together, whose saccades are one profile."""
    found = {}
    for name, n_images in NUMBERS_OF_IMAGES.items():
        groups = image_groups(pieces.viewer, pieces.scanpath, folds, n_images)
        matches, labels = held_out_matches(without, pieces, folds, groups)
        protocol = images_held_out(n_images)
        accuracy = accuracy_of(matches, labels, protocol, n_viewers)
        if accuracy is not None:
            found[name] = accuracy
    return found


def refined_temperature(
    matches: Floats, labels: Integers, n_viewers: int, where: str
) -> tuple[float, str]:
    """Return α of 20 saccades and its origin: the default, or refined with held-out matches.

    The refinement is shrunken: 20 viewers have the weight of the default.
    """
    if n_viewers < FEWEST_VIEWERS_TO_CALIBRATE or not len(labels):
        return USUAL_TEMPERATURE, _DEFAULT_TEMPERATURE
    share = n_viewers / (n_viewers + FEWEST_VIEWERS_TO_CALIBRATE)
    own = USUAL_TEMPERATURE * float(np.exp(share * np.log(fit_temperature(matches, labels))))
    return own, f"temperature {own:.3g}, refined {where} from {_DEFAULT_TEMPERATURE}"


def left_out_strangers(
    identifier: ProfileIdentifier,
    pieces: Pieces,
    prior: Variation | None,
    chosen: Hyperparameters,
    false_acceptance_rate: float,
    seed: int = 0,
) -> Strangers:
    """Return the strangers that viewers are to the others, left out some at a time."""
    n_viewers = len(identifier.viewer_ids)
    if n_viewers < FEWEST_VIEWERS:
        return no_strangers(f"{n_viewers} viewers are too few to know what strangers are like")
    rng = np.random.default_rng(seed)
    n_folds = n_viewer_folds(n_viewers)
    fold_of_viewer = rng.permutation(n_viewers) % n_folds
    matches: dict[float, list[tuple[float, float]]] = {}
    for fold in range(n_folds):
        known = np.flatnonzero(fold_of_viewer != fold)
        others = pieces.of(np.isin(pieces.viewer, known))
        others = replace(others, viewer=np.searchsorted(known, others.viewer))
        names = tuple(identifier.viewer_ids[i] for i in known)
        without = fit_profiles("", names, identifier.space.block, others, prior, chosen)
        for viewer in np.flatnonzero(fold_of_viewer == fold):
            _add_matches(matches, without, pieces.of(pieces.viewer == viewer), rng)
    return strangers_of_matches(
        {np.mean(values, axis=0)[0]: np.array(values)[:, 1] for values in matches.values()},
        false_acceptance_rate,
        f"{n_viewers} viewers, left out {'a quarter' if n_folds < n_viewers else 'one'} at a time",
        shipped_genuine("gazelive"),
        float(np.median(identifier.n_saccades)),
        n_strangers=n_viewers,
        n_compared=n_viewers * (1 - 1 / n_folds),
        least_spread=1.0,
    )


def n_viewer_folds(n_viewers: int) -> int:
    """Return in how many parts viewers are left out as strangers."""
    return n_viewers if n_viewers <= FEW_VIEWERS else VIEWER_FOLDS


def _add_matches(
    matches: dict[float, list[tuple[float, float]]],
    identifier: ProfileIdentifier,
    pieces: Pieces,
    rng: np.random.Generator,
) -> None:
    """Add the best matches of an impostor for several numbers of saccades."""
    seen = np.concatenate(([0.0], np.cumsum(pieces.n_saccades)))
    summed = np.concatenate((np.zeros((1, pieces.summed.shape[1])), np.cumsum(pieces.summed, 0)))
    projected = summed @ identifier.space.projection
    for amount in STRANGER_SACCADES:
        last = int(np.searchsorted(seen, seen[-1] - amount, side="right"))
        if seen[-1] < amount:
            break
        for first in rng.choice(last, min(last, STRANGER_DRAWS), replace=False):
            stop = int(np.searchsorted(seen, seen[first] + amount))
            n = seen[stop] - seen[first]
            found = identifier.matches(projected[stop] - projected[first], n)
            matches.setdefault(amount, []).append((n, float(found.max())))
