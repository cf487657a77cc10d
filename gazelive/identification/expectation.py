"""What to expect of a model: seconds of viewing against who is recognised and accepted.

Each viewer's data are split into two halves. The method learns from one, and probes are made of the
other. Long scanpaths are cut into pieces first. Both halves are of the same sessions: on another
day fewer are accepted, by how many one session cannot tell. Whether enrolment is long enough for
another day follows from what other people showed (`open_set.Genuine`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import msgspec
import numpy as np

from gazelive.errors import ModelError
from gazelive.features import LATE_COLUMN, Column, Scanpath
from gazelive.gaze import Flags
from gazelive.identification.contract import Estimate, Identifier, Terms
from gazelive.identification.fitted import Options
from gazelive.identification.open_set import Strangers
from gazelive.identification.registry import fit_method
from gazelive.identification.training_data import TrainingSet

SECONDS = (5.0, 10.0, 20.0, 60.0)
"""Of viewing; longer than a viewer's half of the data is left out."""
LONGEST_S, PIECE_S = 30.0, 10.0
"""Longer scanpaths are cut into pieces of this length."""
MOST_SCANPATHS = 5000
"""With more, the same number of each viewer is drawn."""
FEWEST_SACCADES = 20
"""Of a viewer in the half that is learned from."""
MOST_PROBES = 8
"""Of a viewer for each length."""
COVERAGE = 2
"""Each scanpath is in about this many probes of a length, at most."""
ENROLMENT_STEP_S = 10.0


class ExpectedRow(msgspec.Struct, frozen=True, kw_only=True):
    """Result for one length of viewing; shares are means over viewers."""

    seconds: float
    recognised: float
    """Share of probes whose right viewer is first."""
    standard_error: float
    """Of `recognised`, over viewers."""
    accepted: float | None
    """Share of probes that are accepted as the right viewer; None with too few viewers."""
    accepted_standard_error: float | None
    n: int
    """Number of probes."""
    n_viewers: int
    """Number of viewers with so much data."""


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """What to expect of a model."""

    rows: tuple[ExpectedRow, ...]
    skipped: str | None
    """Why there are no rows; else None."""
    false_acceptance_rate: float
    n_sessions: int
    """The least number of sessions that any viewer has."""
    enrolled_s: float
    """Usual seconds of a viewer in the model."""
    needed_s: float | None
    """Seconds of enrolment that it takes to be accepted on another day more often than not; None if
    there are enough, or if that is not known."""


@runtime_checkable
class KnowsStrangers(Protocol):
    """Identifiers with a model of strangers."""

    @property
    def strangers(self) -> Strangers:
        """The model."""
        ...


def expect(
    method: str, training: TrainingSet, identifier: Identifier, options: Options
) -> Expectation:
    """Return what to expect of the identifier that a method fitted to a training set."""
    seconds = [sum(path.seconds for path in training.of_viewer(v)) for v in _viewers(training)]
    enrolled_s = float(np.median(seconds))
    found = _rows(method, training, replace(options, search=False))
    return Expectation(
        rows=() if isinstance(found, str) else found,
        skipped=found if isinstance(found, str) else None,
        false_acceptance_rate=options.false_acceptance_rate,
        n_sessions=training.n_sessions,
        enrolled_s=enrolled_s,
        needed_s=_needed_s(identifier, options.false_acceptance_rate, enrolled_s),
    )


def _needed_s(
    identifier: Identifier, false_acceptance_rate: float, enrolled_s: float
) -> float | None:
    if not isinstance(identifier, KnowsStrangers):
        return None
    growth = identifier.strangers.enrolment_growth(false_acceptance_rate)
    if growth is None or growth <= 1:
        return None
    return math.ceil(growth * enrolled_s / ENROLMENT_STEP_S) * ENROLMENT_STEP_S


def _rows(method: str, training: TrainingSet, options: Options) -> tuple[ExpectedRow, ...] | str:
    """Return the rows, or why there are none."""
    if training.n_viewers < 2:
        return "it takes two viewers"
    pieces = drawn(cut(training))
    known = is_learned(pieces)
    n_saccades = np.array([path.n_saccades for path in pieces.scanpaths])
    per_viewer = np.bincount(pieces.viewers[known], n_saccades[known], pieces.n_viewers)
    enough = np.flatnonzero(per_viewer >= FEWEST_SACCADES)
    probed = pieces.subset(~known).select(enough)
    walks = [list(probed.of_viewer(viewer)) for viewer in _viewers(probed)]
    lengths = [s for s in SECONDS if _n_with(walks, s) >= max(2, len(walks) / 2)]
    if not lengths:
        return "half of the data of most viewers is too short"
    try:
        fitted = fit_method(method, pieces.subset(known).select(enough), options)
    except ModelError as error:
        return f"half of the data is too little ({error})"
    return tuple(_row(fitted.identifier, walks, seconds) for seconds in lengths)


def _viewers(training: TrainingSet) -> range:
    return range(training.n_viewers)


def _n_with(walks: Sequence[Sequence[Scanpath]], seconds: float) -> int:
    return sum(_total_s(walk) >= seconds for walk in walks)


def _total_s(walk: Sequence[Scanpath]) -> float:
    """Return the seconds of scanpaths, rounded to microseconds."""
    return round(sum(path.seconds for path in walk), 6)


