"""Scanpath traits: preferences among targets and fixation durations, and their population.

The paper's Markov model draws a turn type and then amplitude and duration from gamma densities of
that type; SceneWalk gives the attraction of each place. Together they choose a target q with

    p(q) ∝ SceneWalk(q) · exp(turn_u + level_u · ln(a/5°) + tail_u · (a/5° − 1 − ln(a/5°)) + dir)

where u is the turn and a the amplitude of the saccade to q, and dir a preference for absolute
directions. For each turn this is a ratio of two gamma densities, the person's over what the map
alone would give: the gamma family with the statistics ln a and a. `level` is the slope at 5°,
`tail` bends it for large and for small amplitudes. The population is stored in `population.json`,
estimated by `docs/scripts/estimate_scanpaths.py`; `docs/simulation-scanpaths.md` explains how.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Self

import msgspec
import numpy as np

from gazelive.features import Turn
from gazelive.gaze import Floats
from gazelive.models import SceneWalkParameters
from gazelive.simulation.trait_population import PersonTraits, PopulationTable, TraitPopulation

TURNS = (Turn.MAINTAIN, Turn.RIGHT, Turn.LEFT, Turn.REVERSE)
N_TURNS = len(TURNS)
DIRECTIONS = ("right", "up", "left", "down")
REFERENCE_DEG = 5.0
SMALLEST_DEG = 0.15
"""Amplitudes below this count as this: the map's cells are no finer."""

PREFERENCE_NAMES = (
    *(f"turn_{turn.name.lower()}" for turn in TURNS[1:]),
    *(f"level_{turn.name.lower()}" for turn in TURNS),
    *(f"tail_{turn.name.lower()}" for turn in TURNS),
    *(f"direction_{name}" for name in DIRECTIONS[1:]),
)
DURATION_NAMES = (
    *(f"duration_mean_s_{turn.name.lower()}" for turn in TURNS),
    *(f"duration_shape_{turn.name.lower()}" for turn in TURNS),
)
TRAIT_NAMES = (*PREFERENCE_NAMES, *DURATION_NAMES, "reaction_s")


class ScanpathTraits(msgspec.Struct, frozen=True, kw_only=True):
    """One entry per turn (maintain, right, left, reverse) or direction (right, up, left, down).

    Weights are natural logarithms; those of `maintain` and `right` are 0 by definition.
    """

    turn: tuple[float, float, float, float]
    level: tuple[float, float, float, float]
    tail: tuple[float, float, float, float]
    direction: tuple[float, float, float, float]
    duration_mean_s: tuple[float, float, float, float]
    duration_shape: tuple[float, float, float, float]
    reaction_s: float
    """Median reaction time from a change on the screen to the saccade."""

    @classmethod
    def from_values(cls, values: dict[str, float]) -> Self:
        """Return the traits with the given value for each of `TRAIT_NAMES`."""

        def per_turn(prefix: str) -> tuple[float, float, float, float]:
            first, *others = (values.get(f"{prefix}_{turn.name.lower()}", 0.0) for turn in TURNS)
            return (first, others[0], others[1], others[2])

        first, *others = (values.get(f"direction_{name}", 0.0) for name in DIRECTIONS)
        return cls(
            turn=per_turn("turn"),
            level=per_turn("level"),
            tail=per_turn("tail"),
            direction=(first, others[0], others[1], others[2]),
            duration_mean_s=per_turn("duration_mean_s"),
            duration_shape=per_turn("duration_shape"),
            reaction_s=values["reaction_s"],
        )

    def amplitude_weights(self, amplitudes_deg: Floats) -> Floats:
        """Return the weight of each turn (rows) and amplitude (columns), not a logarithm.

        A fifth row is for a saccade without a turn, the first one: the mean of the others.
        """
        ratio = np.maximum(amplitudes_deg, SMALLEST_DEG) / REFERENCE_DEG
        bend = ratio - 1 - np.log(ratio)
        turn, level, tail = (np.array(row)[:, None] for row in (self.turn, self.level, self.tail))
        typed = np.exp(turn + level * np.log(ratio) + tail * bend)
        return np.vstack([typed, typed.mean(axis=0)])


_TABLE = "population.json"


class ScanpathTable(msgspec.Struct, frozen=True, kw_only=True):
    """Everything estimated about scanpaths."""

    scenewalk: SceneWalkParameters
    """The same for all people; their differences are in the traits."""
    trial_duration_sd: float
    """Standard deviation over images of a viewer's log mean fixation duration."""
    reaction_sd: float
    """Standard deviation over occasions of a viewer's log reaction time."""
    population: PopulationTable


@cache
def scanpath_table() -> ScanpathTable:
    """Return the table shipped with the package."""
    text = resources.files("gazelive.simulation.scanpath").joinpath(_TABLE).read_bytes()
    return msgspec.json.decode(text, type=ScanpathTable)


class ScanpathPopulation:
    """Draws people, and their sessions."""

    def __init__(self, table: ScanpathTable | None = None) -> None:
        self.table = scanpath_table() if table is None else table
        self._traits = TraitPopulation(self.table.population)

    def draw_person(self, rng: np.random.Generator) -> PersonTraits:
        """Return a new person."""
        return self._traits.draw_person(rng)

    def draw_session(self, person: PersonTraits, rng: np.random.Generator) -> ScanpathTraits:
        """Return the person's scanpath traits in one session."""
        return ScanpathTraits.from_values(self._traits.draw_session(person, rng))
