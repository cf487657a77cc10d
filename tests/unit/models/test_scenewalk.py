"""SceneWalk against a plain transcription of the corrected equations, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.errors import ModelError
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.models.scenewalk.equations import (
    ImageGrid,
    SceneWalk,
    SceneWalkParameters,
    log_likelihood,
    sample_position,
)
from gazelive.models.scenewalk.value_kernels import LEAST_POTENTIAL
from gazelive.stimuli.saliency import generated_saliency

SHAPE = (18, 24)
GRID = ImageGrid(np.linspace(-19.2, 19.2, SHAPE[1] + 1), np.linspace(-13.1, 13.1, SHAPE[0] + 1))
SALIENCY = generated_saliency("test", 0, SHAPE).density


def parameters_with(**changes: float) -> SceneWalkParameters:
    usual = {
        "attention_rate_hz": 9.0,
        "inhibition_rate_hz": 0.8,
        "attention_sigma_deg": 5.0,
        "inhibition_sigma_deg": 4.0,
        "inhibition_exponent": 1.0,
        "attention_exponent": 1.0,
        "inhibition_strength": 0.3,
        "uniform_share": 0.02,
    }
    return SceneWalkParameters(**(usual | changes))


def transcribed_map(
    p: SceneWalkParameters,
    x: np.ndarray,
    y: np.ndarray,
    d: np.ndarray,
) -> np.ndarray:
    """Return the map after all given fixations, by the equations as they stand in the paper.

    But that less than `LEAST_POTENTIAL` is nothing: there only rounding errors are left.
    """
    i, j = np.meshgrid(GRID.x_deg, GRID.y_deg)
    a = f = np.full(SHAPE, np.finfo(float).eps)
    for x_t, y_t, d_t in zip(x, y, d, strict=True):
        r2 = (i - x_t) ** 2 + (j - y_t) ** 2
        g_a = np.exp(-r2 / (2 * p.attention_sigma_deg**2)) / (2 * np.pi * p.attention_sigma_deg**2)
        g_f = np.exp(-r2 / (2 * p.inhibition_sigma_deg**2)) / (
            2 * np.pi * p.inhibition_sigma_deg**2
        )
        target_a = g_a * SALIENCY / np.sum(g_a * SALIENCY)
        target_f = g_f / np.sum(g_f)
        a = target_a + np.exp(-p.attention_rate_hz * d_t) * (a - target_a)
        f = target_f + np.exp(-p.inhibition_rate_hz * d_t) * (f - target_f)
    a_part = a**p.attention_exponent / np.sum(a**p.attention_exponent)
    f_part = f**p.inhibition_exponent / np.sum(f**p.inhibition_exponent)
    u = np.clip(a_part - p.inhibition_strength * f_part, 0, None)
    share = u / u.sum() if u.sum() > LEAST_POTENTIAL else np.full(SHAPE, 1 / u.size)
    return (1 - p.uniform_share) * share + p.uniform_share / u.size


parameters = st.builds(
    parameters_with,
    attention_rate_hz=st.floats(0.1, 50),
    inhibition_rate_hz=st.floats(0.01, 20),
    attention_sigma_deg=st.floats(1, 12),
    inhibition_sigma_deg=st.floats(1, 12),
    inhibition_exponent=st.sampled_from([0.3, 1.0, 2.0]),
    attention_exponent=st.sampled_from([0.7, 1.0, 1.5]),
    inhibition_strength=st.floats(0, 1.5),
    uniform_share=st.floats(0.001, 1),
)
seeds = st.integers(0, 2**32 - 1)


def a_scanpath(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    return rng.uniform(-19, 19, n), rng.uniform(-13, 13, n), rng.gamma(4, 0.06, n)


@settings(max_examples=40)
@given(parameters, seeds)
def test_the_likelihood_is_that_of_the_equations(p: SceneWalkParameters, seed: int) -> None:
    x, y, d = a_scanpath(seed)
    rows, columns = GRID.cells(x, y)
    expected = sum(
        np.log(transcribed_map(p, x[:t], y[:t], d[:t])[rows[t], columns[t]])
        for t in range(1, len(x))
    )
    assert log_likelihood(p, SALIENCY, GRID, x, y, d) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=40)
@given(parameters, seeds)
def test_stepwise_is_the_same_as_at_once(p: SceneWalkParameters, seed: int) -> None:
    x, y, d = a_scanpath(seed)
    walk = SceneWalk(p, SALIENCY, GRID)
    total = 0.0
    for t in range(len(x) - 1):
        walk.advance(x[t], y[t], d[t])
        probabilities = walk.next_probabilities()
        assert probabilities.sum() == pytest.approx(1)
        assert (probabilities > 0).all()
        total += walk.next_log_probability(x[t + 1], y[t + 1])
    assert total == pytest.approx(log_likelihood(p, SALIENCY, GRID, x, y, d), rel=1e-12)


def test_a_fixation_in_two_parts_is_one() -> None:
    whole = SceneWalk(parameters_with(), SALIENCY, GRID)
    halves = SceneWalk(parameters_with(), SALIENCY, GRID)
    whole.advance(3, 2, 0.3)
    halves.advance(3, 2, 0.1)
    halves.advance(3, 2, 0.2)
    np.testing.assert_allclose(halves.next_probabilities(), whole.next_probabilities(), rtol=1e-12)


def test_narrow_windows_and_fast_rates_stay_finite() -> None:
    p = parameters_with(
        attention_sigma_deg=0.01,
        inhibition_sigma_deg=0.01,
        attention_rate_hz=1e4,
        inhibition_rate_hz=1e4,
        attention_exponent=3.0,
        inhibition_exponent=0.2,
    )
    x, y, d = a_scanpath(5)
    assert np.isfinite(log_likelihood(p, SALIENCY, GRID, x, y, d))


def test_nothing_but_inhibition_leaves_a_uniform_map() -> None:
    walk = SceneWalk(
        parameters_with(inhibition_strength=1e6, inhibition_sigma_deg=100.0), SALIENCY, GRID
    )
    walk.advance(0, 0, 0.3)
    np.testing.assert_allclose(walk.next_probabilities(), 1 / SALIENCY.size)


def test_samples_follow_the_map() -> None:
    rng = np.random.default_rng(0)
    walk = SceneWalk(parameters_with(), SALIENCY, GRID)
    walk.advance(-4, 1, 0.2)
    positions = np.array([walk.sample_next(rng) for _ in range(4000)])
    rows, columns = GRID.cells(positions[:, 0], positions[:, 1])
    counts = np.zeros(SHAPE)
    np.add.at(counts, (rows, columns), 1)
    expected = walk.next_probabilities() * len(positions)
    chi2 = np.sum((counts - expected) ** 2 / expected)
    assert abs(chi2 - SALIENCY.size) < 5 * np.sqrt(2 * SALIENCY.size)


def test_a_certain_cell_is_always_drawn() -> None:
    certain = np.zeros(SHAPE)
    certain[3, 5] = 1.0
    x, y = sample_position(certain, GRID, np.random.default_rng(0))
    assert GRID.x_edges_deg[5] <= x <= GRID.x_edges_deg[6]
    assert GRID.y_edges_deg[3] <= y <= GRID.y_edges_deg[4]


def test_the_papers_image_on_the_papers_screen() -> None:
    grid = ImageGrid.on_screen(
        PAPER_SCREEN, left_px=210, top_px=40, width_px=1500, height_px=1000, shape=(128, 128)
    )
    assert grid.x_edges_deg[-1] - grid.x_edges_deg[0] == pytest.approx(38.4, abs=0.05)
    assert grid.y_edges_deg[-1] - grid.y_edges_deg[0] == pytest.approx(26.2, abs=0.1)
    assert grid.cells(0.1, 0.1) == (64, 64)
    assert grid.cells(-99.0, 99.0) == (127, 0)


def test_impossible_values_are_refused() -> None:
    with pytest.raises(ModelError, match="at most 1"):
        parameters_with(uniform_share=1.5)
    with pytest.raises(ModelError, match="width above 0"):
        parameters_with(attention_sigma_deg=0)
    with pytest.raises(ModelError, match="cells on a grid"):
        SceneWalk(parameters_with(), np.ones((3, 3)), GRID)
    with pytest.raises(ModelError, match="must grow"):
        ImageGrid([0, 0], [0, 1])
