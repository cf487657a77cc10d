import numpy as np
import pytest

from gazelive.features.vigor import DEFAULT_RATE_DEG, fit_rate_deg, mean_rate_deg, vigor_deg_s


def a_person(vigor, rate_deg, n=200, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    amplitude = rng.gamma(1.5, 3.0, n) + 0.5
    velocity = vigor * -np.expm1(-amplitude / rate_deg) * np.exp(noise * rng.standard_normal(n))
    return amplitude, velocity


@pytest.mark.parametrize("rate_deg", [2.0, 7.0, 15.0])
def test_the_rate_is_found_again(rate_deg):
    assert fit_rate_deg(*a_person(500, rate_deg)) == pytest.approx(rate_deg, rel=1e-3)
    assert fit_rate_deg(*a_person(500, rate_deg, noise=0.1)) == pytest.approx(rate_deg, rel=0.25)


def test_the_common_rate_is_the_mean_over_people():
    people = [a_person(400, 5.0), a_person(600, 9.0)]
    assert mean_rate_deg(people) == pytest.approx(7.0, rel=1e-3)


def test_too_few_saccades_give_no_rate_of_their_own():
    few = (np.array([1.0, 2]), np.array([50.0, 90]))
    assert fit_rate_deg(*few) is None
    assert mean_rate_deg([few]) == DEFAULT_RATE_DEG
    assert mean_rate_deg([few, a_person(400, 5.0)]) == pytest.approx(5.0, rel=1e-3)


def test_vigor_undoes_the_main_sequence_and_masks_small_components():
    amplitude, velocity = a_person(500, 7.0)
    assert vigor_deg_s(amplitude, velocity, 7.0) == pytest.approx(500)
    assert vigor_deg_s(-amplitude, velocity, 7.0) == pytest.approx(500)
    assert np.isnan(vigor_deg_s(np.array([0.5, 0.0, np.nan]), np.array([30.0, 0, 10]), 7.0)).all()
