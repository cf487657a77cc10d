"""Identifiers that compare a probe with each viewer's profile, feature by feature.

A `Comparison` describes what a person saw and did by an array, pools such arrays (a probe is all
its images together, not a sum over images), and gives distances between a probe and each profile.
A conditional logit fuses the distances (`conditional_logit`). Whether the probe is a stranger's
shows in its weighted distance to the best viewer: how much less it is than usual, and than that to
the other viewers.

A long recording is cut into windows of `WINDOW_S`: they are what images are in free viewing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import msgspec
import numpy as np
import numpy.typing as npt
from scipy import special

from gazelive.errors import ModelError
from gazelive.features import N_COLUMNS, Column, Rows, Scanpath
from gazelive.gaze import Floats, Integers
from gazelive.identification.comparison.conditional_logit import Fusion, Weights
from gazelive.identification.contract import (
    DEFAULT_TERMS,
    Arrays,
    Contributions,
    Match,
    State,
    Terms,
)
from gazelive.identification.open_set import Strangers
from gazelive.identification.probe import CountingProbe
from gazelive.identification.shipped.strangers import shipped_genuine

WINDOW_S = 20.0
TINY = 1e-6
"""Added to weighted distances before the logarithm."""
CHANGED_PEOPLE = "allowance for people who change between sessions"

Described = npt.NDArray[Any]
"""A sample of somebody's gaze, as a comparison describes it."""


@dataclass(frozen=True, eq=False)
class Unit:
    """Saccades and fixations of an image, or of a window of a long recording."""

    saccades: Rows
    """(n, N_COLUMNS)"""
    fixations: Floats
    """(m, 3)"""

    def beginning(self, share: float) -> Unit:
        """Return the first part of the unit, at least one saccade of it."""
        n, m = (int(np.ceil(share * len(part))) for part in (self.saccades, self.fixations))
        return Unit(self.saccades[:n], self.fixations[:m])


def empty_unit() -> Unit:
    """Return a unit without saccades and fixations."""
    return Unit(np.empty((0, N_COLUMNS), np.float32), np.empty((0, 3)))


class Comparison(Protocol):
    """Distances between a sample and profiles."""

    kind: ClassVar[str]

    @property
    def parts(self) -> tuple[str, ...]:
        """Name of the feature of each distance."""
        ...

    def describe(self, unit: Unit) -> Described:
        """Describe a unit."""
        ...

    def pool(self, described: Sequence[Described]) -> Described:
        """Describe several samples (at least one) as one."""
        ...

    def population(self, profiles: Sequence[Described]) -> Described:
        """Describe everybody together."""
        ...

    def amount(self, described: Described) -> float:
        """Return the amount of data, in saccades or units; 0 if it says nothing."""
        ...

    def gallery(self, profiles: Sequence[Described]) -> Any:
        """Prepare profiles for `distances`."""
        ...

    def distances(self, probe: Described, gallery: Any) -> Floats:
        """Return the distances (profiles, parts); NaN where one of the two has no value."""
        ...

    def to_state(self, profiles: Sequence[Described]) -> State:
        """Return the state of the comparison and the profiles of all viewers."""
        ...

    @classmethod
    def from_state(cls, state: State, n_viewers: int) -> tuple[Self, list[Described]]:
        """Return the comparison and the profiles of a state."""
        ...


