"""The stimuli that come with the project: complete, of one size, and what their generator draws."""

from __future__ import annotations

import csv
import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

STIMULI = Path(__file__).parents[2] / "stimuli"
FREE_LICENCES = ("MIT", "CC0 1.0", "CC BY 2.0", "public domain")
REDRAWN = ("chess_game", "hay_field")
WIDTH_PX = 120


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """The script that draws the scenes; it lies outside the package."""
    sys.path.insert(0, str(STIMULI))
    try:
        return importlib.import_module("make_scenes")
    finally:
        sys.path.remove(str(STIMULI))


@pytest.fixture(scope="module")
def sources() -> dict[str, dict[str, str]]:
    with (STIMULI / "sources.csv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def as_seen(name: str) -> np.ndarray:
    """The committed file at the size of a redrawn one."""
    with Image.open(STIMULI / f"{name}.jpg") as image:
        small = image.resize((WIDTH_PX, WIDTH_PX * 2 // 3), Image.Resampling.BOX)
        return np.asarray(small, np.float64)


def test_there_are_enough_and_they_are_small() -> None:
    files = list(STIMULI.glob("*.jpg"))
    assert len(files) >= 24
    assert sum(file.stat().st_size for file in files) < 8e6


def test_each_is_a_colour_image_of_1500_by_1000() -> None:
    for file in STIMULI.glob("*.jpg"):
        with Image.open(file) as image:
            assert (image.size, image.mode) == ((1500, 1000), "RGB"), file.name


def test_each_has_a_source_with_a_free_licence(sources: dict[str, dict[str, str]]) -> None:
    assert set(sources) == {file.name for file in STIMULI.glob("*.jpg")}
    for row in sources.values():
        assert all(row.values()), row
        assert row["licence"].startswith(FREE_LICENCES), row


def test_no_two_are_alike() -> None:
    thumbs = np.array([as_seen(file.stem).ravel() for file in sorted(STIMULI.glob("*.jpg"))])
    thumbs = (thumbs - thumbs.mean(axis=1, keepdims=True)) / thumbs.std(axis=1, keepdims=True)
    likeness = thumbs @ thumbs.T / thumbs.shape[1]
    np.fill_diagonal(likeness, 0)
    assert likeness.max() < 0.9


def test_every_scene_of_the_generator_is_there(
    generator: ModuleType, sources: dict[str, dict[str, str]]
) -> None:
    drawn = {Path(file).stem for file, row in sources.items() if row["licence"] == "MIT"}
    assert set(generator.SCENES) == drawn


@pytest.mark.slow
@pytest.mark.parametrize("name", REDRAWN)
def test_a_scene_is_drawn_again_as_it_was(generator: ModuleType, name: str) -> None:
    again = generator.draw(name, WIDTH_PX, n_samples=4)
    np.testing.assert_array_equal(again, generator.draw(name, WIDTH_PX, n_samples=4))
    difference = np.abs(again - as_seen(name))
    assert difference.mean() < 8
    assert np.corrcoef(again.ravel(), as_seen(name).ravel())[0, 1] > 0.97
