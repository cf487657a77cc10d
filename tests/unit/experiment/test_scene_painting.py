from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from gazelive.experiment.display.display import Blank, Cross, Picture, Question, Target, Words
from gazelive.experiment.display.scene_painting import Painter, Patch, fitted_above
from gazelive.gaze.screen import PAPER_SCREEN

GREY = 128
FULL = Painter(PAPER_SCREEN, (1920, 1080), GREY)
WINDOWED = Painter(PAPER_SCREEN, (1280, 800), GREY)


@pytest.fixture
def image_path(tmp_path: Path) -> Path:
    """Four quarters: red, green / blue, white."""
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[:20, :30] = (255, 0, 0)
    pixels[:20, 30:] = (0, 255, 0)
    pixels[20:, :30] = (0, 0, 255)
    pixels[20:, 30:] = 255
    path = tmp_path / "quarters.png"
    Image.fromarray(pixels).save(path)
    return path


def middle(patch: Patch) -> tuple[float, float]:
    """Return the centre of the foreground, in the window's pixels."""
    y, x = np.nonzero((np.asarray(patch.image).astype(int) != GREY).any(2))
    return patch.left_px + (x.min() + x.max()) / 2, patch.top_px + (y.min() + y.max()) / 2


@pytest.mark.parametrize("kind", ["cross", "target"])
@pytest.mark.parametrize("position", [(0, 0), (1919, 1079), (960, 540), (17, 1003)])
def test_a_shape_is_centred_on_its_pixel(kind: str, position: tuple[int, int]) -> None:
    scene = Cross(*position, 0.6) if kind == "cross" else Target(*position)
    (patch,) = FULL.paint(scene)
    assert middle(patch) == position
    pixels = np.asarray(patch.image)
    for turned in (pixels[::-1], pixels[:, ::-1], pixels.transpose(1, 0, 2)):
        np.testing.assert_array_equal(turned, pixels)


def test_a_cross_is_a_bullseye_with_a_cross() -> None:
    """Thaler et al. 2013: disc of 0.6°, cross and dot of 0.2°."""
    (patch,) = FULL.paint(Cross(960, 540, 0.6))
    grey = np.asarray(patch.image)[..., 0]
    size = len(grey)
    px_per_deg = float(PAPER_SCREEN.deg_to_px(0.5, 0)[0] - PAPER_SCREEN.deg_to_px(-0.5, 0)[0])
    assert abs(size - 0.6 * px_per_deg) <= 1
    half = size // 2
    row = grey[half]
    assert row[half] == FULL.ink[0]
    assert row[0] == row[-1] == GREY  # the arms of the cross
    dot = np.flatnonzero(row == FULL.ink[0])
    assert abs(len(dot) - 0.2 * px_per_deg) <= 1
    assert (np.diff(dot) == 1).all()
    assert grey[size // 4, size // 4] == FULL.ink[0]  # a quarter of the disc


def test_a_target_is_a_disc_with_a_hole() -> None:
    (patch,) = FULL.paint(Target(960, 540))
    grey = np.asarray(patch.image)[..., 0]
    half = len(grey) // 2
    assert grey[half, half] == GREY
    assert grey[half, half // 2] == FULL.ink[0]


@given(st.floats(0, 1919), st.floats(0, 1079))
def test_in_another_window_everything_is_to_scale(x_px: float, y_px: float) -> None:
    x, y = WINDOWED.to_window(x_px, y_px)
    assert (x + 0.5) / 1280 == pytest.approx((x_px + 0.5) / 1920)
    assert (y + 0.5 - 40) / 720 == pytest.approx((y_px + 0.5) / 1080)  # 40 px above and below
    (patch,) = WINDOWED.paint(Target(x_px, y_px))
    assert middle(patch) == pytest.approx((x, y), abs=0.51)


def test_a_picture_fills_its_rectangle_upright(image_path: Path) -> None:
    (patch,) = FULL.paint(Picture(image_path, 210, 40, 1500, 1000))
    assert (patch.left_px, patch.top_px, patch.image.size) == (210, 40, (1500, 1000))
    quarters = [patch.image.getpixel(at) for at in ((9, 9), (1490, 9), (9, 990), (1490, 990))]
    assert quarters == [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]
    (small,) = WINDOWED.paint(Picture(image_path, 210, 40, 1500, 1000))
    assert (small.left_px, small.top_px, small.image.size) == (140, 67, (1000, 666))


def test_a_blank_has_no_patches() -> None:
    assert FULL.paint(Blank()) == ()
    assert FULL.paint(Words("")) == ()
    assert FULL.paint(Words(" \n ", hint="")) == ()


@pytest.mark.parametrize("window_px", [(1920, 1080), (1024, 768), (640, 480)])
def test_words_are_centred_and_stay_on_the_screen(window_px: tuple[int, int]) -> None:
    painter = Painter(PAPER_SCREEN, window_px, GREY)
    text, hint = painter.paint(
        Words("Look at the cross.\n\nThen at the image. " * 12, "Press space")
    )
    for patch in (text, hint):
        assert middle(patch)[0] == pytest.approx(window_px[0] / 2, abs=3)
        assert patch.left_px > 0
        assert patch.left_px + patch.image.width < window_px[0]
    assert text.top_px > 0
    assert text.top_px + text.image.height < hint.top_px
    assert hint.top_px + hint.image.height < window_px[1]
    assert np.asarray(text.image).min() < np.asarray(hint.image).min()  # the hint is dimmer


@pytest.mark.parametrize(("grey", "dark"), [(0, False), (60, False), (128, True), (255, True)])
def test_ink_has_contrast_on_any_background(grey: int, dark: bool) -> None:
    def luminance(value: int) -> float:
        part = value / 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    painter = Painter(PAPER_SCREEN, (1920, 1080), grey)
    for ink, least in ((painter.ink[0], 4.5), (painter.dim_ink[0], 3.0)):
        assert (ink < grey) == dark
        bright, dim = sorted((luminance(ink), luminance(grey)), reverse=True)
        assert (bright + 0.05) / (dim + 0.05) >= least


@given(st.floats(0, 400), st.floats(0, 800), st.floats(10, 1500), st.floats(10, 1080))
def test_a_question_has_room_below_its_picture(
    left: float, top: float, width: float, height: float
) -> None:
    given = Picture(Path("x.png"), left, top, width, height)
    fitted = fitted_above(given, PAPER_SCREEN)
    assert fitted.top_px >= 0
    assert fitted.top_px + fitted.height_px <= 0.84 * 1080 + 1e-6
    assert fitted.width_px / fitted.height_px == pytest.approx(width / height)
    assert fitted.left_px + fitted.width_px / 2 == pytest.approx(left + width / 2)
    if top + height <= 0.84 * 1080:
        assert fitted == given


def test_a_question_is_below_its_picture(image_path: Path) -> None:
    picture = Picture(image_path, 210, 40, 1500, 1000)
    shown, text, hint = FULL.paint(Question(picture, "Did you see this?", "y: yes     n: no"))
    assert shown.top_px + shown.image.height < text.top_px
    assert text.top_px + text.image.height < hint.top_px
    assert hint.top_px + hint.image.height < 1080
