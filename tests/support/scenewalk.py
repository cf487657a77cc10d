"""Checks of SceneWalk parameters."""

from __future__ import annotations

from gazelive.models.scenewalk.box import HIGHEST, LOWEST
from gazelive.models.scenewalk.equations import SceneWalkParameters


def is_inside_box(parameters: SceneWalkParameters) -> bool:
    """Return whether every parameter lies between its limits."""
    values = parameters.to_array()
    return bool((values >= LOWEST.to_array()).all() and (values <= HIGHEST.to_array()).all())
