"""Start, end and amplitude of a saccade are consistent."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.analysis.grid import even_gaze
from gazelive.analysis.interval import analyse_gaze
from gazelive.features.kinematics_kernels import Kinematics
from gazelive.features.saccades import put_ends
from gazelive.features.turns import turns

METHODS = ("settled", "online", "engbert-kliegl")


def steps(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times, x and y of eight saccades at 500 Hz with a little noise."""
    random = np.random.default_rng(seed)
    shape = np.clip((np.arange(2000)[:, None] - 100 - 220 * np.arange(8)) / 20, 0, 1)
    progress = shape**3 * (10 - 15 * shape + 6 * shape**2)
    x, y = (progress @ random.normal(0, 5, (8, 2)) + random.normal(0, 0.01, (2000, 2))).T
    return np.arange(2000) * 2000, x, y


@pytest.mark.parametrize("method", METHODS)
@given(
    seed=st.integers(0, 1000),
    lost=st.lists(st.tuples(st.integers(0, 1999), st.integers(1, 6)), max_size=60),
    spikes=st.lists(st.integers(0, 1999), max_size=20),
)
def test_the_amplitude_is_the_distance_of_the_ends(method, seed, lost, spikes):
    times, x, y = steps(seed)
    x[spikes] += 3.0
    for first, n in lost:
        x[first : first + n] = np.nan
    found = analyse_gaze(even_gaze(times, {"R": (x, y)}, 500.0), method)
    kinematics = found.features.kinematics
    for saccade, row in zip(found.detection.saccades, kinematics, strict=True):
        dx = saccade.end_x_deg - saccade.start_x_deg
        dy = saccade.end_y_deg - saccade.start_y_deg
        assert row[Kinematics.DX_DEG] == dx
        assert row[Kinematics.DY_DEG] == dy
        assert row[Kinematics.AMPLITUDE_DEG] == pytest.approx(np.hypot(dx, dy), rel=1e-15)
        assert row[Kinematics.DIRECTION_DEG] == pytest.approx(np.degrees(np.arctan2(-dy, dx)))
    np.testing.assert_array_equal(
        found.features.turn,
        turns(
            kinematics[:, Kinematics.DX_DEG],
            kinematics[:, Kinematics.DY_DEG],
            found.features.follows_previous,
        ),
    )


def test_without_damage_nothing_changes():
    times, x, y = steps(0)
    found = analyse_gaze(even_gaze(times, {"R": (x, y)}, 500.0))
    assert len(found.features) == 8
    onset, offset = found.features.onset, found.features.offset
    np.testing.assert_array_equal(
        found.features.kinematics[:, Kinematics.DX_DEG], x[offset] - x[onset]
    )


def test_straight_left_is_180_degrees():
    row = np.zeros(len(Kinematics))
    put_ends(row, (2.0, 1.0, -3.0, 1.0))
    assert row[Kinematics.DIRECTION_DEG] == 180
