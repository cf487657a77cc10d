"""Choice and order of images, and positions of crosses."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from gazelive.errors import ConfigError
from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.experiment.protocol.plan import make_plan, picture_of, questions
from gazelive.stimuli.image_files import images_in

from .lab import changed


@pytest.fixture
def images(tmp_path: Path) -> Path:
    for number in range(12):
        Image.new("RGB", (300, 200)).save(tmp_path / f"image{number}.png")
    return tmp_path


def test_no_image_repeats_and_the_seed_sets_the_order(images: Path) -> None:
    config = ExperimentConfig()
    one, same = (make_plan(config, images, "anna", 1) for _ in range(2))
    assert one == same
    names = [trial.image for trial in one.trials]
    assert len(set(names)) == len(names) == 12
    other = [trial.image for trial in make_plan(config, images, "anna", 2).trials]
    assert other != names
    assert sorted(other) == sorted(names)


def test_a_choice_of_the_images(images: Path) -> None:
    config = changed(ExperimentConfig(), stimuli={"n_images": 5, "order_seed": 3})
    plan = make_plan(config, images, "anna", 1)
    assert len(plan.trials) == 5
    assert plan.summary().startswith("5 of 12 images, order seed 3: ")


def test_crosses_lie_in_the_central_part_of_the_image(images: Path) -> None:
    for trial in make_plan(ExperimentConfig(), images, "anna", 1).trials:
        x_px, y_px = trial.cross_px
        assert 960 - 601 <= x_px <= 960 + 601
        assert 540 - 401 <= y_px <= 540 + 401


def test_an_image_fits_in_its_rectangle_and_keeps_its_shape(tmp_path: Path) -> None:
    for size, expected in (((600, 400), (1500, 1000)), ((400, 800), (500, 1000))):
        Image.new("RGB", size).save(tmp_path / "image.png")
        picture = picture_of(tmp_path / "image.png", ExperimentConfig())
        assert (picture.width_px, picture.height_px) == expected
        assert picture.left_px + picture.width_px / 2 == 960


def test_missing_and_unreadable_images_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"stimuli.folder: no images"):
        make_plan(ExperimentConfig(), tmp_path, "anna", 1)
    (tmp_path / "cat.png").write_bytes(b"nothing")
    with pytest.raises(ConfigError, match="not a readable image"):
        make_plan(ExperimentConfig(), tmp_path, "anna", 1)


def test_half_of_the_questions_are_about_new_images(images: Path) -> None:
    config = changed(ExperimentConfig(), task={"recognition_questions": 6})
    plan = make_plan(config, images, "anna", 1)
    assert len(plan.trials) == 9
    asked = questions(plan, plan.trials, 6, "anna", 1)
    shown = {trial.picture.path for trial in plan.trials}
    assert sum(was_shown for _, was_shown in asked) == 3
    assert all((picture.path in shown) == was_shown for picture, was_shown in asked)
    assert len({picture.path for picture, _ in asked}) == 6


def test_only_images_are_listed_in_the_same_order_on_all_systems(tmp_path: Path) -> None:
    for name in ("b.png", "A.PNG", "C.jpg", "e.png"):
        Image.new("RGB", (30, 20)).save(tmp_path / name)
    (tmp_path / "._e.png").write_bytes(b"left by macOS")
    (tmp_path / "d.jpg").mkdir()
    (tmp_path / "Thumbs.db").write_bytes(b"left by Windows")
    assert [path.name for path in images_in(tmp_path)] == ["A.PNG", "C.jpg", "b.png", "e.png"]
