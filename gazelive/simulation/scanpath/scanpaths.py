"""Simulated scanpaths: the next fixation of a viewer of an image, and its duration.

SceneWalk's map, weighted by the viewer's preferences (`traits`), gives the position; a gamma
density of the saccade's turn gives the duration. The preferences are a table over amplitude, so a
choice costs less than SceneWalk's own update.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gazelive.gaze import Floats
from gazelive.models import ImageGrid, SceneWalk, sample_position
from gazelive.simulation.scanpath import choice_kernels as kernels
from gazelive.simulation.scanpath.traits import N_TURNS, ScanpathTable, ScanpathTraits

AMPLITUDE_STEP_DEG = 0.05
LARGEST_DEG = 80.0
SHORTEST_FIXATION_S = 0.03
REACTION_LIMITS_S = (0.09, 0.8)


@dataclass(frozen=True, slots=True)
class NextFixation:
    """A target on the screen and its fixation duration."""

    x_deg: float
    y_deg: float
    duration_s: float


class LookingHabits:
    """A viewer's traits, prepared for choices on all images of a session."""

    def __init__(self, traits: ScanpathTraits, table: ScanpathTable) -> None:
        self.traits = traits
        self.table = table
        n_steps = round(LARGEST_DEG / AMPLITUDE_STEP_DEG)
        amplitudes_deg = AMPLITUDE_STEP_DEG * np.arange(n_steps, dtype=np.float64)
        self.amplitude_weights = traits.amplitude_weights(amplitudes_deg)
        self.direction_weights = np.exp(np.array(traits.direction))

    def draw_reaction_s(self, rng: np.random.Generator) -> float:
        """Draw the reaction time from a change on the screen to the saccade."""
        reaction_s = self.traits.reaction_s * math.exp(self.table.reaction_sd * rng.normal())
        shortest_s, longest_s = REACTION_LIMITS_S
        return min(max(reaction_s, shortest_s), longest_s)

    def draw_duration_s(self, turn: int, trial_factor: float, rng: np.random.Generator) -> float:
        """Draw the duration of the fixation after a saccade of the given turn.

        After a saccade without a turn, a random turn is used.
        """
        kind = turn if turn < N_TURNS else int(rng.integers(N_TURNS))
        shape = self.traits.duration_shape[kind]
        mean_s = self.traits.duration_mean_s[kind] * trial_factor
        return max(float(rng.gamma(shape, mean_s / shape)), SHORTEST_FIXATION_S)


class Exploration:
    """One viewing of one image: takes each fixation, returns the next."""

    def __init__(
        self, habits: LookingHabits, saliency: Floats, grid: ImageGrid, rng: np.random.Generator
    ) -> None:
        self._habits = habits
        self._walk = SceneWalk(habits.table.scenewalk, saliency, grid)
        self._rng = rng
        self._trial_factor = math.exp(habits.table.trial_duration_sd * rng.normal())
        self._before: tuple[float, float] | None = None

    def next_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> NextFixation:
        """Return the fixation after one of `duration_s` at a position."""
        before_dx, before_dy = 0.0, 0.0
        if self._before is not None:
            before_dx, before_dy = x_deg - self._before[0], y_deg - self._before[1]
        self._before = (x_deg, y_deg)
        grid = self._walk.grid
        self._walk.advance(x_deg, y_deg, duration_s)
        attraction = self._walk.next_probabilities()
        kernels.weigh_by_preference(
            attraction,
            grid.x_deg,
            grid.y_deg,
            x_deg,
            y_deg,
            before_dx,
            before_dy,
            self._habits.amplitude_weights,
            AMPLITUDE_STEP_DEG,
            self._habits.direction_weights,
        )
        target_x, target_y = sample_position(attraction, grid, self._rng)
        turn = kernels.turn_of(before_dx, before_dy, target_x - x_deg, target_y - y_deg)
        duration_s = self._habits.draw_duration_s(turn, self._trial_factor, self._rng)
        return NextFixation(target_x, target_y, duration_s)
