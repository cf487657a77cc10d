"""Painting of scenes with Pillow: the same pixels on every computer, testable without a window.

The window shows these pixels unchanged. Image files are shown upright, in sRGB, without
transparency.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops, ImageCms, ImageDraw, ImageOps

from gazelive.errors import RecordingError
from gazelive.experiment.display.display import (
    Blank,
    Cross,
    Picture,
    Question,
    Scene,
    Target,
    Words,
)
from gazelive.experiment.display.lettering import draw_lines
from gazelive.gaze import ScreenGeometry
from gazelive.stimuli import open_image

TARGET_DEG = 0.8
TARGET_HOLE_DEG = 0.2
"""Diameter of a calibration target and of the hole at its centre."""

TEXT_SIZE, HINT_SIZE = 0.039, 0.027
"""Font sizes, as fractions of the screen's height."""
TEXT_WIDTH = 0.72
"""Longest line, as a fraction of the screen's width."""
TEXT_Y, HINT_Y = 0.46, 0.89
"""Vertical centres of text and hint, as fractions of the screen's height."""
QUESTION_Y, QUESTION_HINT_Y = 0.897, 0.957
QUESTION_PICTURE = (0.04, 0.84)
"""Top and bottom limits of the picture of a question, as fractions of the screen's height."""
SMOOTH = 8
"""Oversampling factor for smooth edges."""


@dataclass(frozen=True)
class Patch:
    """An image and the position of its top left pixel in the window."""

    left_px: int
    top_px: int
    image: Image.Image


@dataclass(frozen=True)
class Painter:
    """Paints scenes for a window that shows the screen centred and to scale."""

    screen: ScreenGeometry
    window_px: tuple[int, int]
    background_grey: int

    @property
    def scale(self) -> float:
        """Window pixels per screen pixel."""
        return min(
            self.window_px[0] / self.screen.width_px, self.window_px[1] / self.screen.height_px
        )

    def to_window(self, x_px: float, y_px: float) -> tuple[float, float]:
        """Convert a screen position to window pixels; integers are pixel centres."""
        return (
            (x_px + 0.5 - self.screen.width_px / 2) * self.scale + self.window_px[0] / 2 - 0.5,
            (y_px + 0.5 - self.screen.height_px / 2) * self.scale + self.window_px[1] / 2 - 0.5,
        )

    @property
    def ink(self) -> tuple[int, int, int]:
        """The grey with the best contrast to the background: nearly black or nearly white."""
        # on the usual mid-grey, black has the higher contrast
        return (16, 16, 16) if self.background_grey >= 118 else (240, 240, 240)

    @property
    def dim_ink(self) -> tuple[int, int, int]:
        """A fainter grey for secondary text."""
        grey = round(self.ink[0] + 0.28 * (self.background_grey - self.ink[0]))
        return (grey, grey, grey)

    def paint(self, scene: Scene) -> tuple[Patch, ...]:
        """Return the patches of a scene; the rest of the window is background."""
        match scene:
            case Blank():
                return ()
            case Cross():
                return (self._cross(scene),)
            case Target():
                return (self._target(scene),)
            case Picture():
                return (self._picture(scene),)
            case Words():
                return self._words(scene)
            case Question():
                return self._question(scene)

    def length_px(self, degrees: float) -> int:
        """Return an angle at the screen's centre in window pixels: odd (to have a centre), >= 3."""
        half_mm = self.screen.eye_distance_mm * math.tan(math.radians(degrees / 2))
        px = 2 * half_mm * self.screen.width_px / self.screen.width_mm * self.scale
        return max(2 * round((px - 1) / 2) + 1, 3)

    def _cross(self, cross: Cross) -> Patch:
        """Paint a bull's-eye with a cross: the target with the steadiest fixation.

        Thaler, Schütz, Goodale & Gegenfurtner (2013), Vision Research 76, 31-42: a disc, on it a
        cross in the background's colour a third as wide, in its middle a dot as wide as the cross.
        """
        disc = self.length_px(cross.size_deg)
        dot = min(self.length_px(cross.size_deg / 3), disc - 2)
        image, draw = self._large(disc)
        middle, whole = disc * SMOOTH / 2, disc * SMOOTH
        half = dot * SMOOTH / 2
        draw.ellipse((0, 0, whole - 1, whole - 1), self.ink)
        for box in (
            (middle - half, 0, middle + half - 1, whole),
            (0, middle - half, whole, middle + half - 1),
        ):
            draw.rectangle(box, (self.background_grey,) * 3)
        self._dot(draw, middle, half, self.ink)
        return self._placed(image, cross.x_px, cross.y_px, disc)

    def _target(self, target: Target) -> Patch:
        disc = self.length_px(TARGET_DEG)
        image, draw = self._large(disc)
        middle = disc * SMOOTH / 2
        self._dot(draw, middle, middle, self.ink)
        hole = self.length_px(TARGET_HOLE_DEG) * SMOOTH / 2
        self._dot(draw, middle, hole, (self.background_grey,) * 3)
        return self._placed(image, target.x_px, target.y_px, disc)

    def _picture(self, picture: Picture) -> Patch:
        left, top = self.to_window(picture.left_px - 0.5, picture.top_px - 0.5)
        right, bottom = self.to_window(
            picture.left_px - 0.5 + picture.width_px, picture.top_px - 0.5 + picture.height_px
        )
        left_px, top_px = round(left + 0.5), round(top + 0.5)
        size_px = (max(round(right + 0.5) - left_px, 1), max(round(bottom + 0.5) - top_px, 1))
        return Patch(left_px, top_px, load_picture(picture.path, size_px, self.background_grey))

    def _words(self, words: Words) -> tuple[Patch, ...]:
        return (
            *self._lines(words.text, TEXT_Y, 0.72, TEXT_SIZE, self.ink),
            *self._lines(words.hint, HINT_Y, 0.12, HINT_SIZE, self.dim_ink),
        )

    def _question(self, question: Question) -> tuple[Patch, ...]:
        return (
            self._picture(fitted_above(question.picture, self.screen)),
            *self._lines(question.text, QUESTION_Y, 0.06, TEXT_SIZE, self.ink),
            *self._lines(question.hint, QUESTION_HINT_Y, 0.05, HINT_SIZE, self.dim_ink),
        )

    def _lines(
        self, text: str, middle: float, height: float, size: float, colour: tuple[int, int, int]
    ) -> tuple[Patch, ...]:
        """Paint text in a strip across the screen; lengths are fractions of the screen's height."""
        unit_px = self.screen.height_px * self.scale
        width_px = round(self.screen.width_px * self.scale)
        height_px = math.ceil(height * unit_px)
        image = Image.new("RGB", (width_px, height_px), (self.background_grey,) * 3)
        draw_lines(
            image,
            text,
            centre_px=(width_px / 2, height_px / 2),
            box_px=(TEXT_WIDTH * width_px, height_px),
            size_px=size * unit_px,
            colour=colour,
        )
        left_px = round((self.window_px[0] - width_px) / 2)
        top_px = round((self.window_px[1] - unit_px) / 2 + middle * unit_px - height_px / 2)
        empty = Image.new("RGB", image.size, (self.background_grey,) * 3)
        if (box := ImageChops.difference(image, empty).getbbox()) is None:
            return ()
        return (Patch(left_px + box[0], top_px + box[1], image.crop(box)),)

    def _large(self, size_px: int) -> tuple[Image.Image, ImageDraw.ImageDraw]:
        image = Image.new("RGB", (size_px * SMOOTH,) * 2, (self.background_grey,) * 3)
        return image, ImageDraw.Draw(image)

    @staticmethod
    def _dot(
        draw: ImageDraw.ImageDraw, middle: float, radius: float, colour: tuple[int, ...]
    ) -> None:
        first, last = middle - radius, middle + radius - 1
        draw.ellipse((first, first, last, last), colour)

    def _placed(self, large: Image.Image, x_px: float, y_px: float, size_px: int) -> Patch:
        """Return a shape whose centre pixel is nearest to a screen position."""
        x, y = self.to_window(x_px, y_px)
        half = size_px // 2
        small = large.resize((size_px, size_px), Image.Resampling.BOX)
        return Patch(round(x) - half, round(y) - half, small)


