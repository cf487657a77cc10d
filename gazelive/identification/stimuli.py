"""Image files for models that were trained with them (`--stimuli`): a model keeps none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gazelive.identification.contract import Identifier, LooksAtImages
from gazelive.identification.model_file import TrainedModel

MOST_NAMED = 5
"""Images that are named in warnings."""


def looks_at_images(model: TrainedModel) -> bool:
    """Return whether a model needs the image files."""
    return isinstance(model.identifier, LooksAtImages) and model.provenance.stimuli


def with_stimuli(model: TrainedModel, folders: Iterable[Path]) -> TrainedModel:
    """Return the model with the image files at hand, if it uses them.

    An image that is in none of the folders is replaced by the centre bias (`image_problems`).
    """
    identifier = model.identifier
    if not (isinstance(identifier, LooksAtImages) and model.provenance.stimuli):
        return model
    seeing = identifier.with_stimuli(folders)
    return replace(model, fitted=replace(model.fitted, identifier=seeing))


def image_problems(identifier: Identifier, images: Iterable[str | None]) -> list[str]:
    """Return warnings on images whose files cannot be used although they should."""
    if not isinstance(identifier, LooksAtImages):
        return []
    found = (identifier.image_problem(image) for image in dict.fromkeys(images))
    problems = list(dict.fromkeys(problem for problem in found if problem is not None))
    if len(problems) > MOST_NAMED:
        more = f"the same holds for {len(problems) - MOST_NAMED} more images"
        return [*problems[:MOST_NAMED], more]
    return problems
