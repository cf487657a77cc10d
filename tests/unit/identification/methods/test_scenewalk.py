"""SceneWalk's saliency from the fixations of others, for the study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gazelive.features import Scanpath
from gazelive.identification import Options, fit_method, training_set
from gazelive.identification.methods.scenewalk import SceneWalkIdentifier
from gazelive.models import SceneWalkModel

from ....support.people import people

PEOPLE = people(4)
PROBED = PEOPLE[1].name


def looks(images: range, n_saccades: int = 7) -> list[tuple[str, str, Scanpath]]:
    return [
        (person.name, "1", person.looks("fixations", n_saccades, image, f"im{image}.jpg"))
        for person in PEOPLE
        for image in images
    ]


@pytest.fixture(scope="module")
def identifier() -> SceneWalkIdentifier:
    training = training_set("fixations", looks(range(3)))
    made = fit_method("fisher-scenewalk", training, Options(saliency="others")).identifier
    assert isinstance(made, SceneWalkIdentifier)
    return made


TEST = looks(range(10, 13))


class TestWithSaliencyOfOthers:
    @pytest.mark.parametrize("image", ["im10.jpg", "im0.jpg"])  # of the test, of the training
    def test_no_fixation_of_the_probed_viewer_is_used(
        self, identifier: SceneWalkIdentifier, image: str
    ) -> None:
        elsewhere = [
            (viewer, session, replace(path, fixations=-path.fixations[::-1]))
            if viewer == PROBED
            else (viewer, session, path)
            for viewer, session, path in TEST
        ]
        without = [entry for entry in TEST if entry[0] != PROBED]
        expected, source = identifier.with_saliency_of(TEST, probed=PROBED).scene.saliency(image)
        assert "of 3 other viewers" in source
        for others in (elsewhere, without):
            made = identifier.with_saliency_of(others, probed=PROBED)
            np.testing.assert_array_equal(made.scene.saliency(image)[0], expected)

    def test_the_fixations_of_others_are_used(self, identifier: SceneWalkIdentifier) -> None:
        bias, source = identifier.scene.saliency("im10.jpg")
        assert "other viewer" not in source
        made = identifier.with_saliency_of(TEST, probed=PROBED)
        assert not np.allclose(made.scene.saliency("im10.jpg")[0], bias)
        path = next(path for viewer, _, path in TEST if viewer == PROBED)
        before, after = (one.judge(path).evidence for one in (identifier, made))
        assert not np.allclose(before, after)

    def test_for_another_viewer_the_map_is_another(self, identifier: SceneWalkIdentifier) -> None:
        maps = [
            identifier.with_saliency_of(TEST, probed=person.name).scene.saliency("im10.jpg")[0]
            for person in PEOPLE
        ]
        assert len({saliency.tobytes() for saliency in maps}) == len(PEOPLE)


def test_training_leaves_out_the_viewer_who_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    fit, seen = SceneWalkModel.fit, []

    def watched(viewings, **options):  # type: ignore[no-untyped-def]
        seen.extend(viewings)
        return fit(viewings, **options)

    monkeypatch.setattr(SceneWalkModel, "fit", watched)
    training = training_set("fixations", looks(range(3)))
    made = fit_method("fisher-scenewalk", training, Options(saliency="others")).identifier
    assert isinstance(made, SceneWalkIdentifier)
    bank, shape = made.scene.bank, made.scene.grid.shape
    for viewing, path, viewer in zip(seen, training.scanpaths, training.viewers, strict=True):
        own = training.viewer_ids[viewer]
        expected = bank.choose(path.image, without={own}, shape=shape)
        np.testing.assert_array_equal(viewing.saliency, expected.density)
        assert "of 3 other viewers" in viewing.saliency_source