def fitted_above(picture: Picture, screen: ScreenGeometry) -> Picture:
    """Return `picture`, moved up and shrunk if it leaves no room for a question below it."""
    top, bottom = (part * screen.height_px for part in QUESTION_PICTURE)
    if picture.top_px + picture.height_px <= bottom:
        return picture
    scale = min(1.0, (bottom - top) / picture.height_px)
    width, height = picture.width_px * scale, picture.height_px * scale
    return Picture(
        path=picture.path,
        left_px=picture.left_px + (picture.width_px - width) / 2,
        top_px=top + (bottom - top - height) / 2,
        width_px=width,
        height_px=height,
    )


def load_picture(path: Path, size_px: tuple[int, int], background_grey: int) -> Image.Image:
    """Return the image at `path` as RGB of `size_px`, with grey for transparent pixels."""
    try:
        with open_image(path) as file:
            # decode a much larger JPEG at a fraction of its size, which is faster
            file.draft("RGB", (2 * size_px[0], 2 * size_px[1]))
            image = ImageOps.exif_transpose(file)
            image.load()
    except FileNotFoundError as error:
        raise RecordingError("no such image", path=path) from error
    except (OSError, SyntaxError, ValueError) as error:
        raise RecordingError(f"not a readable image ({error})", path=path) from error
    image = _in_srgb(_on_grey(image, background_grey))
    if image.size != size_px:
        image = image.resize(size_px, Image.Resampling.LANCZOS, reducing_gap=3.0)
    return image


def _on_grey(image: Image.Image, grey: int) -> Image.Image:
    """Return `image` without transparency and with 8 bits per channel."""
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
    """Return `image` in sRGB, converted from its embedded colour profile if there is one."""
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
            converted = None  # a damaged profile, or one for another image mode
        if converted is not None:
            return converted
    return image.convert("RGB")
