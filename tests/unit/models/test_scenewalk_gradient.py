"""SceneWalk's gradient against finite differences, and finite everywhere in the box."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from gazelive.errors import ModelError
from gazelive.models import math_kernels as maths
from gazelive.models.scenewalk.box import (
    CENTRE,
    HIGHEST,
    LOWEST,
    from_coordinates,
    slopes,
    to_coordinates,
)
from gazelive.models.scenewalk.equations import ImageGrid, SceneWalk, SceneWalkParameters
from gazelive.models.scenewalk.score import (
    SceneWalkState,
    scanpath_log_likelihood,
    scanpath_score,
)
from gazelive.models.scenewalk.viewing import Viewing
from gazelive.stimuli.saliency import generated_saliency

from ...support.scenewalk import is_inside_box

SHAPE = (18, 24)
GRID = ImageGrid(np.linspace(-19.2, 19.2, SHAPE[1] + 1), np.linspace(-13.1, 13.1, SHAPE[0] + 1))
NAMES = CENTRE.__struct_fields__
seeds = st.integers(0, 2**32 - 1)

ordinary = st.builds(
    SceneWalkParameters,
    attention_rate_hz=st.floats(0.5, 30),
    inhibition_rate_hz=st.floats(0.1, 10),
    attention_sigma_deg=st.floats(1, 15),
    inhibition_sigma_deg=st.floats(1, 15),
    inhibition_exponent=st.floats(0.3, 8),
    attention_exponent=st.floats(0.3, 3),
    inhibition_strength=st.floats(0.05, 1.2),
    uniform_share=st.floats(0.005, 0.6),
)


def within(low: float, high: float) -> st.SearchStrategy[float]:
    """Return numbers over all magnitudes of a range, its ends above all."""
    between = st.floats(np.log(low), np.log(high)).map(
        lambda x: float(np.clip(np.exp(x), low, high))
    )
    return st.one_of(st.sampled_from([low, high]), between)


box = st.builds(
    SceneWalkParameters,
    **{name: within(getattr(LOWEST, name), getattr(HIGHEST, name)) for name in NAMES},
)


def a_viewing(seed: int, longest: int = 9) -> Viewing:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, longest))
    saliency = generated_saliency("test", seed % 5, SHAPE).density
    x, y = rng.uniform(-19, 19, n), rng.uniform(-13, 13, n)
    return Viewing(x, y, rng.gamma(4, 0.06, n), saliency, GRID)


def an_odd_viewing(seed: int) -> Viewing:
    """Fixations at the edge, outside, on one spot, of no and of endless duration."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    x = rng.choice([-80.0, -19.2, 0.0, 0.001, 3.7, 19.2, 80.0], n)
    y = rng.choice([-60.0, -13.1, 0.0, 0.001, 5.2, 13.1, 60.0], n)
    duration = rng.choice([0.0, 1e-6, 0.05, 0.25, 3.0, 1000.0], n)
    saliency = np.exp(rng.uniform(-rng.choice([0.1, 5.0, 30.0]), 0, SHAPE))
    return Viewing(x, y, duration, saliency, GRID)


def transcribed(p: SceneWalkParameters, viewing: Viewing) -> tuple[float, np.ndarray]:
    """Return ln p by the equations as they stand in the paper, and where U is above 0."""
    i, j = np.meshgrid(GRID.x_deg, GRID.y_deg)
    a = f = np.full(SHAPE, np.finfo(float).eps)
    rows, columns = GRID.cells(viewing.x_deg, viewing.y_deg)
    log_p, masks = 0.0, []
    for t in range(len(rows) - 1):
        r2 = (i - viewing.x_deg[t]) ** 2 + (j - viewing.y_deg[t]) ** 2
        g_a = np.exp(-r2 / (2 * p.attention_sigma_deg**2))
        g_f = np.exp(-r2 / (2 * p.inhibition_sigma_deg**2))
        target_a = g_a * viewing.saliency / np.sum(g_a * viewing.saliency)
        target_f = g_f / np.sum(g_f)
        d = viewing.duration_s[t]
        a = target_a + np.exp(-p.attention_rate_hz * d) * (a - target_a)
        f = target_f + np.exp(-p.inhibition_rate_hz * d) * (f - target_f)
        a_power = (a / a.max()) ** p.attention_exponent
        f_power = (f / f.max()) ** p.inhibition_exponent
        u = a_power / a_power.sum() - p.inhibition_strength * f_power / f_power.sum()
        masks.append(u > 0)
        u = np.clip(u, 0, None)
        share = u / u.sum() if u.sum() > 0 else np.full(SHAPE, 1 / u.size)
        next_p = (1 - p.uniform_share) * share + p.uniform_share / u.size
        log_p += float(np.log(next_p[rows[t + 1], columns[t + 1]]))
    return log_p, np.array(masks)


