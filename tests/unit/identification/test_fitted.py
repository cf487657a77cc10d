"""Cross-validated accuracy for several images together."""

from __future__ import annotations

import numpy as np
import pytest

from gazelive.identification import fit_method
from gazelive.identification.fitted import accuracy_by_images, image_groups

from ...support.people import people, training_of

VIEWERS = np.repeat([0, 1], 12)
SCANPATHS = np.arange(24)
FOLDS = np.tile([0, 1], 12)
ALL = np.ones(24, bool)


def test_groups_are_of_one_viewer_and_one_fold() -> None:
    groups = image_groups(VIEWERS, SCANPATHS, FOLDS, 4)
    assert sorted(np.bincount(groups[groups >= 0])) == [4] * 4
    for group in range(4):
        own = groups == group
        assert len(set(VIEWERS[own])) == len(set(FOLDS[own])) == 1
    assert (groups == -1).sum() == 8  # six scanpaths in each fold: two are left over


def test_all_windows_of_a_scanpath_are_in_its_group() -> None:
    twice = np.repeat(SCANPATHS, 2)
    groups = image_groups(VIEWERS[twice], twice, FOLDS[twice], 3)
    np.testing.assert_array_equal(groups[::2], groups[1::2])
    assert set(groups) == set(range(8))


def test_a_scanpath_in_two_folds_is_no_image() -> None:
    one = np.zeros(24, np.int64)
    assert (image_groups(VIEWERS, one, FOLDS, 1) == -1).all()
    assert accuracy_by_images(np.ones((24, 2)), VIEWERS, one, FOLDS, ALL) == {}


def test_evidence_adds_up_over_images() -> None:
    own = np.tile([3.0, 3.0, -1.0, -1.0, -1.0, -1.0], 4)  # one third of them is right
    evidence = np.stack((np.where(VIEWERS == 0, own, -own), np.zeros(24)), axis=1)
    found = accuracy_by_images(evidence, VIEWERS, SCANPATHS, FOLDS, ALL)
    assert found["1"].estimate == pytest.approx(1 / 3)
    assert (found["all"].estimate, found["all"].n) == (1.0, 4)
    assert "10" not in found  # a fold has six
    assert "within sessions" in found["all"].protocol


@pytest.mark.parametrize("method", ["markov", "fisher-markov", "gazelive"])
@pytest.mark.parametrize("kind", ["fixations", "samples"])
def test_more_images_help(method: str, kind: str) -> None:
    made = fit_method(method, training_of(people(4, spread=0.2), kind, 50, 8))  # type: ignore[arg-type]
    found = made.accuracy_by_images
    assert list(found) == ["1", "10", "all"]
    assert found["1"].n > found["10"].n >= found["all"].n
    assert found["1"].estimate <= found["10"].estimate <= 1
    if kind == "fixations":
        assert made.accuracy is not None
        assert found["1"].estimate == made.accuracy.estimate
