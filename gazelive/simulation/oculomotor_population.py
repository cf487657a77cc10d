"""How people differ: traits drawn for a person, and again for each of the person's sessions.

Each trait is normal on its own scale (log, logit or linear), around the population's centre with
one covariance between persons and another between the sessions of a person. The numbers stand in
`oculomotor_population.json`, with where each comes from; `docs/simulation.md` tells how they were
estimated and how close simulated people come to real ones.
"""

from __future__ import annotations

from importlib import resources
from typing import Literal

import msgspec
import numpy as np

from gazelive.simulation.oculomotor_traits import OculomotorTraits
from gazelive.simulation.trait_population import PersonTraits, PopulationTable, TraitPopulation

_TABLE = "oculomotor_population.json"


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
        if centre == "bioeye":
            self.table = msgspec.structs.replace(
                self.table,
                traits=tuple(
                    trait
                    if trait.bioeye_mean is None
                    else msgspec.structs.replace(trait, mean=trait.bioeye_mean)
                    for trait in self.table.traits
                ),
            )
        self._population = TraitPopulation(self.table)

    def draw_person(self, rng: np.random.Generator) -> PersonTraits:
        """Return a new person."""
        return self._population.draw_person(rng)

    def draw_session(self, person: PersonTraits, rng: np.random.Generator) -> OculomotorTraits:
        """Return how `person` moves the eyes today."""
        return OculomotorTraits(**self._population.draw_session(person, rng))
