"""Populations of traits, which vary between people and between sessions of a person.

Each trait is normal on its own scale (log, logit or linear), around the population's centre with
one covariance between persons and another between the sessions of a person.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec
import numpy as np

from gazelive.gaze import Floats

_LIMIT_SD = 3.5
"""No draw is further from its centre than this, so every person is plausible."""


class TraitDistribution(msgspec.Struct, frozen=True, kw_only=True):
    """One trait on its scale: centre and standard deviations between persons and sessions."""

    name: str
    scale: Literal["log", "logit", "linear"]
    mean: float
    """Centre of recordings made in labs."""
    bioeye_mean: float | None = None
    """Centre of BioEye 2015, if different."""
    between_sd: float
    within_sd: float
    source: str

    def natural(self, value: float) -> float:
        """Return the trait's natural value for one on its scale."""
        if self.scale == "log":
            return math.exp(value)
        if self.scale == "logit":
            return 1 / (1 + math.exp(-value))
        return value


class Correlation(msgspec.Struct, frozen=True, kw_only=True):
    """Correlations among some of the traits; the others are independent."""

    names: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]


class PopulationTable(msgspec.Struct, frozen=True, kw_only=True):
    """A hyper-distribution, stored as a JSON file."""

    provenance: str
    traits: tuple[TraitDistribution, ...]
    between: Correlation
    within: Correlation


class PersonTraits(msgspec.Struct, frozen=True, kw_only=True):
    """A person's traits, constant over sessions: one value per trait, on the trait's scale."""

    values: tuple[float, ...]


class TraitPopulation:
    """Draws people, and people's sessions, from a table."""

    def __init__(self, table: PopulationTable) -> None:
        self.table = table
        self._mean = np.array([trait.mean for trait in table.traits])
        names = [trait.name for trait in table.traits]
        between_sd = np.array([trait.between_sd for trait in table.traits])
        within_sd = np.array([trait.within_sd for trait in table.traits])
        self._between_factor = between_sd[:, np.newaxis] * _factor(table.between, names)
        self._within_factor = within_sd[:, np.newaxis] * _factor(table.within, names)

    def draw_person(self, rng: np.random.Generator) -> PersonTraits:
        """Return a new person."""
        return PersonTraits(values=tuple((self._mean + _draw(self._between_factor, rng)).tolist()))

    def draw_session(self, person: PersonTraits, rng: np.random.Generator) -> dict[str, float]:
        """Return the natural value of each of the person's traits in one session."""
        values = np.array(person.values) + _draw(self._within_factor, rng)
        return {
            trait.name: trait.natural(value)
            for trait, value in zip(self.table.traits, values.tolist(), strict=True)
        }


def _draw(factor: Floats, rng: np.random.Generator) -> Floats:
    normals = np.clip(rng.standard_normal(len(factor)), -_LIMIT_SD, _LIMIT_SD)
    return np.asarray(factor @ normals)


def _factor(correlation: Correlation, names: list[str]) -> Floats:
    """Return the Cholesky factor of the correlations of all traits."""
    matrix = np.eye(len(names))
    indices = [names.index(name) for name in correlation.names]
    if indices:
        matrix[np.ix_(indices, indices)] = correlation.matrix
    return np.asarray(np.linalg.cholesky(matrix), np.float64)
