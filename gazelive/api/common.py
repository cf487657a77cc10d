"""What the functions for notebooks share."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TypeAlias

from gazelive.errors import ConfigError, GazeliveWarning
from gazelive.gaze.screen import ScreenGeometry
from gazelive.recordings.geometry import GeometryFlags

PathLike: TypeAlias = str | os.PathLike[str]
Names: TypeAlias = str | int | Collection[str | int]
"""One name, or several; sessions are often numbers."""


def flags_of(screen: ScreenGeometry | None) -> GeometryFlags | None:
    """Return a screen as what a user said of it, which goes before what a recording says."""
    return None if screen is None else GeometryFlags.of(screen)


def names_of(names: Names) -> tuple[str, ...]:
    """Return names as recordings and tables have them."""
    return (str(names),) if isinstance(names, str | int) else tuple(map(str, names))


def folder_of(path: PathLike | None, name: str) -> Path | None:
    """Return the folder that the argument `name` gives, or raise where there is none."""
    if path is not None and not Path(path).is_dir():
        raise ConfigError(f"{path}: there is no such folder", key=name)
    return None if path is None else Path(path)


def tell(sentences: Iterable[str]) -> None:
    """Warn whoever called the function that calls this."""
    for sentence in sentences:
        warnings.warn(sentence, GazeliveWarning, stacklevel=3)
