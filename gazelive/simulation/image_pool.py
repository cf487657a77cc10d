"""Image pool of simulated viewers: real images first, then generated ones.

Only an image's saliency is used. The same name is the same image in every corpus and live.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import gazelive
from gazelive.errors import ConfigError
from gazelive.simulation.lab_session import TrialImage
from gazelive.simulation.people import random_stream
from gazelive.stimuli import SaliencyMap, generated_saliency, image_saliency, images_in


def default_stimuli() -> Path | None:
    """Return the `stimuli` folder of the checkout or of the working folder, if there is one."""
    for parent in (Path(gazelive.__file__).parents[1], Path.cwd()):
        if images_in(parent / "stimuli"):
            return parent / "stimuli"
    return None


class ImagePool:
    """`size` images: those in `stimuli`, filled up with generated ones."""

    def __init__(self, size: int, stimuli: Path | None) -> None:
        found = [] if stimuli is None else images_in(stimuli)
        if stimuli is not None and not found:
            raise ConfigError("contains no images (.jpg, .png, .webp)", path=stimuli, key="stimuli")
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
    """Return the images of a viewer's session (counted from 1), in order.

    No image is repeated in a session, nor before the pool is exhausted.
    """
    order = random_stream(seed, viewer_id, "images").permutation(len(names))
    first = (session - 1) * n_images
    chosen = [names[order[i % len(names)]] for i in range(first, first + n_images)]
    shuffle = random_stream(seed, viewer_id, session, "order")
    return [chosen[i] for i in shuffle.permutation(n_images)]
