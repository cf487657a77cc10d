"""What the functions for notebooks share."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import TypeAlias

from gazelive.errors import GazeliveWarning
from gazelive.gaze.screen import ScreenGeometry
from gazelive.recordings.geometry import GeometryFlags

PathLike: TypeAlias = str | os.PathLike[str]


def flags_of(screen: ScreenGeometry | None) -> GeometryFlags | None:
    """Return a screen as what a user said of it, which goes before what a recording says."""
    return None if screen is None else GeometryFlags.of(screen)


def tell(sentences: Iterable[str]) -> None:
    """Warn whoever called the function that calls this."""
    for sentence in sentences:
        warnings.warn(sentence, GazeliveWarning, stacklevel=3)
