"""Plan of a session: images, their order, and positions of the fixation crosses.

Seed, viewer and session number determine everything, so a log entry is enough to repeat it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from gazelive.errors import ConfigError
from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.experiment.display.display import Picture
from gazelive.simulation import random_stream
from gazelive.stimuli import images_in, open_image
from gazelive.wording import counted


class PlannedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A planned trial."""

    number: int
    """Counts from 1."""
    picture: Picture
    cross_px: tuple[int, int]

    @property
    def image(self) -> str:
        """The image's file name."""
        return self.picture.path.name


@dataclass(frozen=True)
class Plan:
    """A planned session."""

    trials: tuple[PlannedTrial, ...]
    foils: tuple[Picture, ...]
    """New images for the recognition questions at the end."""
    n_available: int
    seed: int

    def summary(self) -> str:
        """Return the text printed at the start."""
        n = len(self.trials)
        return (
            f"{n} of {counted(self.n_available, 'image')}, order seed {self.seed}: "
            f"{', '.join(trial.image for trial in self.trials[:3])}"
            f"{' …' if n > 3 else ''}"
        )


def make_plan(config: ExperimentConfig, folder: Path, viewer: str, session: int) -> Plan:
    """Choose images of `folder` at random, none twice."""
    paths = images_in(folder)
    if not paths:
        raise ConfigError(f"no images in {folder} (.jpg, .png, .webp)", key="stimuli.folder")
    seed = config.stimuli.order_seed or 0
    chance = random_stream(seed, viewer, session, "experiment")
    n_foils = min(-(-config.task.recognition_questions // 2), len(paths) - 1)
    n_images = min(config.stimuli.n_images, len(paths) - n_foils)
    order = chance.permutation(len(paths))
    pictures = [picture_of(paths[i], config) for i in order[: n_images + n_foils]]
    trials = tuple(
        PlannedTrial(number=number, picture=picture, cross_px=_cross_px(config, chance))
        for number, picture in enumerate(pictures[:n_images], start=1)
    )
    return Plan(trials, tuple(pictures[n_images:]), len(paths), seed)


def picture_of(path: Path, config: ExperimentConfig) -> Picture:
    """Return an image with its rectangle on the screen: centred, as large as fits."""
    width, height = upright_size_px(path)
    screen, stimuli = config.screen, config.stimuli
    scale = min(stimuli.width_px / width, stimuli.height_px / height)
    width_px, height_px = round(width * scale), round(height * scale)
    return Picture(
        path=path,
        left_px=(screen.width_px - width_px) / 2,
        top_px=(screen.height_px - height_px) / 2,
        width_px=width_px,
        height_px=height_px,
    )


def upright_size_px(path: Path) -> tuple[int, int]:
    """Return width and height of an image after its EXIF rotation."""
    try:
        with open_image(path) as image:
            upright = image.getexif().get(0x0112, 1) < 5  # from 5 on the image lies on its side
            width, height = image.size if upright else image.size[::-1]
    except (OSError, SyntaxError, ValueError) as error:
        raise ConfigError(f"not a readable image: {error}", path=path) from error
    return width, height


def _cross_px(config: ExperimentConfig, chance: np.random.Generator) -> tuple[int, int]:
    """Return a random position in the central part of the image area."""
    screen, stimuli, part = config.screen, config.stimuli, config.trial.cross_area
    x, y = chance.uniform(-part / 2, part / 2, 2)
    return (
        round((screen.width_px - 1) / 2 + x * stimuli.width_px),
        round((screen.height_px - 1) / 2 + y * stimuli.height_px),
    )


def questions(
    plan: Plan, shown: Sequence[PlannedTrial], n_questions: int, viewer: str, session: int
) -> list[tuple[Picture, bool]]:
    """Return images to ask about and whether each was shown: half of them, in random order."""
    chance = random_stream(plan.seed, viewer, session, "recognition")
    foils = list(plan.foils)[: n_questions // 2 + n_questions % 2]
    old = [trial.picture for trial in shown]
    old = [old[i] for i in chance.permutation(len(old))[: n_questions - len(foils)]]
    asked = [(picture, True) for picture in old] + [(picture, False) for picture in foils]
    return [asked[i] for i in chance.permutation(len(asked))]
