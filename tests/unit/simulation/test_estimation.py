"""The likelihood from which the simulator's scanpath table is estimated (docs/scripts)."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from gazelive.models.scenewalk.equations import ImageGrid
from gazelive.simulation.scanpath.traits import scanpath_table
from gazelive.stimuli.saliency import generated_saliency

SCRIPTS = Path(__file__).parents[3] / "docs" / "scripts"


def test_the_gradient_is_the_numerical_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    kernels = importlib.import_module("preference_kernels")
    rng = np.random.default_rng(1)
    n = kernels.N_STATISTICS
    grid = ImageGrid(np.linspace(-12, 12, 17), np.linspace(-9, 9, 13))
    saliency = generated_saliency("a", 0, grid.shape).density
    rows, columns = rng.integers(0, 12, 9), rng.integers(0, 16, 9)
    fixations = np.column_stack([grid.x_deg[columns], grid.y_deg[rows], rng.uniform(0.1, 0.4, 9)])
    scenewalk = scanpath_table().scenewalk.to_array()

    def log_likelihood(preferences: np.ndarray, gradient: np.ndarray) -> float:
        value, n_saccades = kernels.scanpath_log_likelihood(
            saliency,
            grid.x_deg,
            grid.y_deg,
            fixations,
            rows,
            columns,
            scenewalk,
            preferences,
            gradient,
            np.zeros((n, n)),
            True,
        )
        assert n_saccades == 7
        return float(value)

    preferences = rng.normal(0, 0.3, n)
    gradient, ignored = np.zeros(n), np.zeros(n)
    log_likelihood(preferences, gradient)
    for k, step in enumerate(1e-5 * np.eye(n)):
        above = log_likelihood(preferences + step, ignored)
        below = log_likelihood(preferences - step, ignored)
        assert gradient[k] == pytest.approx((above - below) / 2e-5, abs=1e-6)
