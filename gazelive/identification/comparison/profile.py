"""Identifiers that compare profiles by a two-covariance model (PLDA).

The Fisher score of each saccade is tempered by a signed square root (no single feature
dominates). A *profile* is the mean over saccades, centred and projected to a space in which the
noise of a saccade has variance 1 in every direction. A person's mean profile is drawn from a
population (variance B), each session shifts it (variance S), and n saccades add 1/n: S. Ioffe,
"Probabilistic linear discriminant analysis", ECCV 2006, with a session's variance as in P. Kenny
et al., "A study of interspeaker variability in speaker verification", IEEE TASLP 2008.

The match of a viewer is the log likelihood ratio to somebody new from the population. Directions
are not as independent as the model says, and people change: the posterior is
ln p = α(n)·match + ln prior, normalised, with α falling slowly with the number of saccades.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import msgspec
import numpy as np

from gazelive.errors import ModelError, ModelFormatError
from gazelive.features import FeatureSet, Rows, Scanpath
from gazelive.gaze import Floats
from gazelive.identification.comparison import profile_kernels as kernels
from gazelive.identification.comparison.counted_saccades import (
    LEAST_AMPLITUDE_DEG,
    counts,
    plain_name,
)
from gazelive.identification.contract import (
    DEFAULT_TERMS,
    Arrays,
    Contributions,
    Match,
    State,
    Terms,
)
from gazelive.identification.open_set import Strangers
from gazelive.identification.posterior_kernels import log_posterior
from gazelive.identification.probe import CountingProbe
from gazelive.identification.scores import Block
from gazelive.identification.shipped.strangers import shipped_genuine

KNOWN = "how well each is known"
"""Name of the part of the evidence that no feature has."""
TEMPERATURE_SACCADES = 20.0
TEMPERATURE_POWER = -0.35
FEWEST_SACCADES = 3.0


@dataclass(frozen=True, eq=False)
class ProfileSpace:
    """Map from saccades to profiles, and how profiles vary."""

    block: Block
    centre: Floats
    """(scores,): mean tempered score of people."""
    projection: Floats
    """(scores, dimensions): to unit noise of a saccade."""
    between: Floats
    session: Floats
    """(dimensions,): variances of people's means, and of one person's sessions."""

    def profile(self, summed: Floats, n_saccades: float) -> Floats:
        """Return the profile of projected sums."""
        return np.asarray(summed / n_saccades - self._offset, np.float64)

    def noise(self, n_saccades: float) -> Floats:
        """Return the variance of a profile of one session around its person's mean."""
        return np.asarray(self.session + 1 / n_saccades, np.float64)

    @cached_property
    def _offset(self) -> Floats:
        return np.asarray(self.centre @ self.projection, np.float64)


class ProfileSum:
    """Projected sum of tempered saccades."""

    def __init__(self, space: ProfileSpace) -> None:
        self._space = space
        n_types, n_features, _ = space.block.cells.shape
        self._values = np.empty(n_features)
        self._value_score = np.zeros((n_types, n_features, 1))
        self._type_score = np.zeros(n_types)
        self.summed = np.zeros(space.projection.shape[1])
        self.n = 0

    def add(self, row: Rows) -> None:
        """Take a saccade; those that do not count are ignored."""
        if not counts(row):
            return
        block = self._space.block
        kernels.add_tempered(
            row,
            block.features.compiled_types,
            block.features.compiled,
            block.cells,
            block.shares,
            block.share_weights,
            block.limit,
            self._values,
            self._value_score,
            self._type_score,
            self._space.projection,
            self.summed,
        )
        self.n += 1

    def clear(self) -> None:
        """Begin anew."""
        self.summed[:] = 0
        self.n = 0


