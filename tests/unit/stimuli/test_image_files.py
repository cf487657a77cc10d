"""Names of images in recordings stay in the folders; huge images stay packed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PIL import Image

from gazelive.errors import ConfigError, ModelError, RecordingError
from gazelive.experiment.display.scene_painting import load_picture
from gazelive.experiment.protocol.plan import upright_size_px
from gazelive.stimuli import find_image, image_saliency, open_image


@pytest.fixture
def folder(tmp_path):
    """A folder of images, and a picture beside it that nobody gave."""
    given = tmp_path / "given"
    for place in (given / "set1", given / "images", tmp_path / "private"):
        place.mkdir(parents=True)
    for file in ("given/a.png", "given/set1/b.png", "given/images/c.png", "private/secret.png"):
        Image.new("RGB", (4, 4)).save(tmp_path / file)
    return given


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.png", "a.png"),
        ("set1/b.png", "set1/b.png"),
        (r"set1\b.png", "set1/b.png"),
        ("/lab/experiment/a.png", "a.png"),
        (r"C:\lab\experiment\c.png", "images/c.png"),
    ],
)
def test_images_are_found_by_their_names(folder, name, found):
    assert find_image(name, [folder]) == folder / found


@pytest.mark.parametrize(
    "name",
    [
        "../private/secret.png",
        r"..\private\secret.png",
        "set1/../../private/secret.png",
        "{private}/secret.png",
        "a.png/../../private/secret.png",
        "..",
        "",
        "/",
        "a\0.png",
        "link.png",
        "linked/secret.png",
        "circle.png",
        "x" * 5000 + ".png",
    ],
)
def test_no_name_leads_out_of_the_folders(folder, name):
    private = folder.parent / "private"
    if os.name != "nt":
        (folder / "link.png").symlink_to(private / "secret.png")
        (folder / "linked").symlink_to(private)
        (folder / "circle.png").symlink_to(folder / "circle.png")
    assert find_image(name.format(private=private), [folder]) is None


def huge(path: Path, width: int, height: int) -> Path:
    """Write a small file that claims a large picture."""
    Image.new("1", (width, height)).save(path, "PNG")
    return path


@pytest.mark.parametrize("side", [7200, 9800, 14000])
def test_an_image_that_unpacks_to_too_much_is_refused_by_its_size(tmp_path, side):
    path = huge(tmp_path / "bomb.png", side, side)
    assert path.stat().st_size < 100_000
    with pytest.raises(ValueError, match="pixels"), open_image(path):
        pass
    with pytest.raises(ModelError, match=r"bomb\.png: not a readable image \(.*pixels"):
        image_saliency(path)
    with pytest.raises(ConfigError, match="pixels"):
        upright_size_px(path)
    with pytest.raises(RecordingError, match="pixels"):
        load_picture(path, (100, 100), 128)
