"""Training of similarity methods: pairs by leave-part-out, the fusion's weights, impostors.

Units are images or 20 s windows. They are held out in folds along images (windows: parts of time),
or session by session if every viewer has two: then the weights know how people change. A probe is
a few units of one fold, or the beginning of one; the gallery is everybody's profile without the
fold, so that own profiles are no larger than others'. All other viewers are impostors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gazelive.gaze import Floats, Integers
from gazelive.identification.calibration import session_correlation
from gazelive.identification.comparison.conditional_logit import (
    Fusion,
    Pairs,
    fit_weights,
    held_out_scores,
    mean_loss,
)
from gazelive.identification.comparison.similarity import (
    Comparison,
    Described,
    SimilarityIdentifier,
    Unit,
    empty_unit,
    judge,
    units_of,
)
from gazelive.identification.fitted import (
    PARTS_HELD_OUT,
    SCANPATHS_HELD_OUT,
    Fitted,
    Options,
    accuracy_of,
)
from gazelive.identification.hyperparameters import Grid, Hyperparameters
from gazelive.identification.open_set import (
    Genuine,
    Strangers,
    no_strangers,
    strangers_of_matches,
)
from gazelive.identification.shipped.strangers import shipped_genuine
from gazelive.identification.training_data import TrainingSet
from gazelive.identification.units import unit_folds
from gazelive.verdict import FEWEST_VIEWERS

BEGINNING = 0.25
"""Smallest size of a probe: this share of a unit, from its beginning."""
SIZES = (BEGINNING, 1, 2, 5, 10, 20)
"""Sizes of probes in units."""
N_FOLDS = 3
MOST_DRAWS = 10
"""Probes of each viewer, size and fold, at most …"""
MOST_PROBES, MOST_FOR_SCALE = 1500, 300
"""… and of all viewers and folds, to fit all weights or only their scale."""
MOST_VIEWERS = 80
"""Weights are fitted to this many viewers at most: for a conditional logit, a random sample of the
alternatives is enough."""
SESSIONS_HELD_OUT = "single scanpaths of sessions that were held out"
LEAST_SHARE = 0.5
"""A size is used if this share of the viewers have enough units for it."""
RIDGES: dict[str, tuple[float, ...]] = {"ridge": (0.1, 0.5, 2.0)}
"""Grid of the strength of the prior on the weights, in pairs."""
MOST_STRANGERS = 40
STRANGER_SIZES = (BEGINNING, 1, 2, 5, 10, 20, 50)
STRANGER_DRAWS = 10


@dataclass(frozen=True, eq=False)
class TrainingUnits:
    """Units of all viewers."""

    units: tuple[Unit, ...]
    viewers: Integers
    folds: Integers
    """(units,)"""
    n_viewers: int
    protocol: str
    """Description of the folds."""
    by_session: bool


@dataclass(frozen=True, eq=False)
class DescribedUnits:
    """Descriptions of units and of their beginnings."""

    comparison: Comparison
    whole: list[Described]
    beginnings: list[Described]
    viewers: Integers
    folds: Integers
    n_viewers: int
    protocol: str
    by_session: bool

    @classmethod
    def of(cls, comparison: Comparison, units: TrainingUnits) -> DescribedUnits:
        """Describe all units."""
        return cls(
            comparison,
            [comparison.describe(unit) for unit in units.units],
            [comparison.describe(unit.beginning(BEGINNING)) for unit in units.units],
            units.viewers,
            units.folds,
            units.n_viewers,
            units.protocol,
            units.by_session,
        )

    def profiles(self, without_fold: int = -1) -> list[Described]:
        """Return the profile of each viewer; empty where nothing is left."""
        nothing = self.comparison.describe(empty_unit())
        used = self.folds != without_fold
        own = [np.flatnonzero(used & (self.viewers == v)) for v in range(self.n_viewers)]
        return [self.comparison.pool([nothing, *(self.whole[i] for i in mine)]) for mine in own]

    def draw(
        self, chosen: Integers, size: float, n_draws: int, rng: np.random.Generator
    ) -> Iterator[Described]:
        """Yield random probes of a size from the chosen units."""
        if size <= 1:
            source = self.whole if size == 1 else self.beginnings
            yield from (source[i] for i in rng.permutation(chosen)[:n_draws])
            return
        for _ in range(n_draws):
            drawn = rng.choice(chosen, min(int(size), len(chosen)), replace=False)
            yield self.comparison.pool([self.whole[i] for i in drawn])

    def select(self, viewers: Integers) -> DescribedUnits:
        """Return the units of some viewers, numbered by their positions in `viewers`."""
        number = {int(old): new for new, old in enumerate(viewers)}
        kept = np.flatnonzero(np.isin(self.viewers, viewers))
        return replace(
            self,
            whole=[self.whole[i] for i in kept],
            beginnings=[self.beginnings[i] for i in kept],
            viewers=np.array([number[int(self.viewers[i])] for i in kept], np.int64),
            folds=self.folds[kept],
            n_viewers=len(viewers),
        )


def training_units(training: TrainingSet) -> TrainingUnits:
    """Return the units of a training set."""
    units: list[Unit] = []
    scanpaths: list[int] = []
    for number, path in enumerate(training.scanpaths):
        own = units_of(path.saccades, path.fixations)
        units += own
        scanpaths += [number] * len(own)
    where = np.array(scanpaths, np.int64)
    images = [training.scanpaths[i].image for i in scanpaths]
    viewers = training.viewers[where]
    by_session = training.n_sessions > 1
    if by_session:
        names = sorted(set(training.sessions))
        folds = np.array([names.index(training.sessions[i]) for i in scanpaths], np.int64)
        protocol = SESSIONS_HELD_OUT
    else:
        folds = unit_folds(images, where, viewers, n_folds=N_FOLDS)
        protocol = PARTS_HELD_OUT if len(units) > len(training) else SCANPATHS_HELD_OUT
    n_viewers = training.n_viewers
    return TrainingUnits(tuple(units), viewers, folds, n_viewers, protocol, by_session)


def fit_similarity(
    identifier: type[SimilarityIdentifier],
    method: str,
    training: TrainingSet,
    options: Options,
    described: DescribedUnits,
    start: Fusion,
    grid: Grid | None,
) -> Fitted:
    """Fit a method; its weights are centred on those of `start`.

    Without a grid of `RIDGES` the proportions of the weights stay, and only their scale is fitted.
    """
    comparison = described.comparison
    options.report(0.3)
    pairs = pairs_by_size(described, MOST_PROBES if grid else MOST_FOR_SCALE)

    def held_out(size: float, ridge: float | None) -> tuple[Pairs, Floats]:
        own = pairs[size]
        return own, held_out_scores(own, start.at(size).weights, ridge)

    def loss(values: Hyperparameters) -> float:
        found = [held_out(size, values["ridge"]) for size in pairs]
        return float(np.mean([mean_loss(scores, own.owners) for own, scores in found]))

    searched = options.search and bool(pairs)
    chosen = grid.choose(loss, search=searched) if grid else {}
    ridge = chosen.get("ridge")
    options.report(0.5)
    how, accuracy = "default weights (too few scanpaths)", None
    fusion = start
    if pairs:
        fitted = [fit_weights(own, start.at(size).weights, ridge) for size, own in pairs.items()]
        fusion = Fusion.of(np.array(list(pairs)), fitted).grown(start)
        how = "conditional logit on pairs across sessions"
        if not described.by_session:
            n_saccades = sum(len(path.saccades) for path in training.scanpaths)
            correlation = session_correlation(
                "likelihood", n_saccades / len(described.whole), same=options.same_session
            )
            fusion = replace(fusion, temperature=start.temperature, floor=start.floor)
            fusion = fusion.across_sessions(correlation)
            how = "conditional logit on pairs within sessions"
    if 1 in pairs:
        own, scores = held_out(1, ridge)
        accuracy = accuracy_of(scores, own.owners, described.protocol, training.n_viewers)
    options.report(0.8)
    profiles = described.profiles()
    amounts = [comparison.amount(unit) for unit in described.whole]
    made = identifier(
        method,
        training.viewer_ids,
        comparison,
        tuple(profiles),
        comparison.population(profiles),
        fusion,
        float(np.mean([amount for amount in amounts if amount > 0])),
        left_out_strangers(
            described,
            profiles,
            fusion,
            options.false_acceptance_rate,
            shipped_genuine(method, training.kind),
        ),
    )
    if fusion.floor:
        how += (
            f", temperature {fusion.temperature:.3g} and floor {fusion.floor:.3g} by default "
            "(BioEye 2015, across sessions)"
        )
    return Fitted(made, how, accuracy, hyperparameters=chosen)


def pairs_by_size(
    described: DescribedUnits, most_probes: int = MOST_PROBES, seed: int = 0
) -> dict[float, Pairs]:
    """Return pairs of each size that the folds have units for; none with one viewer."""
    rng = np.random.default_rng(seed)
    if described.n_viewers > MOST_VIEWERS:
        chosen = rng.permutation(described.n_viewers)[:MOST_VIEWERS]
        described = described.select(np.sort(chosen))
    comparison, n_viewers = described.comparison, described.n_viewers
    folds = np.unique(described.folds)
    n_draws = min(MOST_DRAWS, -(-most_probes // (n_viewers * len(folds))))
    found: dict[float, list[tuple[Floats, int, int]]] = {}
    for fold in folds:
        profiles = described.profiles(without_fold=fold)
        is_known = [comparison.amount(profile) > 0 for profile in profiles]
        if sum(is_known) < 2:
            continue
        gallery = comparison.gallery([*profiles, comparison.population(profiles)])
        for viewer in np.flatnonzero(is_known):
            own = np.flatnonzero((described.viewers == viewer) & (described.folds == fold))
            for size in (size for size in SIZES if size <= max(1, len(own))):
                for probe in described.draw(own, size, n_draws, rng):
                    if comparison.amount(probe) > 0:
                        entry = (comparison.distances(probe, gallery), int(viewer), int(fold))
                        found.setdefault(size, []).append(entry)
    return {
        size: Pairs(
            np.array([distances[:-1] for distances, _, _ in entries]),
            np.array([distances[-1] for distances, _, _ in entries]),
            np.array([viewer for _, viewer, _ in entries], np.int64),
            np.array([fold for _, _, fold in entries], np.int64),
        )
        for size, entries in sorted(found.items())
        if len({viewer for _, viewer, _ in entries}) >= max(2, LEAST_SHARE * n_viewers)
    }


def left_out_strangers(
    described: DescribedUnits,
    profiles: list[Described],
    fusion: Fusion,
    false_acceptance_rate: float,
    genuine: Genuine,
    seed: int = 0,
) -> Strangers:
    """Return the strangers that viewers are to the others when removed from the gallery in turn."""
    n_viewers, comparison = described.n_viewers, described.comparison
    if n_viewers < FEWEST_VIEWERS:
        return no_strangers(f"{n_viewers} viewers are too few to know what strangers are like")
    rng = np.random.default_rng(seed)
    left_out = rng.permutation(n_viewers)[:MOST_STRANGERS]
    matches: dict[float, list[float]] = {}
    gallery = comparison.gallery([*profiles, comparison.population(profiles)])
    for stranger in left_out:
        own = np.flatnonzero(described.viewers == stranger)
        for size in (size for size in STRANGER_SIZES if size <= max(1, len(own))):
            for probe in described.draw(own, size, STRANGER_DRAWS, rng):
                if comparison.amount(probe) > 0:
                    others = np.delete(comparison.distances(probe, gallery), stranger, axis=0)
                    matches.setdefault(size, []).append(judge(fusion, size, others).match)
    return strangers_of_matches(
        {size: np.array(found) for size, found in matches.items()},
        false_acceptance_rate,
        f"each of {len(left_out)} viewers left out in turn",
        genuine,
        len(described.viewers) / n_viewers,
        n_strangers=len(left_out),
    )