@dataclass
class _Shares:
    """Shares of one viewer's probes."""

    recognised: float
    accepted: float | None
    n: int


def _row(
    identifier: Identifier, walks: Sequence[Sequence[Scanpath]], seconds: float
) -> ExpectedRow:
    found = []
    for viewer, walk in enumerate(walks):
        probes = [_estimate(identifier, paths) for paths in excerpts(walk, seconds)]
        if not probes:
            continue
        right = [probe.best == viewer for probe in probes]
        accepted = [
            bool(p.accepted) and is_right for p, is_right in zip(probes, right, strict=True)
        ]
        is_judged = all(probe.accepted is not None for probe in probes)
        found.append(
            _Shares(
                float(np.mean(right)), float(np.mean(accepted)) if is_judged else None, len(probes)
            )
        )
    recognised, standard_error = _mean([shares.recognised for shares in found])
    judged = [shares.accepted for shares in found if shares.accepted is not None]
    accepted_share, accepted_error = _mean(judged) if judged else (None, None)
    return ExpectedRow(
        seconds=seconds,
        recognised=recognised,
        standard_error=standard_error,
        accepted=accepted_share,
        accepted_standard_error=accepted_error,
        n=sum(shares.n for shares in found),
        n_viewers=len(found),
    )


def _mean(shares: Sequence[float]) -> tuple[float, float]:
    """Return the mean over viewers and its standard error."""
    return float(np.mean(shares)), float(np.std(shares, ddof=1) / math.sqrt(len(shares)))


def _estimate(identifier: Identifier, paths: Sequence[Scanpath]) -> Estimate:
    probe = identifier.probe(terms=Terms(repeated=False))
    for path in paths:
        probe.begin(path.image)
        probe.settle(path)
    return probe.estimate()


def excerpts(walk: Sequence[Scanpath], seconds: float) -> Iterator[list[Scanpath]]:
    """Yield scanpaths of so many seconds, one after the other, from several starting points.

    The last one is cut; at the end of the walk its beginning follows.
    """
    total_s = _total_s(walk)
    if total_s < seconds:
        return
    n_probes = min(len(walk), MOST_PROBES, math.ceil(COVERAGE * total_s / seconds))
    for number in range(n_probes):
        first = number * len(walk) // n_probes
        left_s = seconds
        paths = []
        for path in (*walk[first:], *walk[:first]):
            paths.append(path if path.seconds <= left_s else part_of(path, 0.0, left_s))
            left_s = round(left_s - path.seconds, 6)
            if left_s <= 0:
                break
        yield paths


def part_of(path: Scanpath, start_s: float, stop_s: float) -> Scanpath:
    """Return the saccades that begin between two times, and the fixations around them.

    The fixation after the last one is cut.
    """
    onset_s = path.saccades[:, Column.ONSET_S]
    first, stop = np.searchsorted(onset_s, (start_s, stop_s))
    rows = path.saccades[first:stop].copy()
    rows[:, Column.ONSET_S] -= start_s
    rows[-1:, LATE_COLUMN] = np.nan
    return replace(
        path,
        saccades=rows,
        fixations=path.fixations[first : stop + 1],
        seconds=min(stop_s, path.seconds) - start_s,
    )


def cut(training: TrainingSet) -> TrainingSet:
    """Return the training set with long scanpaths in pieces; pieces without saccades are lost."""
    paths: list[Scanpath] = []
    source = []
    for number, path in enumerate(training.scanpaths):
        pieces = [path]
        if path.seconds > LONGEST_S:
            starts = np.arange(0.0, path.seconds, PIECE_S).tolist()
            pieces = [part_of(path, start, start + PIECE_S) for start in starts]
        kept = [piece for piece in pieces if piece.n_saccades]
        paths += kept
        source += [number] * len(kept)
    return TrainingSet(
        training.kind,
        training.viewer_ids,
        tuple(paths),
        training.viewers[source],
        tuple(training.sessions[i] for i in source),
    )


def drawn(training: TrainingSet, most: int = MOST_SCANPATHS, seed: int = 0) -> TrainingSet:
    """Return at most so many scanpaths, drawn at random in equal shares of each viewer."""
    if len(training) <= most:
        return training
    rng = np.random.default_rng(seed)
    chosen = np.zeros(len(training), bool)
    for viewer in _viewers(training):
        own = np.flatnonzero(training.viewers == viewer)
        chosen[rng.permutation(own)[: most // training.n_viewers]] = True
    return training.subset(chosen)


def is_learned(training: TrainingSet) -> Flags:
    """Return which scanpaths are learned from (scanpaths,): every other image.

    Where that does not split everybody's scanpaths about evenly, and without images, it is every
    other scanpath of a viewer.
    """
    images = [path.image for path in training.scanpaths]
    if None not in images:
        number = {image: i for i, image in enumerate(dict.fromkeys(images))}
        learned = np.array([number[image] % 2 == 0 for image in images], bool)
        share = np.array([learned[training.viewers == v].mean() for v in _viewers(training)])
        if (np.abs(share - 0.5) <= 1 / 6).all():
            return learned
    learned = np.zeros(len(training), bool)
    for viewer in _viewers(training):
        learned[np.flatnonzero(training.viewers == viewer)[::2]] = True
    return learned
