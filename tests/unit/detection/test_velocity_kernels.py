from __future__ import annotations

import numpy as np
import pytest

from gazelive.detection.online.velocity_kernels import centred_velocity, elliptic_runs


def velocity(x: np.ndarray, half_width: int, rate_hz: float) -> np.ndarray:
    result = np.empty(len(x))
    centred_velocity(np.asarray(x, float), half_width, rate_hz, result)
    return result


@pytest.mark.parametrize("half_width", [1, 2, 4, 8])
def test_a_steady_movement_has_its_velocity_at_any_width(half_width: int) -> None:
    v = velocity(np.arange(50) * 0.03, half_width, 1000.0)
    np.testing.assert_allclose(v[half_width:-half_width], 30.0)
    assert np.isnan(v[:half_width]).all()
    assert np.isnan(v[-half_width:]).all()


def test_five_points_are_the_form_of_2003() -> None:
    x = np.random.default_rng(0).normal(size=30)
    expected = 500 / 6 * (x[4:] + x[3:-1] - x[1:-3] - x[:-4])
    np.testing.assert_allclose(velocity(x, 2, 500.0)[2:-2], expected)


def test_a_lost_sample_spoils_the_whole_window() -> None:
    x = np.zeros(20)
    x[10] = np.nan
    lost = np.flatnonzero(np.isnan(velocity(x, 2, 500.0)[2:-2])) + 2
    assert lost.tolist() == [8, 9, 10, 11, 12]


def test_too_few_samples_have_no_velocity() -> None:
    assert np.isnan(velocity(np.zeros(3), 2, 500.0)).all()


def test_runs_outside_the_ellipse() -> None:
    vx = np.array([0, 5, 5, 0, 5, 5, 5, np.nan, 5, 5, 5], float)
    runs = np.empty((10, 2), np.int64)
    n = elliptic_runs(vx, np.zeros(len(vx)), 4.0, 4.0, 3, runs)
    assert runs[:n].tolist() == [[4, 6], [8, 10]]
