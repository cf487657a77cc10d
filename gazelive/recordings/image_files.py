"""The files of images: which a folder holds, and where one is when all that came is its name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PureWindowsPath

SUBFOLDERS = ("", "images", "stimuli")
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".gif", ".webp")
"""What experiments of others may have shown."""
SHOWN_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
"""What ours shows."""


def images_in(folder: Path) -> list[Path]:
    """Return the images to be shown that are right in a folder, by name.

    Hidden files are none (macOS leaves a `._cat.jpg` beside each image that it copies). Paths are
    compared as texts, so that the order is the same on every system.
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
    """Return the image's file: as it is named, or by its last part in one of the folders.

    Names come from experiments on any system, so both kinds of slashes part folders.
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
            continue  # a name that no file can have
    return None
