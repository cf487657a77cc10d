"""The demo's own pictures, where there are no photographs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gazelive.demo import lab
from gazelive.stimuli.image_files import images_in
from gazelive.stimuli.painted_images import N_PAINTED, paint_images


def test_pictures_are_painted_the_same_each_time_and_each_another(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        paint_images(tmp_path / folder)
    painted = images_in(tmp_path / "one")
    assert len(painted) == len({path.read_bytes() for path in painted}) == N_PAINTED
    for path in painted:
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
        with Image.open(path) as image:
            assert np.asarray(image).std() > 10, "there is something to look at"


def test_photographs_are_used_if_present(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "default_stimuli", lambda: tmp_path / "stimuli")
    assert lab.images_of_demo(tmp_path / "out") == (tmp_path / "stimuli", True)
    monkeypatch.setattr(lab, "default_stimuli", lambda: None)
    folder, photographs = lab.images_of_demo(tmp_path / "out")
    assert not photographs
    assert folder.is_relative_to(tmp_path / "out")
    assert len(images_in(folder)) >= max(lab.N_IMAGES.values())
