"""How people differ: traits drawn for a person, and again for each of the person's sessions.

Each trait is normal on its own scale (log, logit or linear), around the population's centre with
one covariance between persons and another between the sessions of a person. The numbers stand in
`oculomotor_population.json`, with where each comes from; `docs/simulation.md` tells how they were
estimated and how close simulated people come to real ones.
"""

from __future__ import annotations

import math
from importlib import resources
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.simulation.oculomotor_traits import OculomotorTraits

Floats = npt.NDArray[np.float64]

_TABLE = "oculomotor_population.json"
_LIMIT_SD = 3.5
"""No person is further from the centre than this, so that every draw can move its eyes."""


class TraitDistribution(msgspec.Struct, frozen=True, kw_only=True):
    """One trait on its scale: centre and standard deviations between persons and sessions."""

    name: str
    scale: Literal["log", "logit", "linear"]
    mean: float
    """Centre of recordings made in labs at 500 and 1000 Hz."""
    bioeye_mean: float
    """Centre of BioEye 2015."""
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
    """The hyper-distribution, as it stands in the JSON file."""

    provenance: str
    traits: tuple[TraitDistribution, ...]
    between: Correlation
    within: Correlation


class PersonTraits(msgspec.Struct, frozen=True, kw_only=True):
    """What stays the same from session to session: one value per trait, on the trait's scale."""

    values: tuple[float, ...]


def shipped_table() -> PopulationTable:
    """Return the table that comes with the package."""
    text = resources.files("gazelive.simulation").joinpath(_TABLE).read_bytes()
    return msgspec.json.decode(text, type=PopulationTable)


class OculomotorPopulation:
    """Draws people, and people's sessions.

    People differ around the centre of lab recordings, or (to be compared with BioEye's people under
    BioEye's protocol) around that of BioEye 2015.
    """

    def __init__(
        self, table: PopulationTable | None = None, *, centre: Literal["lab", "bioeye"] = "lab"
    ) -> None:
        self.table = shipped_table() if table is None else table
        traits = self.table.traits
        means = [trait.mean if centre == "lab" else trait.bioeye_mean for trait in traits]
        self._mean = np.array(means)
        between_sd = np.array([trait.between_sd for trait in traits])
        within_sd = np.array([trait.within_sd for trait in traits])
        names = [trait.name for trait in traits]
        self._between_factor = between_sd[:, np.newaxis] * _factor(self.table.between, names)
        self._within_factor = within_sd[:, np.newaxis] * _factor(self.table.within, names)

    def draw_person(self, rng: np.random.Generator) -> PersonTraits:
        """Return a new person."""
        return PersonTraits(values=tuple((self._mean + _draw(self._between_factor, rng)).tolist()))

    def draw_session(self, person: PersonTraits, rng: np.random.Generator) -> OculomotorTraits:
        """Return how `person` moves the eyes today."""
        values = np.array(person.values) + _draw(self._within_factor, rng)
        return OculomotorTraits(
            **{
                trait.name: trait.natural(value)
                for trait, value in zip(self.table.traits, values.tolist(), strict=True)
            }
        )


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
