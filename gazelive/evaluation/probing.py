"""Probes of a split: growing series of test scanpaths, and what an identifier says of them.

A viewer's test scanpaths are put in a random order and walked through from several starting
points, so that every image is first, second … about equally often. Along a walk the posterior is
read after 1, 2, 3, 5 … images, or once enough seconds have been seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from gazelive.features import LATE_COLUMN, Column, Scanpath
from gazelive.gaze import Floats
from gazelive.identification import (
    Estimate,
    Identifier,
    Probe,
    SceneWalkIdentifier,
    Terms,
    TrainingSet,
)

N_IMAGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
LARGEST_SHARE = 0.7
"""Numbers of images above this share of all are left out: they would be nearly all."""
MOST_WALKS = 40
"""Walks per viewer; fewer for many images, where they would overlap."""
COVERAGE = 4
"""Each image is in about this many probes of a size, at most."""
COURSE_WALKS, COURSE_IMAGES = 3, 60
"""Walks saccade by saccade, and how far they go."""
DECISION_IMAGES = 20
"""Images of a walk that is followed to its first acceptance."""
LEVELS = (0.9, 0.99)
"""Posteriors whose first passing is timed."""

ONCE: Terms = Terms(repeated=False)
"""A probe of a given length is judged once, at its end."""

IdentifierOf = Callable[[int], Identifier]
"""Returns the identifier for a viewer's probes: not the same where saliency comes from others."""


@dataclass
class Probes:
    """Table of probes: one entry of each list per probe."""

    amount: list[int] = field(default_factory=list)
    """Position in `Amounts.labels`."""
    viewer: list[int] = field(default_factory=list)
    """Position of the true viewer among the test's viewers."""
    seconds: list[float] = field(default_factory=list)
    n_images: list[int] = field(default_factory=list)
    n_saccades: list[int] = field(default_factory=list)
    log_posterior: list[Floats] = field(default_factory=list)
    """(enrolled viewers,) each."""
    log_unknown: list[float] = field(default_factory=list)
    """NaN where strangers cannot be detected."""
    accepted: list[bool] = field(default_factory=list)

    def add(self, amount: int, viewer: int, estimate: Estimate) -> None:
        """Add a probe."""
        self.amount.append(amount)
        self.viewer.append(viewer)
        self.seconds.append(estimate.seconds)
        self.n_images.append(estimate.n_images)
        self.n_saccades.append(estimate.n_saccades)
        self.log_posterior.append(estimate.log_probabilities.copy())
        unknown = estimate.log_unknown
        self.log_unknown.append(np.nan if unknown is None else unknown)
        self.accepted.append(bool(estimate.accepted))


@dataclass(frozen=True)
class Amounts:
    """Amounts of evidence after which the posterior is read."""

    n_images: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def labels(self) -> list[tuple[int | None, float | None]]:
        """(images, seconds) of each amount; one of them is None."""
        return [(n, None) for n in self.n_images] + [(None, s) for s in self.seconds]


def numbers_of_images(most: int) -> tuple[int, ...]:
    """Return 1, 2, 3, 5 … up to `most`."""
    return (*(n for n in N_IMAGES if n <= LARGEST_SHARE * most), most)


def walks(paths: Sequence[Scanpath], seed: int, n_walks: int) -> Iterator[list[Scanpath]]:
    """Yield the scanpaths in one random order, from evenly spaced starting points."""
    order = np.random.default_rng(seed).permutation(len(paths))
    for start in range(n_walks):
        first = start * len(paths) // n_walks
        yield [paths[i] for i in (*order[first:], *order[:first])]


def probe_walks(
    identifier_of: IdentifierOf, test: TrainingSet, amounts: Amounts, terms: Terms = ONCE
) -> Probes:
    """Walk through every viewer's scanpaths."""
    probes = Probes()
    for viewer in range(test.n_viewers):
        identifier = identifier_of(viewer)
        paths = list(test.of_viewer(viewer))
        n_walks = min(len(paths), MOST_WALKS)
        for number, walk in enumerate(walks(paths, viewer, n_walks)):
            _walk(identifier.probe(terms=terms), walk, viewer, amounts, number, probes)
    return probes