@settings(max_examples=60)
@given(ordinary, seeds)
def test_value_and_score_have_the_likelihood_of_the_equations(
    p: SceneWalkParameters, seed: int
) -> None:
    viewing = a_viewing(seed)
    expected, _ = transcribed(p, viewing)
    assert scanpath_log_likelihood(p, viewing) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert scanpath_score(p, viewing)[0] == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("index", range(8), ids=NAMES)
@settings(max_examples=25)
@given(p=ordinary, seed=seeds)
def test_the_gradient_is_that_of_finite_differences(
    index: int, p: SceneWalkParameters, seed: int
) -> None:
    viewing = a_viewing(seed)
    theta, step = to_coordinates(p), 3e-5 * np.eye(8)[index]
    _, mask = transcribed(p, viewing)
    for far in (-2, 2):  # away from the kinks where a cell's potential passes 0
        assume(np.array_equal(transcribed(from_coordinates(theta + far * step), viewing)[1], mask))

    def value(k: int) -> float:
        return scanpath_log_likelihood(from_coordinates(theta + k * step), viewing)

    # the five-point rule: its own error is of the fourth order
    numeric = (value(-2) - 8 * value(-1) + 8 * value(1) - value(2)) / (12 * 3e-5)
    parts = [gradient[index] * slopes(p)[index] for gradient in fixation_gradients(p, viewing)]
    # fixations may cancel: what is left cannot be more exact than what was summed
    assert abs(sum(parts) - numeric) <= 1e-6 * np.sum(np.abs(parts)) + 1e-8
    whole = scanpath_score(p, viewing)[1][index] * slopes(p)[index]
    assert whole == pytest.approx(sum(parts), rel=1e-12, abs=1e-12 * float(np.sum(np.abs(parts))))


def fixation_gradients(p: SceneWalkParameters, viewing: Viewing) -> list[np.ndarray]:
    state = SceneWalkState(p, viewing.saliency, viewing.grid)
    gradients = []
    for t in range(viewing.n_scored):
        state.advance(viewing.x_deg[t], viewing.y_deg[t], viewing.duration_s[t])
        gradients.append(state.score_next(viewing.x_deg[t + 1], viewing.y_deg[t + 1])[1])
    return gradients


@settings(max_examples=300)
@given(box, seeds)
def test_everything_is_finite_in_the_box(p: SceneWalkParameters, seed: int) -> None:
    assert is_inside_box(p)
    viewing = an_odd_viewing(seed)
    log_p, gradient = scanpath_score(p, viewing)
    assert np.isfinite(log_p)
    assert np.isfinite(gradient).all()
    assert log_p <= 0
    # the share of chance bounds every probability from below
    assert log_p >= viewing.n_scored * np.log(p.uniform_share / viewing.saliency.size) - 1e-9
    # no closer: where little is left of U, it is a small difference of large numbers
    assert scanpath_log_likelihood(p, viewing) == pytest.approx(log_p, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 3), (64, 64)])
def test_every_corner_of_the_box_is_finite_on_any_grid(shape: tuple[int, int], seed: int) -> None:
    grid = ImageGrid(np.linspace(-19, 19, shape[1] + 1), np.linspace(-13, 13, shape[0] + 1))
    odd = an_odd_viewing(seed)
    saliency = np.random.default_rng(seed).uniform(1e-9, 1, shape)
    viewing = Viewing(odd.x_deg, odd.y_deg, odd.duration_s, saliency, grid)
    lowest, highest = LOWEST.to_array(), HIGHEST.to_array()
    for corner in range(256):
        p = np.where([corner >> k & 1 for k in range(8)], highest, lowest)
        log_p, gradient = scanpath_score(SceneWalkParameters.from_array(p), viewing)
        assert np.isfinite(log_p)
        assert np.isfinite(gradient).all()