@dataclass(frozen=True, eq=False)
class ProfileIdentifier:
    """Identifies by profiles; see the module."""

    method: str
    viewer_ids: tuple[str, ...]
    space: ProfileSpace
    profiles: Floats
    """(viewers, dimensions): mean profile of each viewer's enrolment."""
    n_saccades: Floats
    n_sessions: Floats
    """(viewers,): amount of the enrolment."""
    temperature: float
    """α of 20 saccades."""
    strangers: Strangers

    def probe(self, log_prior: Floats | None = None, terms: Terms = DEFAULT_TERMS) -> ProfileProbe:
        """Begin to identify a person."""
        return ProfileProbe(self, log_prior, terms)

    def state(self) -> State:
        """Return everything as JSON and arrays."""
        space = self.space
        return State(
            {
                "kind": "profile",
                "features": space.block.features.to_json(),
                "temperature": self.temperature,
                "strangers": msgspec.to_builtins(self.strangers),
            },
            {
                **space.block.to_arrays(),
                "centre": space.centre,
                "projection": space.projection,
                "between": space.between,
                "session": space.session,
                "profiles": self.profiles,
                "n_saccades": self.n_saccades,
                "n_sessions": self.n_sessions,
            },
            {"profiles": 0, "n_saccades": 0, "n_sessions": 0},
        )

    @classmethod
    def from_state(cls, method: str, viewer_ids: tuple[str, ...], state: State) -> Self:
        """Return the identifier of a state."""
        state.check_kind("profile")
        content, arrays = state.content, state.stored(viewer_ids)
        block = Block.from_arrays(FeatureSet.from_json(content["features"]), arrays)
        if block.entries != 1:
            raise ModelFormatError("a profile has one entry of each score")
        return cls(
            method,
            viewer_ids,
            ProfileSpace(
                block,
                arrays.take("centre", block.n_dimensions),
                arrays.take("projection", block.n_dimensions, "dimensions"),
                arrays.take("between", "dimensions", least=0),
                arrays.take("session", "dimensions", least=0),
            ),
            arrays.take("profiles", "viewers", "dimensions"),
            arrays.take("n_saccades", "viewers", least=1),
            arrays.take("n_sessions", "viewers", least=1),
            state.number("temperature", least=0),
            Strangers.from_content(content, shipped_genuine(method)),
        )

    def viewer_arrays(self, scanpaths: Sequence[Scanpath], n_sessions: int = 1) -> Arrays:
        """Return the profile of one more viewer."""
        seen = self.sum_of(scanpaths)
        if not seen.n:
            raise ModelError(f"there is no saccade of {LEAST_AMPLITUDE_DEG}° or more")
        return {
            "profiles": self.space.profile(seen.summed, seen.n)[None],
            "n_saccades": np.array([float(seen.n)]),
            "n_sessions": np.array([float(n_sessions)]),
        }

    def contributions(self, scanpaths: Sequence[Scanpath]) -> Contributions:
        """Return what each entry of the mean score adds to α·match, exactly."""
        seen = self.sum_of(scanpaths)
        if not seen.n:
            return []
        space = self.space
        z, noise = space.profile(seen.summed, seen.n), space.noise(seen.n)
        means, variances = self.known
        own = variances + noise
        anyone = space.between + noise
        factors = 0.5 * z / anyone - 0.5 * (z - 2 * means) / own
        rows = np.concatenate([path.saccades for path in scanpaths])
        scores = space.block.row_scores(rows[[counts(row) for row in rows]])
        deviation = (np.sign(scores) * np.sqrt(np.abs(scores))).mean(axis=0) - space.centre
        parts = deviation[:, None] * (space.projection @ factors.T)
        constant = 0.5 * np.sum(np.log(anyone) - np.log(own) - means**2 / own, axis=1)
        alpha = self.alpha(seen.n)
        names = map(plain_name, space.block.dimension_names())
        found = [(name, alpha * part) for name, part in zip(names, parts, strict=True)]
        return [*found, (KNOWN, alpha * constant)]

    def sum_of(self, scanpaths: Sequence[Scanpath]) -> ProfileSum:
        """Return the sum of all saccades of some scanpaths."""
        seen = ProfileSum(self.space)
        for path in scanpaths:
            for row in path.saccades:
                seen.add(row)
        return seen

    def alpha(self, n_saccades: float) -> float:
        """Return α: how much the match of so many saccades counts."""
        share = max(n_saccades, FEWEST_SACCADES) / TEMPERATURE_SACCADES
        return float(self.temperature * share**TEMPERATURE_POWER)

    def matches(self, summed: Floats, n_saccades: float) -> Floats:
        """Return the log likelihood ratio of each viewer."""
        out = np.empty(len(self.viewer_ids))
        space = self.space
        kernels.log_ratios(
            space.profile(summed, n_saccades),
            space.noise(n_saccades),
            space.between,
            *self.known,
            out,
        )
        return out

    @cached_property
    def known(self) -> tuple[Floats, Floats]:
        """Posterior means and variances (viewers, dimensions) of the viewers' means."""
        between = self.space.between
        noise = self.space.session / self.n_sessions[:, None] + 1 / self.n_saccades[:, None]
        return self.profiles * (between / (between + noise)), between * noise / (between + noise)


class ProfileProbe(CountingProbe):
    """One person being identified by a `ProfileIdentifier`."""

    def __init__(
        self,
        identifier: ProfileIdentifier,
        log_prior: Floats | None = None,
        terms: Terms = DEFAULT_TERMS,
    ) -> None:
        super().__init__(len(identifier.viewer_ids), log_prior, terms, identifier.strangers)
        self._identifier = identifier
        _ = identifier.known  # computed now, not at the first saccade
        self._settled = np.zeros(len(identifier.space.between))
        self._n_settled = 0
        self._open = ProfileSum(identifier.space)

    def take_saccade(self, row: Rows) -> None:
        """Take a saccade as far as it is known."""
        self._open.add(row)

    def take_scanpath(self, scanpath: Scanpath) -> None:
        """Replace the evidence of the open interval."""
        self._open.clear()
        for row in scanpath.saccades:
            self._open.add(row)
        self.keep_open()

    def keep_open(self) -> None:
        """Keep the evidence of the open interval."""
        self._settled += self._open.summed
        self._n_settled += self._open.n
        self._open.clear()

    def drop_open(self) -> None:
        """Drop the open interval."""
        self._open.clear()

    def judge(self) -> tuple[Floats, Match | None]:
        """Return the posterior of settled and open intervals."""
        identifier = self._identifier
        n = self._n_settled + self._open.n
        log_probabilities = np.empty(len(identifier.viewer_ids))
        nothing = np.zeros(len(log_probabilities))
        matches = nothing if not n else identifier.matches(self._settled + self._open.summed, n)
        alpha = identifier.alpha(n)
        log_posterior(matches, nothing, alpha, self.log_prior, log_probabilities)
        return log_probabilities, Match(float(matches.max()), float(n)) if n else None
