"""Fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

SHARED_DATA = Path(os.environ.get("GAZELIVE_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real recordings that may not be copied into the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real recordings are not here ({SHARED_DATA}; set GAZELIVE_DATA)")
    return SHARED_DATA
