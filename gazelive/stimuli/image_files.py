"""Image files: those of a folder, and the file of a name in a message."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PureWindowsPath

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
    """Return the image's file: by its full name, or by its last part in one of the folders.

    Names come from experiments on any system, so both kinds of slashes separate folders.
    """
    if Path(name).suffix.lower() not in SUFFIXES:
        return None
    last = PureWindowsPath(name).name
    candidates = [Path(name)] if Path(name).is_absolute() else []
    for folder in folders:
        candidates.append(folder / name)
        candidates += [folder / subfolder / last for subfolder in SUBFOLDERS]
    for candidate in candidates:
        try:
            if candidate.is_file():
                return candidate
        except (OSError, ValueError):
            continue  # not a valid file name
    return None
