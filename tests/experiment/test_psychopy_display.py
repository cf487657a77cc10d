"""Real PsychoPy windows on a virtual screen show the painted scenes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from PIL import Image

from gazelive.experiment.display.display import Cross, Picture, Question, Scene, Target, Words
from gazelive.experiment.display.scene_painting import Painter
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.session.reader import read_session
from gazelive.system.screen import WINDOW_SHARE

if TYPE_CHECKING:
    from collections.abc import Callable

    InWindow = Callable[..., dict[str, Any]]

STIMULI = Path(__file__).parents[2] / "stimuli"
PICTURE = Picture(STIMULI / "cat.jpg", 210, 40, 1500, 1000)
SCENES: dict[str, Scene] = {
    "first": Cross(0, 0, 0.6),
    "last": Cross(1919, 1079, 0.6),
    "middle": Cross(960, 540, 0.6),
    "between": Cross(300.4, 799.7, 0.6),
    "target": Target(192, 108),
    "picture": PICTURE,
    "words": Words("You will see a series of images.\n\nLook at each.", "Press space"),
    "question": Question(PICTURE, "Did you see this image?", "y: yes      n: no"),
}


def shot(in_window: InWindow, folder: Path, **options: Any) -> dict[str, Any]:
    scenes = {
        name: (type(scene).__name__.lower(), msgspec.to_builtins(scene, enc_hook=str))
        for name, scene in SCENES.items()
    }
    return in_window("screenshots", scenes=scenes, folder=str(folder), **options)


def painted(scene: Scene, painter: Painter) -> np.ndarray:
    image = Image.new("RGB", painter.window_px, (painter.background_grey,) * 3)
    for patch in painter.paint(scene):
        image.paste(patch.image, (patch.left_px, patch.top_px))
    return np.asarray(image)


@pytest.mark.parametrize(
    ("options", "window_px"),
    [
        ({}, (1920, 1080)),
        ({"windowed": True, "size_px": (1280, 800)}, (1280, 800)),
        ({"windowed": True, "size_px": (641, 479)}, (641, 479)),
        ({"windowed": True, "size_px": (3840, 2400), "retina": True}, (1728, 1080)),
    ],
    ids=["full screen", "windowed", "odd", "too large, counted in points"],
)
def test_every_pixel_is_as_it_was_painted(
    in_window: InWindow, tmp_path: Path, options: dict[str, Any], window_px: tuple[int, int]
) -> None:
    said = shot(in_window, tmp_path, **options)
    assert tuple(said["window_px"]) == window_px
    assert said["kept"] <= 7
    painter = Painter(PAPER_SCREEN, window_px, 128)
    for name, scene in SCENES.items():
        seen = np.asarray(Image.open(tmp_path / f"{name}.png"))
        np.testing.assert_array_equal(seen, painted(scene, painter), err_msg=name)


def test_pixels_are_counted_from_the_top_left(in_window: InWindow, tmp_path: Path) -> None:
    """Said once without the painter: the dot of the cross is at its pixel."""
    in_window(
        "screenshots",
        scenes={"cross": ("cross", {"x_px": 100, "y_px": 200, "size_deg": 0.6})},
        folder=str(tmp_path),
        screen={"background_grey": 200},
    )
    seen = np.asarray(Image.open(tmp_path / "cross.png")).astype(int)
    y, x = np.nonzero((seen != 200).any(2))
    assert ((x.min() + x.max()) / 2, (y.min() + y.max()) / 2) == (100, 200)
    assert tuple(seen[200, 100]) == (16, 16, 16)


def test_flips_are_paced_without_a_screen(in_window: InWindow) -> None:
    said = in_window("frames", n=40, windowed=True, size_px=(320, 180))
    assert said["is_synced"] is False
    assert said["frame_s"] == 1 / 60
    np.testing.assert_allclose(said["flips_s"], np.arange(1, 41) / 60)


def test_a_screen_that_holds_flips_back_is_not_paced_again(in_window: InWindow) -> None:
    screen = {"refresh_rate_hz": 144}
    said = in_window(
        "frames", n=40, screen_hz=143, screen=screen, windowed=True, size_px=(320, 180)
    )
    assert said["is_synced"] is True
    assert said["frame_s"] == pytest.approx(1 / 143)
    np.testing.assert_allclose(np.diff(said["flips_s"]), 1 / 143)


def test_a_session_shows_every_frame(in_window: InWindow, tmp_path: Path) -> None:
    folder = tmp_path / "anna-01"
    said = in_window("session", folder=str(folder), stimuli=str(STIMULI), image_s=2.0, blank_s=0.3)
    assert [what for _, _, what in said["outcomes"]] == ["shown"] * 6
    frames = said["frames"]
    assert frames["n"] > 6 * (2.0 + 0.3) * 60
    assert frames["dropped"] == 0
    assert frames["median_ms"] == pytest.approx(1000 / 60)
    assert frames["worst_ms"] == pytest.approx(1000 / 60)
    recording = read_session(folder)
    assert len(recording.trials) == 6
    for trial, block in zip(recording.trials, recording.blocks, strict=True):
        assert trial.image_onset_us is not None
        assert trial.image_offset_us is not None
        assert trial.image_offset_us - trial.image_onset_us == pytest.approx(2e6, abs=1000)
        assert trial.variables["dropped_frames"] == "0"
        assert set(np.diff(block.samples["tracker_time_us"])) == {1000}


def test_keys_and_a_closed_window(in_window: InWindow) -> None:
    said = in_window("keys", close_key="q")
    assert said["before"] == []
    assert said["pressed"] == ["space", "s", "escape", "return"]
    assert said["again"] == []
    assert said["closed"] == ["q"]
    assert said["once"] == []
    assert said["gone"] == ["q"]
    assert said["error"] == ["the experiment's window is closed"]


@pytest.mark.skipif(
    any(
        importlib.util.find_spec(name) is None for name in ("pylink", "EyeLinkCoreGraphicsPsychoPy")
    ),
    reason="the vendor's packages are not installed (extra `eyelink`)",
)
@pytest.mark.parametrize("options", [{}, {"windowed": True, "size_px": (1280, 800)}])
def test_the_vendors_calibration_shows_our_target(
    in_window: InWindow, tmp_path: Path, options: dict[str, Any]
) -> None:
    said = in_window("calibration", folder=str(tmp_path), x_px=192, y_px=108, **options)
    painter = Painter(PAPER_SCREEN, options.get("size_px", (1920, 1080)), 128)
    for name, scene in (("target", Target(192, 108)), ("afterwards", Words("instructions"))):
        seen = np.asarray(Image.open(tmp_path / f"{name}.png"))
        np.testing.assert_array_equal(seen, painted(scene, painter), err_msg=name)
    assert (np.asarray(Image.open(tmp_path / "erased.png")) == 128).all()
    assert said["pressed"] == ["c"]
    assert said["keys"] == [[], [27]], "Ctrl-C is Esc for the library that calls"


@pytest.mark.parametrize(
    ("screen", "error", "text"),
    [
        ({"number": 3}, "ConfigError", "screen.number: no screen 3: this computer has 1"),
        (
            {"width_px": 1280, "height_px": 1024, "width_mm": 338, "height_mm": 270},
            "ConfigError",
            "screen 0 has 1920x1080 px, but the configuration says 1280x1024",
        ),
    ],
)
def test_settings_that_do_not_fit_the_screen_are_refused(
    in_window: InWindow, screen: dict[str, Any], error: str, text: str
) -> None:
    said = in_window("refusal", screen=screen)
    assert said["error"] == error
    assert text in said["text"]


def test_without_a_screen_the_error_says_what_to_do() -> None:
    pytest.importorskip("psychopy")
    if not sys.platform.startswith("linux"):
        pytest.skip("there is always a screen")
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    script = Path(__file__).with_name("real_window.py")
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(script), "refusal", "{}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    said = json.loads(ran.stdout)
    assert said["error"] == "DeviceUnavailableError"
    assert "no screen" in said["text"]


def test_a_window_leaves_room_for_the_dashboard_on_its_screen(in_window: InWindow) -> None:
    beside = in_window("place", windowed=True, dashboard=1, title="anna-01 – gazelive")
    width, height = beside["size"]
    assert width == round(WINDOW_SHARE * 1920)
    assert width / height == pytest.approx(1920 / 1080, rel=0.01)
    assert beside["position"] == [1920 - width, (1080 - height) // 2]
    assert beside["title"] == "anna-01 – gazelive"
    alone = in_window("place", windowed=True)
    assert alone["size"][0] > 0.7 * 1920
