from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.detection import CyclopeanGaze, cyclopean, detect_settled
from gazelive.errors import RecordingError

Make = Callable[..., Any]


def two_eyes(trace: Any, disparity_deg: float = 1.0) -> list[np.ndarray]:
    half = disparity_deg / 2
    return [trace.x_deg - half, trace.y_deg + half, trace.x_deg + half, trace.y_deg - half]


def test_with_both_eyes_it_is_their_mean(make_trace: Make) -> None:
    trace = make_trace()
    x, y = cyclopean(*two_eyes(trace), trace.rate_hz)
    np.testing.assert_allclose(x, trace.x_deg, atol=1e-12)
    np.testing.assert_allclose(y, trace.y_deg, atol=1e-12)


def test_an_eye_that_comes_and_goes_makes_no_saccade(make_trace: Make) -> None:
    trace = make_trace(seconds=2.0, every_ms=5000.0)
    left_x, left_y, right_x, right_y = two_eyes(trace, 2.0)
    left_x[500:900] = np.nan
    right_x[1200:1500] = np.nan
    right_y[1200:1500] = np.nan
    x, y = cyclopean(left_x, left_y, right_x, right_y, trace.rate_hz)
    assert np.isfinite(x).all()
    detection = detect_settled(trace.times_us, x, y, trace.rate_hz)
    assert len(detection.saccades) == 1
    assert x[-200:].mean() == pytest.approx(trace.x_deg[-200:].mean(), abs=0.1)


def test_from_one_eye_to_the_other_is_a_loss_not_a_jump() -> None:
    left, right = np.zeros(10), np.full(10, 2.0)
    left[5:], right[:5] = np.nan, np.nan
    x, _ = cyclopean(left, left, right, right, 1000.0)
    assert np.flatnonzero(np.isnan(x)).tolist() == [5]
    assert x[4] == 0.0
    assert x[6] == 2.0


def test_neither_eye_is_lost() -> None:
    lost = np.full(5, np.nan)
    x, y = cyclopean(lost, lost, lost, lost, 1000.0)
    assert np.isnan(x).all()
    assert np.isnan(y).all()


def test_one_eye_alone_is_itself(make_trace: Make) -> None:
    trace = make_trace(seconds=0.5)
    lost = np.full(len(trace.x_deg), np.nan)
    x, y = cyclopean(lost, lost, trace.x_deg, trace.y_deg, trace.rate_hz)
    np.testing.assert_allclose(x, trace.x_deg, atol=1e-12)
    np.testing.assert_allclose(y, trace.y_deg, atol=1e-12)


@given(cuts=st.lists(st.integers(0, 300), max_size=20), seed=st.integers(0, 1000))
def test_it_does_not_depend_on_how_samples_are_cut(cuts: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    eyes = np.cumsum(random.normal(0, 0.1, (4, 300)), axis=1)
    for eye in (slice(0, 2), slice(2, 4)):
        start = random.integers(250)
        eyes[eye, start : start + 50] = np.nan
    gaze = CyclopeanGaze(500.0)
    edges = [0, *sorted(cuts), 300]
    parts = [gaze.push(*eyes[:, a:b]) for a, b in itertools.pairwise(edges)]
    whole = cyclopean(*eyes, 500.0)
    for axis in (0, 1):
        np.testing.assert_array_equal(np.concatenate([p[axis] for p in parts]), whole[axis])


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(RecordingError, match="one length"):
        cyclopean([1.0], [1.0], [1.0, 2.0], [1.0, 2.0], 500.0)
