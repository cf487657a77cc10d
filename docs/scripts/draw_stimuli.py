"""Draw all stimuli with the saliency that is computed from them.

python docs/scripts/draw_stimuli.py [docs/figures/stimuli-saliency.png]
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from PIL import Image

from gazelive.stimuli.saliency import image_saliency
from gazelive.system.files import write_bytes

ROOT = Path(__file__).parents[2]
N_COLUMNS = 6
TILE_PX = (240, 160)
GAP_PX = 4


def overlaid(path: Path) -> Image.Image:
    """Return the image dimmed where nobody is expected to look, coloured where people are."""
    with Image.open(path) as image:
        small = np.asarray(image.convert("RGB").resize(TILE_PX, Image.Resampling.LANCZOS)) / 255
    density = Image.fromarray(image_saliency(path).density.astype(np.float32))
    level = np.asarray(density.resize(TILE_PX, Image.Resampling.BICUBIC), float)
    level = np.clip(np.sqrt(np.maximum(level, 0) / np.quantile(level, 0.995)), 0, 1)[..., None]
    heat = mpl.colormaps["inferno"](level[..., 0])[..., :3]
    mixed = small * (1 - 0.75 * level) * (0.45 + 0.55 * level) + heat * 0.75 * level
    return Image.fromarray(np.uint8(np.clip(mixed, 0, 1) * 255))


def main() -> None:
    """Draw pairs: the image on the left, its saliency on the right."""
    paths = sorted((ROOT / "stimuli").glob("*.jpg"))
    n_pairs = N_COLUMNS // 2
    n_rows = -(-len(paths) // n_pairs)
    width, height = TILE_PX[0] + GAP_PX, TILE_PX[1] + GAP_PX
    sheet = Image.new("RGB", (N_COLUMNS * width, n_rows * height), "white")
    for k, path in enumerate(paths):
        left, top = (k % n_pairs) * 2 * width, (k // n_pairs) * height
        with Image.open(path) as image:
            sheet.paste(image.resize(TILE_PX, Image.Resampling.LANCZOS), (left, top))
        sheet.paste(overlaid(path), (left + TILE_PX[0], top))
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/figures/stimuli-saliency.png"
    buffer = io.BytesIO()
    # a palette holds the file to a quarter of its size, and nobody measures colours here
    sheet.quantize(128, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    write_bytes(out, buffer.getvalue())


if __name__ == "__main__":
    main()
