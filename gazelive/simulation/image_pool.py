"""The images that simulated viewers are shown: real ones where there are, then generated ones.

Only an image's saliency is looked at. The same name is the same image in every corpus and live.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import gazelive
from gazelive.errors import ConfigError
from gazelive.models.saliency import SaliencyMap, generated_saliency, image_saliency
from gazelive.recordings.image_files import images_in
from gazelive.simulation.lab_session import TrialImage
from gazelive.simulation.viewers import random_stream


def default_stimuli() -> Path | None:
    """Return the `stimuli` folder of the checkout or of the working folder, where there is one."""
    for parent in (Path(gazelive.__file__).parents[1], Path.cwd()):
        if images_in(parent / "stimuli"):
            return parent / "stimuli"
    return None


class ImagePool:
    """`size` images: those in `stimuli`, filled up with generated ones."""

    def __init__(self, size: int, stimuli: Path | None) -> None:
        found = [] if stimuli is None else images_in(stimuli)
        if stimuli is not None and not found:
            raise ConfigError("holds no images (.jpg, .png, .webp)", path=stimuli, key="stimuli")
        self._paths = {f"{path.parent.name}/{path.name}": path for path in found[:size]}
        n_generated = size - len(self._paths)
        self.names = [*self._paths, *(f"generated_{i:04}" for i in range(n_generated))]

    @property
    def n_generated(self) -> int:
        """Number of images that do not exist."""
        return len(self.names) - len(self._paths)

    def image(self, name: str) -> TrialImage:
        """Return the image of that name."""
        return TrialImage(name, _saliency(name, self._paths.get(name)))


@cache
def _saliency(name: str, path: Path | None) -> SaliencyMap:
    return generated_saliency(name, 0) if path is None else image_saliency(path)


def images_for_session(
    names: list[str], n_images: int, *, viewer_id: str, seed: int, session: int
) -> list[str]:
    """Return which images a viewer sees in a session (counted from 1), in the order of showing.

    No image comes twice in a session, and none comes again before the pool has run out.
    """
    order = random_stream(seed, viewer_id, "images").permutation(len(names))
    first = (session - 1) * n_images
    chosen = [names[order[i % len(names)]] for i in range(first, first + n_images)]
    shuffle = random_stream(seed, viewer_id, session, "order")
    return [chosen[i] for i in shuffle.permutation(n_images)]
