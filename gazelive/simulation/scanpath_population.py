"""How people differ in where they look and how long: the table that comes with the package.

`scanpath_population.json` was estimated by `docs/figures/estimate_scanpaths.py`;
`docs/simulation-scanpaths.md` tells how, and how close simulated people come to real ones.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec
import numpy as np

from gazelive.models.scenewalk import SceneWalkParameters
from gazelive.simulation.scanpath_traits import ScanpathTraits
from gazelive.simulation.trait_population import PersonTraits, PopulationTable, TraitPopulation

_TABLE = "scanpath_population.json"


class ScanpathTable(msgspec.Struct, frozen=True, kw_only=True):
    """Everything estimated about scanpaths."""

    scenewalk: SceneWalkParameters
    """The same for everybody: what people differ in is in the traits."""
    trial_duration_sd: float
    """Standard deviation over images of a viewer's log mean fixation duration."""
    reaction_sd: float
    """Standard deviation over occasions of a viewer's log reaction time."""
    population: PopulationTable


@cache
def shipped_table() -> ScanpathTable:
    """Return the table that comes with the package."""
    text = resources.files("gazelive.simulation").joinpath(_TABLE).read_bytes()
    return msgspec.json.decode(text, type=ScanpathTable)


class ScanpathPopulation:
    """Draws people, and people's sessions."""

    def __init__(self, table: ScanpathTable | None = None) -> None:
        self.table = shipped_table() if table is None else table
        self._traits = TraitPopulation(self.table.population)

    def draw_person(self, rng: np.random.Generator) -> PersonTraits:
        """Return a new person."""
        return self._traits.draw_person(rng)

    def draw_session(self, person: PersonTraits, rng: np.random.Generator) -> ScanpathTraits:
        """Return how `person` looks around today."""
        return ScanpathTraits.from_values(self._traits.draw_session(person, rng))
