"""Scanpaths: effects of preferences, and differences between people."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.features.turns import Turn, turn_between
from gazelive.models.scenewalk.equations import ImageGrid
from gazelive.simulation.scanpath import choice_kernels as kernels
from gazelive.simulation.scanpath.scanpaths import (
    AMPLITUDE_STEP_DEG,
    REACTION_LIMITS_S,
    SHORTEST_FIXATION_S,
    Exploration,
    LookingHabits,
)
from gazelive.simulation.scanpath.traits import (
    REFERENCE_DEG,
    TRAIT_NAMES,
    ScanpathPopulation,
    ScanpathTraits,
    scanpath_table,
)
from gazelive.stimuli.saliency import SaliencyMap, generated_saliency

SHAPE = (48, 64)
GRID = ImageGrid(np.linspace(-19, 19, SHAPE[1] + 1), np.linspace(-13, 13, SHAPE[0] + 1))
EVEN = SaliencyMap(np.ones(SHAPE), "even").density
AVERAGE = ScanpathTraits.from_values(
    {trait.name: trait.natural(trait.mean) for trait in scanpath_table().population.traits}
)


def explore(traits: ScanpathTraits, density: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    """Return (n, 3): x, y and duration of successive fixations."""
    habits = LookingHabits(traits, scanpath_table())
    exploration = Exploration(habits, density, GRID, np.random.default_rng(seed))
    x, y, duration_s = 0.0, 0.0, 0.2
    fixations = []
    for _ in range(n):
        following = exploration.next_fixation(x, y, duration_s)
        x, y, duration_s = following.x_deg, following.y_deg, following.duration_s
        fixations.append((x, y, duration_s))
    return np.array(fixations)


def turns_and_amplitudes(fixations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    steps = np.diff(fixations[:, :2], axis=0)
    turns = [turn_between(*before, *after) for before, after in pairwise(steps)]
    return np.array(turns), np.hypot(*steps.T)[1:]


components = st.floats(-30, 30, allow_nan=False).map(lambda value: round(value, 3))


@given(components, components, components, components)
def test_the_kernels_turn_is_that_of_the_features(
    before_dx: float, before_dy: float, dx: float, dy: float
) -> None:
    expected = turn_between(before_dx, before_dy, dx, dy)
    found = kernels.turn_of(before_dx, before_dy, dx, dy)
    assert found == (kernels.NO_TURN if expected is Turn.NONE else expected)


@pytest.mark.parametrize(
    ("dx", "dy", "direction"), [(2, 1, 0), (1, -2, 1), (-2, 1, 2), (1, 2, 3), (1, 1, 0)]
)
def test_directions_grow_counter_clockwise(dx: float, dy: float, direction: int) -> None:
    assert kernels.direction_of(dx, dy) == direction


def test_weights_are_a_ratio_of_gamma_densities() -> None:
    amplitudes = np.array([0.5, 1.0, 5.0, 20.0])
    weights = AVERAGE.amplitude_weights(amplitudes)
    assert weights.shape == (5, 4)
    # ln a and a are all a gamma density knows: four amplitudes leave one check each
    for row in np.log(weights[:4]):
        terms = np.column_stack([np.ones(3), np.log(amplitudes[:3]), amplitudes[:3]])
        constant, of_log, of_amplitude = np.linalg.solve(terms, row[:3])
        assert row[3] == pytest.approx(constant + of_log * np.log(20.0) + of_amplitude * 20.0)
    at_reference = AVERAGE.amplitude_weights(np.array([REFERENCE_DEG]))[:4, 0]
    np.testing.assert_allclose(np.log(at_reference), AVERAGE.turn)
    np.testing.assert_allclose(weights[4], weights[:4].mean(axis=0))


def test_weighing_multiplies_the_map_by_the_preferences() -> None:
    rng = np.random.default_rng(3)
    habits = LookingHabits(AVERAGE, scanpath_table())
    attraction = rng.random(SHAPE)
    weighed = attraction.copy()
    x, y, before_dx, before_dy = 2.2, -3.1, 4.0, 1.0
    kernels.weigh_by_preference(
        weighed,
        GRID.x_deg,
        GRID.y_deg,
        x,
        y,
        before_dx,
        before_dy,
        habits.amplitude_weights,
        AMPLITUDE_STEP_DEG,
        habits.direction_weights,
    )
    for row, column in ((0, 0), (20, 40), (47, 3), (25, 10)):
        dx, dy = GRID.x_deg[column] - x, GRID.y_deg[row] - y
        turn = turn_between(before_dx, before_dy, dx, dy)
        expected = AVERAGE.amplitude_weights(np.array([np.hypot(dx, dy)]))[turn, 0] * np.exp(
            AVERAGE.direction[kernels.direction_of(dx, dy)]
        )
        assert weighed[row, column] / attraction[row, column] == pytest.approx(expected, rel=0.02)


def test_fixations_follow_the_map() -> None:
    density = np.full(SHAPE, 1e-6)
    density[10:16, 40:50] = 1.0
    fixations = explore(AVERAGE, SaliencyMap(density, "spot").density, 300)
    rows, columns = GRID.cells(fixations[:, 0], fixations[:, 1])
    inside = (rows >= 10) & (rows < 16) & (columns >= 40) & (columns < 50)
    assert inside.mean() > 0.7
    assert explore(AVERAGE, EVEN, 300)[:, 0].std() > 6


def test_preferences_for_turns_show() -> None:
    liking = msgspec.structs.replace(AVERAGE, turn=(0.0, 2.0, 0.0, 0.0))
    turns, _ = turns_and_amplitudes(explore(AVERAGE, EVEN, 600))
    liked, _ = turns_and_amplitudes(explore(liking, EVEN, 600))
    assert (liked == Turn.RIGHT).mean() > (turns == Turn.RIGHT).mean() + 0.3


def test_preferences_for_amplitudes_show() -> None:
    _, usual = turns_and_amplitudes(explore(AVERAGE, EVEN, 600))
    far = msgspec.structs.replace(AVERAGE, level=tuple(level + 1 for level in AVERAGE.level))
    _, larger = turns_and_amplitudes(explore(far, EVEN, 600))
    assert larger.mean() > 1.3 * usual.mean()


def test_preferences_for_directions_show() -> None:
    up = msgspec.structs.replace(AVERAGE, direction=(0.0, 2.0, 0.0, 0.0))
    steps = np.diff(explore(up, EVEN, 600)[:, :2], axis=0)
    vertical = np.abs(steps[:, 1]) > np.abs(steps[:, 0])
    assert (vertical & (steps[:, 1] < 0)).mean() > 0.35


def test_durations_are_gammas_of_the_turn() -> None:
    traits = msgspec.structs.replace(
        AVERAGE, duration_mean_s=(0.2, 0.3, 0.3, 0.6), duration_shape=(30.0, 30.0, 30.0, 30.0)
    )
    fixations = explore(traits, EVEN, 1500)
    turns, _ = turns_and_amplitudes(fixations)
    durations = fixations[2:, 2]
    ratio = durations[turns == Turn.REVERSE].mean() / durations[turns == Turn.MAINTAIN].mean()
    assert ratio == pytest.approx(3, rel=0.05)
    assert fixations[:, 2].min() >= SHORTEST_FIXATION_S


def test_reaction_times_are_plausible() -> None:
    habits = LookingHabits(msgspec.structs.replace(AVERAGE, reaction_s=0.2), scanpath_table())
    rng = np.random.default_rng(0)
    reactions = np.array([habits.draw_reaction_s(rng) for _ in range(500)])
    assert np.median(reactions) == pytest.approx(0.2, rel=0.05)
    assert REACTION_LIMITS_S[0] <= reactions.min() < reactions.max() <= REACTION_LIMITS_S[1]


def test_people_have_the_spread_of_the_table() -> None:
    population = ScanpathPopulation()
    rng = np.random.default_rng(0)
    people = [population.draw_person(rng) for _ in range(600)]
    values = np.array([person.values for person in people])
    traits = population.table.population.traits
    assert [trait.name for trait in traits] == list(TRAIT_NAMES)
    np.testing.assert_allclose(
        values.std(axis=0), [trait.between_sd for trait in traits], rtol=0.15
    )
    sessions = [population.draw_session(people[0], rng).reaction_s for _ in range(600)]
    reaction = traits[-1]
    assert np.log(sessions).std() == pytest.approx(reaction.within_sd, rel=0.15)
    assert np.log(sessions).mean() == pytest.approx(people[0].values[-1], abs=0.01)


def test_an_image_holds_the_gaze_on_its_objects() -> None:
    density = generated_saliency("test", 0, SHAPE).density
    fixations = explore(AVERAGE, density, 500, seed=1)
    rows, columns = GRID.cells(fixations[:, 0], fixations[:, 1])
    z = (density - density.mean()) / density.std()
    assert z[rows, columns].mean() > 0.5
