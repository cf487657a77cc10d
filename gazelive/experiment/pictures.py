"""Image files as they are shown: upright, in sRGB, scaled well, without transparency."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image, ImageCms, ImageOps

from gazelive.errors import RecordingError


def load_picture(path: Path, size_px: tuple[int, int], background_grey: int) -> Image.Image:
    """Return the image at `path` as RGB of `size_px`, on grey where it is transparent."""
    try:
        with Image.open(path) as file:
            # a JPEG that is far larger is decoded at a fraction of its size, which is quicker
            file.draft("RGB", (2 * size_px[0], 2 * size_px[1]))
            image = ImageOps.exif_transpose(file)
            image.load()
    except FileNotFoundError as error:
        raise RecordingError("there is no such image", path=path) from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise RecordingError(f"is not an image that can be read ({error})", path=path) from error
    image = _in_srgb(_on_grey(image, background_grey))
    if image.size != size_px:
        image = image.resize(size_px, Image.Resampling.LANCZOS, reducing_gap=3.0)
    return image


def _on_grey(image: Image.Image, grey: int) -> Image.Image:
    """Return `image` without transparency; an image of more than 8 bits is brought to them."""
    if image.has_transparency_data:
        colour = image.convert("RGBA")
        below = Image.new("RGBA", image.size, (grey, grey, grey, 255))
        whole = Image.alpha_composite(below, colour).convert("RGB")
        whole.info = image.info
        return whole
    if image.mode.startswith("I"):  # 16-bit grey, which Pillow would clip
        return image.convert("F").point(lambda value: value / 257).convert("L")
    return image


def _in_srgb(image: Image.Image) -> Image.Image:
    """Return `image` with its embedded colour profile, if any, turned into sRGB."""
    profile = image.info.get("icc_profile")
    if profile and image.mode in {"RGB", "L", "CMYK"}:
        try:
            converted = ImageCms.profileToProfile(
                image,
                ImageCms.ImageCmsProfile(io.BytesIO(profile)),
                ImageCms.createProfile("sRGB"),
                outputMode="RGB",
            )
        except (ImageCms.PyCMSError, OSError):
            converted = None  # a damaged profile, or one of another kind of image
        if converted is not None:
            return converted
    return image.convert("RGB")