def _walk(
    probe: Probe,
    walk: list[Scanpath],
    viewer: int,
    amounts: Amounts,
    number: int,
    probes: Probes,
) -> None:
    """Follow one walk; later walks end early, because long ones overlap."""
    wanted = {n for n in amounts.n_images if number < _n_probes(n, len(walk))}
    waiting = [s for s in amounts.seconds if number < _n_probes(s, sum(p.seconds for p in walk))]
    seconds = 0.0
    for n, path in enumerate(walk, start=1):
        if n > max(wanted, default=0) and not waiting:
            return
        probe.begin(path.image)
        probe.settle(path)
        seconds += path.seconds
        passed = [s for s in waiting if s <= seconds]
        if n in wanted or passed:
            estimate = probe.estimate()
            if n in wanted:
                probes.add(amounts.n_images.index(n), viewer, estimate)
            for s in passed:
                waiting.remove(s)
                probes.add(len(amounts.n_images) + amounts.seconds.index(s), viewer, estimate)


def _n_probes(size: float, total: float) -> float:
    """Return how many probes of a size a viewer has: one if it is all there is."""
    return 1 if size >= total else COVERAGE * total / size


def probe_pieces(
    identifier: Identifier, pieces: TrainingSet, amount: int, probes: Probes, terms: Terms = ONCE
) -> None:
    """Probe with every piece of a recording alone."""
    for path, viewer in zip(pieces.scanpaths, pieces.viewers, strict=True):
        probe = identifier.probe(terms=terms)
        probe.begin(path.image)
        probe.settle(path)
        probes.add(amount, int(viewer), probe.estimate())


@dataclass
class Courses:
    """When the posterior first passed a level: one entry per walk and level."""

    level: list[float] = field(default_factory=list)
    viewer: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """NaN where it never did."""
    n_saccades: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)


def follow_courses(identifier_of: IdentifierOf, test: TrainingSet) -> Courses:
    """Hand over the test scanpaths saccade by saccade, and note when levels are passed."""
    courses = Courses()
    for viewer in range(test.n_viewers):
        identifier = identifier_of(viewer)
        paths = list(test.of_viewer(viewer))
        for walk in walks(paths, viewer, min(COURSE_WALKS, len(paths))):
            passed = _passings(identifier, walk[:COURSE_IMAGES])
            for level in LEVELS:
                estimate = passed.get(level)
                courses.level.append(level)
                courses.viewer.append(viewer)
                courses.seconds.append(np.nan if estimate is None else estimate.seconds)
                courses.n_saccades.append(np.nan if estimate is None else estimate.n_saccades)
                courses.right.append(estimate is not None and estimate.best == viewer)
    return courses


@dataclass
class Decisions:
    """First acceptance when a probe is judged after every saccade: one entry per walk."""

    viewer: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """NaN where nobody was ever accepted."""
    best: list[int] = field(default_factory=list)
    """Who was accepted; −1 if nobody."""


def follow_decisions(identifier_of: IdentifierOf, test: TrainingSet) -> Decisions:
    """Hand over one walk of every viewer saccade by saccade until somebody is accepted."""
    found = Decisions()
    for viewer in range(test.n_viewers):
        paths = list(test.of_viewer(viewer))
        walk = next(walks(paths, viewer, 1))[:DECISION_IMAGES]
        course = _course(identifier_of(viewer), walk)
        first = next((estimate for estimate in course if estimate.accepted), None)
        found.viewer.append(viewer)
        found.seconds.append(np.nan if first is None else first.seconds)
        found.best.append(-1 if first is None else first.best)
    return found


def _passings(identifier: Identifier, walk: list[Scanpath]) -> dict[float, Estimate]:
    passed: dict[float, Estimate] = {}
    for estimate in _course(identifier, walk):
        confidence = float(np.exp(estimate.log_probabilities[estimate.best]))
        for level in LEVELS:
            if confidence >= level:
                passed.setdefault(level, estimate)
        if len(passed) == len(LEVELS):
            break
    return passed


def _course(identifier: Identifier, walk: list[Scanpath]) -> Iterator[Estimate]:
    """Yield the estimate after every saccade, and after every settled scanpath.

    Of SceneWalk only the latter: its maps for each viewer and fixation would take hours.
    """
    probe = identifier.probe()
    settled_only = isinstance(identifier, SceneWalkIdentifier)
    for path in walk:
        probe.begin(path.image)
        for number, row in enumerate(() if settled_only else path.saccades):
            if number:
                probe.complete_saccade(path.saccades[number - 1])
            if number < len(path.fixations):
                x_deg, y_deg, duration_s = path.fixations[number].tolist()
                probe.add_fixation(x_deg, y_deg, duration_s)
            known = row.copy()
            known[LATE_COLUMN] = np.nan
            probe.add_saccade(known)
            yield probe.estimate(float(row[Column.ONSET_S]))
        probe.settle(path)
        yield probe.estimate()
