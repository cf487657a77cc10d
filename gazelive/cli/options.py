"""Options that several commands share: one home, so that they are called and explained alike.

Screen and trials have homes of their own (`geometry_options`, `trial_options`), `--json` and
`--quiet` are what a command says (`console`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gazelive.identification.model_file import TrainedModel

OUT = ("--out", "--output", "-o")
"""What a command writes."""
REPLACE = ("--replace", "--force", "-f")
"""Whether it may take the place of something."""

Sessions = Annotated[
    str | None, typer.Option(help="Only these sessions, such as 1,2.", show_default="all")
]
ModelStimuli = Annotated[
    Path | None,
    typer.Option(
        "--stimuli",
        metavar="FOLDER",
        help="Folder of the images, where scenewalk was trained with them.",
    ),
]


def names_of(text: str | None) -> tuple[str, ...]:
    """Return the names in a comma-separated list."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def check_stimuli(stimuli: Path | None) -> None:
    """Refuse a folder of images that is not there."""
    from gazelive.errors import ConfigError

    if stimuli is not None and not stimuli.is_dir():
        raise ConfigError(f"{stimuli}: there is no such folder", key="--stimuli")


def seeing(model: TrainedModel, stimuli: Path | None) -> TrainedModel:
    """Return a model with the images' files at hand; refuse where it needs them."""
    from gazelive.errors import ConfigError
    from gazelive.identification.stimuli import looks_at_images, with_stimuli

    check_stimuli(stimuli)
    if stimuli is not None:
        return with_stimuli(model, [stimuli])
    if looks_at_images(model):
        raise ConfigError(
            "the model was trained with the images' files, so it needs them here too",
            key="--stimuli",
        )
    return model