@settings(max_examples=30)
@given(ordinary, seeds)
def test_fixation_by_fixation_is_exactly_the_whole(p: SceneWalkParameters, seed: int) -> None:
    viewing = a_viewing(seed)
    state = SceneWalkState(p, viewing.saliency, viewing.grid)
    walk = SceneWalk(p, viewing.saliency, viewing.grid)
    total, walked, gradient = 0.0, 0.0, np.zeros(8)
    for t in range(viewing.n_scored):
        place = viewing.x_deg[t], viewing.y_deg[t], viewing.duration_s[t]
        following = viewing.x_deg[t + 1], viewing.y_deg[t + 1]
        state.advance(*place)
        walk.advance(*place)
        total += state.add_next(*following, gradient)
        walked += walk.next_log_probability(*following)
        assert state.score_next(*following)[0] == state.score_next(*following)[0]
    whole, whole_gradient = scanpath_score(p, viewing)
    assert (total, gradient.tolist()) == (whole, whole_gradient.tolist())
    assert walked == scanpath_log_likelihood(p, viewing)


def test_nothing_but_inhibition_has_no_gradient() -> None:
    viewing = a_viewing(3)
    p = SceneWalkParameters.from_array([9, 0.8, 60, 60, 0.05, 0.05, 10, 0.1])
    log_p, gradient = scanpath_score(p, viewing)
    assert log_p == pytest.approx(-viewing.n_scored * np.log(viewing.saliency.size))
    assert not gradient.any()


def test_a_clipped_cell_is_reached_by_chance_alone() -> None:
    # strong, narrow, lasting inhibition: to stay in place is impossible but by chance
    p = SceneWalkParameters.from_array([9, 20, 5, 1, 1, 1, 3, 0.1])
    viewing = a_viewing(0)
    staying = Viewing([2.0, 2.0], [1.0, 1.0], [0.3, 0.3], viewing.saliency, GRID)
    log_p, gradient = scanpath_score(p, staying)
    assert log_p == pytest.approx(np.log(0.1 / viewing.saliency.size))
    assert gradient[-1] == pytest.approx(1 / 0.1)
    assert not gradient[:-1].any()


def test_coordinates_go_there_and_back() -> None:
    for p in (LOWEST, CENTRE, HIGHEST):
        back = from_coordinates(to_coordinates(p))
        assert back.to_array() == pytest.approx(p.to_array(), rel=1e-14)
    theta, step = to_coordinates(CENTRE), 1e-6
    for k in range(8):
        up = from_coordinates(theta + step * np.eye(8)[k]).to_array()
        down = from_coordinates(theta - step * np.eye(8)[k]).to_array()
        assert (up - down)[k] / (2 * step) == pytest.approx(slopes(CENTRE)[k], rel=1e-8)
    assert is_inside_box(from_coordinates(np.full(8, 1000.0)))
    assert is_inside_box(from_coordinates(np.full(8, -1000.0)))
    assert not is_inside_box(SceneWalkParameters.from_array([9, 0.8, 5, 5, 1, 1, 0, 0.1]))


@given(st.floats(1e-300, 1e300))
def test_the_logarithm(x: float) -> None:
    assert maths.log2(x) == pytest.approx(np.log2(x), rel=3e-14, abs=0)


@given(st.floats(maths.LEAST_EXP2, 1000))
def test_the_power_of_two(y: float) -> None:
    assert maths.exp2(y) == pytest.approx(2.0**y, rel=1e-14)


def test_unscorable_fixations_are_refused() -> None:
    state = SceneWalkState(CENTRE, a_viewing(0).saliency, GRID)
    with pytest.raises(ModelError, match="first fixation is given"):
        state.score_next(0.0, 0.0)
    for x, y, duration in ((np.nan, 0.0, 0.2), (0.0, np.inf, 0.2), (0.0, 0.0, -0.1)):
        with pytest.raises(ModelError, match="needs a position"):
            state.advance(x, y, duration)
    saliency = np.ones(SHAPE)
    saliency[3, 4] = 0
    with pytest.raises(ModelError, match="above 0"):
        SceneWalkState(CENTRE, saliency, GRID)
    with pytest.raises(ModelError, match="above 0"):
        SceneWalk(CENTRE, np.full(SHAPE, np.nan), GRID)
