"""Painted images: stimuli for a demo or a try-out where there are no photographs.

The photographs in `stimuli` are part of a checkout of gazelive, not of the installed package.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from gazelive.stimuli.saliency import generated_saliency
from gazelive.system import replacing

N_PAINTED = 24
SIZE_PX = (750, 500)
GROUND, SPOTS = np.array([58, 74, 92.0]), np.array([250, 214, 140.0])
"""Colours (red, green, blue)."""


def paint_images(folder: Path, n_images: int = N_PAINTED) -> None:
    """Write pictures to `folder`, always the same: bright spots where people would look."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, n_images + 1):
        name = f"painted_{number:02}.png"
        density = generated_saliency(name, seed=0).density
        strength = np.sqrt(density / density.max())[:, :, None]
        pixels = (GROUND + strength * (SPOTS - GROUND)).astype(np.uint8)
        image = Image.fromarray(pixels).resize(SIZE_PX, Image.Resampling.BICUBIC)
        with replacing(folder / name) as aside:
            image.save(aside)