def window_numbers(rows: Rows) -> Integers:
    """Return the window of each saccade, by its onset; the last is at least half as long."""
    onset_s = np.nan_to_num(rows[:, Column.ONSET_S])
    n_windows = max(1, round(float(onset_s.max(initial=0.0)) / WINDOW_S))
    return np.asarray(np.clip(onset_s // WINDOW_S, 0, n_windows - 1), np.int64)


def units_of(rows: Rows, fixations: Floats) -> list[Unit]:
    """Return the units of an interval.

    Fixations have no time in a scanpath; they are shared out in their order, as the saccades are.
    """
    windows = window_numbers(rows)
    if not len(windows) or windows.max() == windows.min():
        return [Unit(rows, fixations)]
    beside = np.linspace(0, len(windows) - 1, len(fixations)).round().astype(np.int64)
    of_fixations = windows[beside]
    return [Unit(rows[windows == w], fixations[of_fixations == w]) for w in np.unique(windows)]


@dataclass(frozen=True, eq=False)
class Judged:
    """A probe against all viewers."""

    weights: Weights
    distances: Floats
    """(viewers, parts)"""
    scores: Floats
    """(viewers,)"""
    evidence: Floats
    """(viewers,): log likelihoods."""
    background: float
    size: float
    """Size of the probe in units."""

    @property
    def match(self) -> float:
        """How near the best viewer is: −ln of the distance over the usual and the others' one."""
        known = np.isfinite(self.distances)
        weighted = np.where(known, self.distances, self.weights.usual) @ self.weights.weights
        usual = float(self.weights.usual @ self.weights.weights)
        best = int(np.argmax(self.scores))
        others = np.delete(weighted, best)
        typical = np.sqrt(usual * (float(others.mean()) if len(others) else usual))
        return float(np.log((typical + TINY) / (weighted[best] + TINY)))


def judge(fusion: Fusion, size: float, distances: Floats) -> Judged:
    """Judge a probe by its distances (viewers + 1, parts), the last being the population's."""
    weights = fusion.at(size)
    scores = weights.scores(distances[:-1])
    background = float(weights.background_score(distances[-1]))
    evidence = fusion.evidence(scores, background)
    return Judged(weights, distances[:-1], scores, evidence, background, size)


@dataclass(frozen=True, eq=False)
class SimilarityIdentifier:
    """Identifies by distances to profiles; see the module."""

    comparisons: ClassVar[tuple[type[Comparison], ...]] = ()
    """Kinds that a subclass can load."""

    method: str
    viewer_ids: tuple[str, ...]
    comparison: Comparison
    profiles: tuple[Described, ...]
    """Of each viewer."""
    population: Described
    """The profile of everybody in training together."""
    fusion: Fusion
    usual_amount: float
    """Amount of a unit in training."""
    strangers: Strangers

    def probe(
        self, log_prior: Floats | None = None, terms: Terms = DEFAULT_TERMS
    ) -> SimilarityProbe:
        """Begin to identify a person."""
        return SimilarityProbe(self, log_prior, terms)

    def state(self) -> State:
        """Return everything as JSON and arrays."""
        own = self.comparison.to_state(self.profiles)
        return State(
            {
                "kind": f"similarity: {self.comparison.kind}",
                "comparison": own.content,
                "usual_amount": self.usual_amount,
                "strangers": msgspec.to_builtins(self.strangers),
            },
            {**self.fusion.to_arrays(), "population": self.population, **own.arrays},
            own.viewer_axis,
            own.unit_arrays,
        )

    @classmethod
    def from_state(cls, method: str, viewer_ids: tuple[str, ...], state: State) -> Self:
        """Return the identifier of a state."""
        kinds = {f"similarity: {kind.kind}": kind for kind in cls.comparisons}
        kind = kinds.get(str(state.content.get("kind")))
        if kind is None:
            state.check_kind(" or ".join(kinds))
            raise AssertionError("unreachable")
        content, arrays = state.content, state.arrays
        own = State(content["comparison"], arrays)
        comparison, profiles = kind.from_state(own, len(viewer_ids))
        return cls(
            method,
            viewer_ids,
            comparison,
            tuple(profiles),
            arrays["population"],
            Fusion.from_arrays(state.stored(viewer_ids), len(comparison.parts)),
            state.number("usual_amount", least=1e-9),
            Strangers.from_content(content, shipped_genuine(method)),
        )

    def viewer_arrays(self, scanpaths: Sequence[Scanpath], n_sessions: int = 1) -> Arrays:
        """Return the profile of one more viewer."""
        del n_sessions
        profile = self.describe(scanpaths)
        if not self.comparison.amount(profile) > 0:
            raise ModelError("there is no saccade with an amplitude")
        return self.comparison.to_state([profile]).viewers()

    def contributions(self, scanpaths: Sequence[Scanpath]) -> Contributions:
        """Return what each feature's distances add; the mixture's effect is a part of its own."""
        judged = self.judge(self.describe(scanpaths))
        if judged is None:
            return []
        temperature = self.fusion.temperature
        parts = temperature * judged.weights.parts(judged.distances).T
        found = list(zip(self.comparison.parts, parts, strict=True))
        if self.fusion.floor:
            found.append((CHANGED_PEOPLE, judged.evidence - temperature * judged.scores))
        return found

    def describe(self, scanpaths: Sequence[Scanpath]) -> Described:
        """Describe whole intervals together."""
        units = [u for path in scanpaths for u in units_of(path.saccades, path.fixations)]
        return self.comparison.pool([self.nothing, *map(self.comparison.describe, units)])

    def judge(self, described: Described) -> Judged | None:
        """Compare a probe with everybody; None if it says nothing."""
        amount = self.comparison.amount(described)
        if not amount > 0:
            return None
        size = amount / self.usual_amount
        return judge(self.fusion, size, self.comparison.distances(described, self._gallery))

    @cached_property
    def nothing(self) -> Described:
        """The description of nothing."""
        return self.comparison.describe(empty_unit())

    @cached_property
    def _gallery(self) -> Any:
        return self.comparison.gallery([*self.profiles, self.population])


class SimilarityProbe(CountingProbe):
    """One person being identified by a `SimilarityIdentifier`."""

    def __init__(
        self,
        identifier: SimilarityIdentifier,
        log_prior: Floats | None = None,
        terms: Terms = DEFAULT_TERMS,
    ) -> None:
        super().__init__(len(identifier.viewer_ids), log_prior, terms, identifier.strangers)
        self._identifier = identifier
        self._settled = identifier.nothing
        self._saccades: list[Rows] = []
        self._fixations: list[tuple[float, float, float]] = []

    def take_saccade(self, row: Rows) -> None:
        """Take a saccade as far as it is known."""
        self._saccades.append(row.copy())

    def add_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Take a fixation of the open interval."""
        self._fixations.append((x_deg, y_deg, duration_s))

    def take_scanpath(self, scanpath: Scanpath) -> None:
        """Pool a whole interval with those before."""
        self._keep(scanpath.saccades, scanpath.fixations)

    def keep_open(self) -> None:
        """Pool the open interval with those before."""
        self._keep(*self._open())

    def drop_open(self) -> None:
        """Drop the open interval."""
        self._saccades.clear()
        self._fixations.clear()

    def judge(self) -> tuple[Floats, Match | None]:
        """Return the posterior of settled and open intervals."""
        identifier = self._identifier
        described = self._settled
        if self._saccades or self._fixations:
            described = self._with(*self._open())
        judged = identifier.judge(described)
        if judged is None:
            return np.asarray(special.log_softmax(self.log_prior), np.float64), None
        log_probabilities = special.log_softmax(judged.evidence + self.log_prior)
        return log_probabilities, Match(judged.match, judged.size)

    def _open(self) -> tuple[Rows, Floats]:
        rows = np.array(self._saccades, np.float32).reshape(-1, N_COLUMNS)
        return rows, np.array(self._fixations, np.float64).reshape(-1, 3)

    def _with(self, rows: Rows, fixations: Floats) -> Described:
        comparison = self._identifier.comparison
        units = map(comparison.describe, units_of(rows, fixations))
        return comparison.pool([self._settled, *units])

    def _keep(self, rows: Rows, fixations: Floats) -> None:
        self._settled = self._with(rows, fixations)
        self.drop_open()
