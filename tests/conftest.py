"""Fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow tests, so that no worker is left with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


SHARED_DATA = Path(os.environ.get("GAZELIVE_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real recordings that may not be copied into the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real recordings are not here ({SHARED_DATA}; set GAZELIVE_DATA)")
    return SHARED_DATA


@pytest.fixture
def eye_steps() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (µs) and positions (°) at 1000 Hz of an eye that jumps 5° to and fro six times."""
    rng = np.random.default_rng(0)
    tau = np.linspace(0, 1, 40)
    path = 5 * (10 * tau**3 - 15 * tau**4 + 6 * tau**5)
    x = [np.zeros(300)]
    for k in range(6):
        going = path if k % 2 == 0 else 5 - path
        x += [going, np.full(300, going[-1])]
    x_deg = np.concatenate(x) + rng.normal(0, 0.01, sum(map(len, x)))
    return np.arange(len(x_deg)) * 1000, x_deg, rng.normal(0, 0.01, len(x_deg))
