from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from gazelive.errors import RecordingError
from gazelive.experiment.display.scene_painting import load_picture

RED, GREEN = (255, 0, 0), (0, 255, 0)


def halves(mode: str = "RGB") -> Image.Image:
    """Red above, green below."""
    image = Image.new(mode, (20, 10), RED)
    image.paste(GREEN, (0, 5, 20, 10))
    return image


def test_images_are_rotated_by_exif(tmp_path: Path) -> None:
    turned = halves().transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90° clockwise
    turned.save(tmp_path / "a.png", exif=exif)
    shown = load_picture(tmp_path / "a.png", (20, 10), 128)
    assert shown.getpixel((10, 1)) == RED
    assert shown.getpixel((10, 8)) == GREEN


@pytest.mark.parametrize("mode", ["L", "P", "1", "RGBA", "LA", "CMYK", "I;16"])
def test_every_image_mode_becomes_rgb_of_the_requested_size(tmp_path: Path, mode: str) -> None:
    suffix = "tif" if mode == "CMYK" else "png"
    grey = Image.new("L", (20, 10), 204)
    if mode == "I;16":
        image = Image.fromarray(np.full((10, 20), 204 * 257, np.uint16))
    elif mode == "1":
        image = Image.new("1", (20, 10), 1)
    else:
        image = grey.convert("RGB").convert(mode)
    image.save(tmp_path / f"a.{suffix}")
    shown = load_picture(tmp_path / f"a.{suffix}", (31, 17), 128)
    assert (shown.mode, shown.size) == ("RGB", (31, 17))
    expected = 255 if mode == "1" else 204
    assert np.abs(np.asarray(shown).astype(int) - expected).max() <= 2


def test_transparent_pixels_show_the_background(tmp_path: Path) -> None:
    image = Image.new("RGBA", (20, 10), (255, 0, 0, 0))
    image.paste((255, 0, 0, 255), (0, 0, 10, 10))
    image.save(tmp_path / "a.png")
    shown = load_picture(tmp_path / "a.png", (20, 10), 128)
    assert shown.getpixel((2, 5)) == RED
    assert shown.getpixel((17, 5)) == (128, 128, 128)


def test_an_embedded_profile_is_converted_to_srgb(tmp_path: Path) -> None:
    lab = ImageCms.createProfile("LAB")
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    image = halves()
    image.save(tmp_path / "srgb.png", icc_profile=srgb)
    shown = load_picture(tmp_path / "srgb.png", image.size, 128)
    assert np.abs(np.asarray(shown).astype(int) - np.asarray(image)).max() <= 1
    # a profile for another kind of image is not believed
    image.save(tmp_path / "lab.png", icc_profile=ImageCms.ImageCmsProfile(lab).tobytes())
    shown = load_picture(tmp_path / "lab.png", image.size, 128)
    np.testing.assert_array_equal(np.asarray(shown), np.asarray(image))


def test_a_large_image_shrinks_smoothly(tmp_path: Path) -> None:
    stripes = np.zeros((1200, 1800), np.uint8)
    stripes[:, ::2] = 255
    Image.fromarray(stripes).save(tmp_path / "a.png")
    shown = np.asarray(load_picture(tmp_path / "a.png", (300, 200), 128)).astype(int)
    assert np.abs(shown[5:-5, 5:-5] - 127).max() <= 2


def test_an_unreadable_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"not a picture")
    with pytest.raises(RecordingError, match=r"a\.jpg: .*readable"):
        load_picture(tmp_path / "a.jpg", (10, 10), 128)
    with pytest.raises(RecordingError, match=r"b\.jpg: no such image"):
        load_picture(tmp_path / "b.jpg", (10, 10), 128)
    halves().save(tmp_path / "c.png")
    (tmp_path / "c.png").write_bytes((tmp_path / "c.png").read_bytes()[:60])
    with pytest.raises(RecordingError, match=r"c\.png"):
        load_picture(tmp_path / "c.png", (10, 10), 128)
