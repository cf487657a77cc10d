"""Text on the screen: a font with all characters, wrapped and centred lines."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

LINE_HEIGHT = 1.5
"""Line spacing, in font sizes."""
PARAGRAPH_GAP = 0.6
"""Height of an empty line, in lines."""
SMALLEST = 0.5
"""Text that does not fit shrinks down to this fraction of its size."""

UNASSIGNED = "\U0010ffff"
"""No font has this character."""

PACKAGED_FONTS = (
    ("psychopy", "assets/fonts/NotoSans-Regular.ttf"),
    ("matplotlib", "mpl-data/fonts/ttf/DejaVuSans.ttf"),
)
"""The same on every computer; with Latin, Greek and Cyrillic."""
SYSTEM_FONTS = (
    "NotoSansCJK-Regular.ttc",
    "msyh.ttc",
    "YuGothM.ttc",
    "malgun.ttf",
    "PingFang.ttc",
    "Hiragino Sans GB.ttc",
    "AppleSDGothicNeo.ttc",
    "arial.ttf",
    "Arial Unicode.ttf",
    "NotoSansArabic-Regular.ttf",
    "NotoSansHebrew-Regular.ttf",
    "NotoSansDevanagari-Regular.ttf",
    "NotoSansThai-Regular.ttf",
    "Nirmala.ttf",
    "LeelawUI.ttf",
)
"""For other characters; Pillow searches the system's font folders for them."""


def draw_lines(
    image: Image.Image,
    text: str,
    *,
    centre_px: tuple[float, float],
    box_px: tuple[float, float],
    size_px: float,
    colour: tuple[int, int, int],
) -> None:
    """Write `text` into `image`, wrapped into a box and centred in it."""
    if not text.strip():
        return
    size = size_px
    while True:
        font = _font(_font_name(text), max(round(size), 6))
        lines = list(_wrapped(text, font, box_px[0]))
        heights = [PARAGRAPH_GAP if not line else 1.0 for line in lines]
        total = sum(heights) * LINE_HEIGHT * size
        fits = total <= box_px[1] and all(font.getlength(line) <= box_px[0] for line in lines)
        if fits or size <= SMALLEST * size_px:
            break
        size *= 0.95
    draw = ImageDraw.Draw(image)
    y = centre_px[1] - total / 2
    ascent, descent = font.getmetrics()
    for line, height in zip(lines, heights, strict=True):
        step = height * LINE_HEIGHT * size
        baseline = y + step / 2 + (ascent - descent) / 2
        draw.text((round(centre_px[0]), round(baseline)), line, colour, font, anchor="ms")
        y += step


def undrawable(text: str) -> str:
    """Return the characters of `text` that would be drawn as boxes: no font here has them."""
    name = _font_name(text)
    characters = dict.fromkeys(character for character in text if not character.isspace())
    return "".join(character for character in characters if not _has(name, {character}))


def _wrapped(text: str, font: ImageFont.FreeTypeFont, width_px: float) -> Iterator[str]:
    """Yield lines no wider than `width_px`; line breaks in the text are kept."""
    for paragraph in text.strip("\n").split("\n"):
        if font.getlength(paragraph) <= width_px:
            yield paragraph.strip()
            continue
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}" if line else word
            if line and font.getlength(longer) > width_px:
                yield line
                longer = word
            while len(longer) > 1 and font.getlength(longer) > width_px:
                # a script without spaces, or a very long word
                n = _fitting(longer, font, width_px)
                yield longer[:n]
                longer = longer[n:]
            line = longer
        yield line


def _fitting(word: str, font: ImageFont.FreeTypeFont, width_px: float) -> int:
    """Return the number of characters of `word` that fit into `width_px`, at least 1."""
    return next((n for n in range(len(word), 1, -1) if font.getlength(word[:n]) <= width_px), 1)


@cache
def _font_name(text: str) -> str:
    """Return the first font with every character of `text`, else the first available."""
    needed = {character for character in text if not character.isspace()}
    names = [str(path) for path in _packaged_fonts()]
    for name in (*names, *SYSTEM_FONTS):
        if _has(name, needed):
            return name
    return names[0] if names else ""


def _packaged_fonts() -> Sequence[Path]:
    found = []
    for package, name in PACKAGED_FONTS:
        specification = importlib.util.find_spec(package)
        if specification is not None and specification.origin is not None:
            path = Path(specification.origin).parent / name
            if path.is_file():
                found.append(path)
    return found


def _has(name: str, characters: set[str]) -> bool:
    """Return whether a font exists and has a glyph for each character."""
    try:
        font = _font(name, 20)
    except OSError:
        return False
    unknown = _drawn(font, UNASSIGNED)
    return all(_drawn(font, character) != unknown for character in characters)


def _drawn(font: ImageFont.FreeTypeFont, character: str) -> tuple[tuple[int, int], bytes]:
    mask = font.getmask(character)
    return mask.size, bytes(mask)


@cache
def _font(name: str, size_px: int) -> ImageFont.FreeTypeFont:
    if name:
        return ImageFont.truetype(name, size_px)
    font = ImageFont.load_default(size_px)
    assert isinstance(font, ImageFont.FreeTypeFont)  # Pillow's wheels have FreeType
    return font
