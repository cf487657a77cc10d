"""SceneWalk fitted to simulated viewings, stored, and scored live."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gazelive.errors import ModelError
from gazelive.models.scenewalk.box import CENTRE, from_coordinates, to_coordinates
from gazelive.models.scenewalk.equations import ImageGrid, SceneWalkParameters
from gazelive.models.scenewalk.fit import Prior, fit_around, fit_pooled
from gazelive.models.scenewalk.model import SceneWalkModel
from gazelive.models.scenewalk.viewing import Viewing
from gazelive.stimuli.saliency import generated_saliency

from ...support.scenewalk import is_inside_box

SHAPE = (24, 32)
GRID = ImageGrid(np.linspace(-19.2, 19.2, SHAPE[1] + 1), np.linspace(-13.1, 13.1, SHAPE[0] + 1))
TRUTH = SceneWalkModel(
    SceneWalkParameters(
        attention_rate_hz=8.0,
        inhibition_rate_hz=1.5,
        attention_sigma_deg=5.5,
        inhibition_sigma_deg=3.5,
        inhibition_exponent=1.2,
        attention_exponent=1.1,
        inhibition_strength=0.5,
        uniform_share=0.04,
    )
)


def sampled(model: SceneWalkModel, n_viewings: int, seed: int) -> list[Viewing]:
    rng = np.random.default_rng(seed)
    viewings = []
    for k in range(n_viewings):
        saliency = generated_saliency(f"image {k}", seed, SHAPE).density
        viewings.append(model.sample(saliency, GRID, rng.gamma(4, 0.07, 25), rng))
    return viewings


@pytest.fixture(scope="module")
def many() -> list[Viewing]:
    return sampled(TRUTH, 100, seed=1)


@pytest.fixture(scope="module")
def fitted(many: list[Viewing]) -> SceneWalkModel:
    return SceneWalkModel.fit(many, n_starts=2, n_threads=2)


def test_a_fit_recovers_the_parameters_that_made_the_data(
    many: list[Viewing], fitted: SceneWalkModel
) -> None:
    assert fitted.fitted_to.startswith("100 viewings, 2400 fixations")
    at_fit = sum(map(fitted.log_likelihood, many))
    assert at_fit > sum(map(TRUTH.log_likelihood, many)) - 1
    # distance to the truth in units of the standard errors: chi-square of 8, 0.1 % beyond 26.1
    scores = np.array([TRUTH.fisher_score(viewing) for viewing in many])
    information = scores.T @ scores
    off = fitted.parameters() - TRUTH.parameters()
    assert off @ information @ off < 26.1
    # and in themselves, where the data say much
    ratio = fitted.natural.to_array() / TRUTH.natural.to_array()
    assert ratio[[2, 5]] == pytest.approx(1, abs=0.1)
    assert ratio[[0, 1, 3, 6, 7]] == pytest.approx(1, abs=0.5)


def test_scores_have_no_mean_at_the_truth(many: list[Viewing]) -> None:
    scores = np.array([TRUTH.fisher_score(viewing) for viewing in many])
    z = scores.mean(axis=0) / (scores.std(axis=0) / np.sqrt(len(scores)))
    assert np.abs(z).max() < 4


def test_a_fit_ends_at_a_maximum(many: list[Viewing], fitted: SceneWalkModel) -> None:
    theta, prior = fitted.parameters(), Prior()
    slope = sum(fitted.fisher_score(viewing) for viewing in many) + prior.log_density(theta)[1]
    scores = np.array([fitted.fisher_score(viewing) for viewing in many])
    # another step would gain less than a tenth of a unit of log likelihood
    assert slope @ np.linalg.solve(scores.T @ scores + np.diag(prior.sd**-2.0), slope) < 0.2


def test_a_viewer_is_drawn_to_the_pooled_fit(fitted: SceneWalkModel) -> None:
    theta = TRUTH.parameters()
    theta[[2, 5]] += 0.5, -0.4  # a wider and flatter attention
    own = SceneWalkModel(from_coordinates(theta))
    viewings = sampled(own, 40, seed=2)
    pooled = fitted.parameters()
    moved = {
        sd: fitted.fit_viewer(viewings, sd=sd).parameters() - pooled for sd in (1e-3, 0.1, 1.0)
    }
    assert np.abs(moved[1e-3]).max() < 2e-3
    assert np.linalg.norm(moved[1e-3]) < np.linalg.norm(moved[0.1]) < np.linalg.norm(moved[1.0])
    own_fit = fitted.fit_viewer(viewings)
    new = sampled(own, 40, seed=3)
    assert sum(map(own_fit.log_likelihood, new)) > sum(map(fitted.log_likelihood, new)) + 5


def test_threads_change_nothing(many: list[Viewing]) -> None:
    alone = fit_around(many[:20], CENTRE, max_iterations=4)
    together = fit_around(many[:20], CENTRE, max_iterations=4, n_threads=3)
    assert alone == together


def test_a_fit_of_next_to_nothing_is_the_prior(many: list[Viewing]) -> None:
    short = many[0]
    two = Viewing(short.x_deg[:2], short.y_deg[:2], short.duration_s[:2], short.saliency, GRID)
    fit = fit_pooled([two], n_starts=2)
    assert fit.n_fixations == 1
    assert is_inside_box(fit.parameters)
    off = (to_coordinates(fit.parameters) - to_coordinates(CENTRE)) / Prior().sd
    assert np.abs(off).max() < 2
    one = Viewing(short.x_deg[:1], short.y_deg[:1], short.duration_s[:1], short.saliency, GRID)
    assert TRUTH.log_likelihood(one) == 0
    assert not TRUTH.fisher_score(one).any()
    with pytest.raises(ModelError, match="nothing to fit"):
        fit_pooled([one])
    with pytest.raises(ModelError, match="above 0"):
        fit_around([two], CENTRE, sd=0.0)
    with pytest.raises(ModelError, match="thread"):
        fit_around([two], CENTRE, n_threads=0)


def test_live_is_exactly_the_whole(many: list[Viewing]) -> None:
    viewing = many[0]
    live = TRUTH.live(viewing.saliency, viewing.grid)
    assert (live.n_scored, live.log_likelihood) == (0, 0.0)
    for fixation in zip(viewing.x_deg, viewing.y_deg, viewing.duration_s, strict=True):
        live.add_fixation(*fixation)
    log_likelihood, score = TRUTH.score(viewing)
    assert live.n_scored == viewing.n_scored
    assert live.log_likelihood == log_likelihood
    assert live.fisher_score.tolist() == score.tolist()
    assert log_likelihood == pytest.approx(TRUTH.log_likelihood(viewing), rel=1e-12)


def test_another_point_is_another_model() -> None:
    theta = TRUTH.parameters() + 0.1
    moved = SceneWalkModel(from_coordinates(theta))
    assert moved.parameters() == pytest.approx(theta)
    assert moved.natural.attention_sigma_deg == pytest.approx(5.5 * np.exp(0.1))


def test_samples_have_the_given_start_and_durations() -> None:
    rng = np.random.default_rng(0)
    saliency = generated_saliency("x", 0, SHAPE).density
    viewing = TRUTH.sample(saliency, GRID, [0.2, 0.3, 0.25], rng, start_deg=(1.0, -2.0))
    assert (viewing.x_deg[0], viewing.y_deg[0]) == (1.0, -2.0)
    assert viewing.duration_s.tolist() == [0.2, 0.3, 0.25]
    assert np.abs(viewing.x_deg).max() < 19.2


def test_wider_cells_keep_the_meaning(many: list[Viewing]) -> None:
    fine, coarse = many[0], many[0].coarsened(2)
    assert coarse.grid.shape == (12, 16)
    assert coarse.saliency.sum() == pytest.approx(fine.saliency.sum())
    assert coarse.saliency[0, 0] == pytest.approx(fine.saliency[:2, :2].sum())
    # cells that are small against the windows: one of four has four times the probability
    grid = ImageGrid(np.linspace(-19.2, 19.2, 129), np.linspace(-13.1, 13.1, 97))
    for viewing in many[:5]:
        small = replace(viewing, saliency=np.ones(grid.shape), grid=grid)
        gain = TRUTH.log_likelihood(small.coarsened(2)) - TRUTH.log_likelihood(small)
        assert gain / small.n_scored == pytest.approx(np.log(4), abs=0.05)
    assert fine.coarsened(1) is fine
    with pytest.raises(ModelError, match="does not divide"):
        fine.coarsened(5)


def test_a_viewing_is_checked() -> None:
    saliency = np.ones(SHAPE)
    good = Viewing([0, 1], [0, 1], [0.2, np.nan], saliency, GRID)  # the last is not used
    assert good.n_scored == 1
    assert np.isfinite(TRUTH.log_likelihood(good))
    for x, y, duration, map_, message in (
        ([0, 1], [0], [0.2, 0.2], saliency, "as many x as y"),
        ([0, 1], [0, 1], [0.2], saliency, "as many durations"),
        ([0, np.nan], [0, 1], [0.2, 0.2], saliency, "without a position"),
        ([0, 1], [0, 1], [np.nan, 0.2], saliency, "needs a duration"),
        ([0, 1], [0, 1], [-0.2, 0.2], saliency, "needs a duration"),
        ([0, 1], [0, 1], [0.2, 0.2], np.ones((3, 3)), "on a grid of"),
        ([0, 1], [0, 1], [0.2, 0.2], 0 * saliency, "above 0"),
    ):
        with pytest.raises(ModelError, match=message):
            Viewing(x, y, duration, map_, GRID)
