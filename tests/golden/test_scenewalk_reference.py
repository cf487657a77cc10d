"""SceneWalk against the public model (Schwetlick, version 1.0, float64) on six of its cases.

Both versions of our likelihood, alone and with its gradient, equal it to 1e-14 of its size; 7e-16
was the largest difference measured.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gazelive.models import ImageGrid, SceneWalkModel, SceneWalkParameters, Viewing

RELATIVE = 1e-14


@pytest.fixture(scope="module")
def reference(shared_data: Path) -> dict[str, np.ndarray]:
    path = shared_data / "models" / "scenewalk_reference.npz"
    if not path.is_file():
        pytest.skip(f"the reference likelihoods are not here ({path})")
    with np.load(path) as arrays:
        return dict(arrays)


@pytest.mark.parametrize("case", range(6))
def test_log_likelihood_equals_that_of_the_public_model(
    reference: dict[str, np.ndarray], case: int
) -> None:
    saliency = reference["saliency"][case]
    width_deg, height_deg = reference["range_deg"]
    n_rows, n_columns = saliency.shape
    grid = ImageGrid(
        np.linspace(0, width_deg, n_columns + 1), np.linspace(0, height_deg, n_rows + 1)
    )
    names = ("x_deg", "y_deg", "duration_s")
    viewing = Viewing(*(reference[name][case] for name in names), saliency, grid)
    model = SceneWalkModel(SceneWalkParameters.from_array(reference["parameters"][case]))
    expected = float(reference["log_likelihood"][case])
    assert model.log_likelihood(viewing) == pytest.approx(expected, rel=RELATIVE)
    assert model.score(viewing)[0] == pytest.approx(expected, rel=RELATIVE)
