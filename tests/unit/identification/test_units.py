"""Units of evidence and their folds."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.identification.units import (
    LONGEST_UNIT,
    N_FOLDS,
    WINDOW,
    n_units,
    shares_saccades,
    unit_folds,
    unit_windows,
)


@given(n=st.integers(0, 1000), step=st.integers(1, 20))
def test_windows_cover_every_saccade_and_nothing_else(n, step):
    windows = unit_windows(n, step)
    assert {i for first, beyond in windows for i in range(first, beyond)} == set(range(n))
    for first, beyond in windows:
        assert 0 < beyond - first <= 3 * step
        assert first % step == 0
    assert all(beyond - first == 2 * step for first, beyond in windows[:-1])
    assert len(windows) <= 1 or windows[-1][1] - windows[-1][0] > 2 * step


def test_examples():
    assert unit_windows(0) == []
    assert unit_windows(LONGEST_UNIT) == [(0, 30)]
    assert unit_windows(31) == [(0, 20), (10, 31)]
    assert unit_windows(45) == [(0, 20), (10, 30), (20, 45)]
    assert n_units(30) == 1
    assert n_units(2 * WINDOW) == 2


@st.composite
def some_units(draw):
    """Units of viewers, of intervals with and without images, several units to an interval."""
    images, intervals, viewers = [], [], []
    number = 0
    for viewer in range(draw(st.integers(1, 4))):
        for _ in range(draw(st.integers(1, 12))):
            image = draw(st.one_of(st.none(), st.integers(0, 15).map("image{}".format)))
            n = draw(st.integers(1, 3))
            images += [image] * n
            intervals += [number] * n
            viewers += [viewer] * n
            number += 1
    return images, np.array(intervals), np.array(viewers)


@given(units=some_units())
def test_every_viewer_with_enough_units_is_always_in_training(units):
    images, intervals, viewers = units
    folds = unit_folds(images, intervals, viewers)
    assert folds.shape == viewers.shape
    assert ((folds >= 0) & (folds < N_FOLDS)).all()
    for viewer in np.unique(viewers):
        own = folds[viewers == viewer]
        assert len(own) == 1 or len(np.unique(own)) > 1


@given(
    seen=st.lists(st.sets(st.integers(0, 60), min_size=25), min_size=1, max_size=4),
    seed=st.integers(0, 5),
)
def test_no_image_is_in_two_folds(seen, seed):
    images = [f"image{i}" for own in seen for i in sorted(own)]
    viewers = np.repeat(np.arange(len(seen)), [len(own) for own in seen])
    folds = unit_folds(images, np.arange(len(images)), viewers, seed)
    for image in set(images):
        assert len({fold for name, fold in zip(images, folds, strict=True) if name == image}) == 1


def test_windows_of_an_interval_without_an_image_stay_together():
    intervals = np.repeat(np.arange(40), 3)
    folds = unit_folds([None] * 120, intervals, np.repeat([0, 1], 60))
    assert all(len(set(folds[intervals == i])) == 1 for i in range(40))
    assert np.bincount(folds).tolist() == [24] * 5


def test_folds_are_of_one_size():
    images = [f"i{k}" for k in range(500)] * 2
    folds = unit_folds(images, np.arange(1000), np.repeat([0, 1], 500))
    assert np.bincount(folds).tolist() == [200] * 5


@pytest.mark.parametrize("images", [["same"] * 20, [None] * 20])
def test_one_long_interval_or_one_image_is_split_in_time(images):
    intervals = np.arange(20) if images[0] else np.repeat([0, 1], 10)
    viewers = np.repeat([0, 1], 10)
    folds = unit_folds(images, intervals, viewers)
    for viewer in (0, 1):
        own = folds[viewers == viewer]
        assert own.tolist() == sorted(own.tolist())
        assert np.bincount(own).tolist() == [2] * 5


def test_a_viewer_of_one_fold_is_not_held_out_entirely():
    names = [f"i{k:02}" for k in range(50)]
    alone = unit_folds(names, np.arange(50), np.zeros(50, np.int64))
    one_fold = [name for name, fold in zip(names, alone, strict=True) if fold == 3][:5]
    viewers = np.repeat([0, 1], (50, 5))
    folds = unit_folds(names + one_fold, np.arange(55), viewers)
    assert len(set(folds[viewers == 1])) > 1


def test_nothing():
    assert len(unit_folds([], np.empty(0, np.int64), np.empty(0, np.int64))) == 0


def test_windows_on_the_border_of_folds_share_saccades():
    intervals = np.array([0, 0, 0, 0, 0, 0, 1, 1, 2])
    folds = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3])
    assert np.flatnonzero(shares_saccades(intervals, folds)).tolist() == [2, 3]
    assert not shares_saccades(np.arange(9), folds).any()  # whole intervals share nothing
