"""The images' files for models that look at them: a model keeps none, and is told where they are.

`scenewalk` and `fisher-scenewalk` do, if they were trained with `--stimuli`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gazelive.identification.contract import Identifier, LooksAtImages
from gazelive.identification.model_file import TrainedModel
from gazelive.identification.scenewalk_identifier import SceneWalkIdentifier

MOST_TOLD = 5
"""So many images are named that are not found."""


def looks_at_images(model: TrainedModel) -> bool:
    """Say whether a model needs the images' files."""
    return isinstance(model.identifier, SceneWalkIdentifier) and model.provenance.stimuli


def with_stimuli(model: TrainedModel, folders: Iterable[Path]) -> TrainedModel:
    """Return the model with the images' files at hand, if it looks at them.

    An image that is in none of the folders is seen by its centre bias (`image_problems`).
    """
    identifier = model.identifier
    if not (isinstance(identifier, SceneWalkIdentifier) and model.provenance.stimuli):
        return model
    seeing = replace(identifier, scene=replace(identifier.scene, stimuli=tuple(folders)))
    return replace(model, fitted=replace(model.fitted, identifier=seeing))


def image_problems(identifier: Identifier, images: Iterable[str | None]) -> list[str]:
    """Return sentences on the images whose files do not count although they should."""
    if not isinstance(identifier, LooksAtImages):
        return []
    told = (identifier.image_problem(image) for image in dict.fromkeys(images))
    problems = list(dict.fromkeys(problem for problem in told if problem is not None))
    if len(problems) > MOST_TOLD:
        more = f"so it is with {len(problems) - MOST_TOLD} more images"
        return [*problems[:MOST_TOLD], more]
    return problems
