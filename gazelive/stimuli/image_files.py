"""Image files: those of a folder, and the file of a name in a message."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

SUBFOLDERS = ("", "images", "stimuli")
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".gif", ".webp")
"""Formats that other experiments may show."""
SHOWN_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
"""Formats that our experiment shows."""


def images_in(folder: Path) -> list[Path]:
    """Return the images directly in a folder, by name.

    Hidden files are ignored (macOS adds a `._cat.jpg` to each image that it copies). Paths are
    compared as text, so the order is the same on every system.
    """
    if not folder.is_dir():
        return []
    images = [
        path
        for path in folder.iterdir()
        if path.suffix.lower() in SHOWN_SUFFIXES and not path.name.startswith(".")
    ]
    return sorted((path for path in images if path.is_file()), key=lambda path: path.name)


def find_image(name: str, folders: Iterable[Path]) -> Path | None:
    """Return the image's file in one of the folders: by its name, or by the last part of it.

    Names are data of a recording. They come from experiments on any system, so both kinds of
    slashes separate folders; and no name, also of a link, leads out of the folders.
    """
    parts = PureWindowsPath(name).parts
    if not parts or Path(parts[-1]).suffix.lower() not in SUFFIXES:
        return None
    for folder in folders:
        candidates = [folder / subfolder / parts[-1] for subfolder in SUBFOLDERS]
        for candidate in (folder.joinpath(*parts), *candidates):
            try:
                inside = candidate.resolve().is_relative_to(folder.resolve())
                if inside and candidate.is_file():
                    return candidate
            except (OSError, ValueError, RuntimeError):
                continue  # not a valid file name, or links in a circle
    return None


MOST_PIXELS = 50_000_000
"""Of an image: six screens of 4K."""


@contextmanager
def open_image(path: Path) -> Iterator[Image.Image]:
    """Open an image, not yet unpacked; raise `ValueError` if it has too many pixels."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            opened = Image.open(path)
        except Image.DecompressionBombError as error:
            raise ValueError(str(error)) from error
    with opened:
        width, height = opened.size
        if width * height > MOST_PIXELS:
            raise ValueError(
                f"it has {width} × {height} pixels, more than {MOST_PIXELS / 1e6:.0f} million"
            )
        yield opened
