"""Draw the scenes of this folder, the same pixels every time.

python stimuli/make_scenes.py                      all of them, about an hour of one core
python stimuli/make_scenes.py beach canyon         only these
python stimuli/make_scenes.py beach --width 300 -o /somewhere    a quick look
"""

from __future__ import annotations

import argparse
import importlib
import io
import pkgutil
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
from rich.progress import Progress
from scenery import scenes
from scenery.render import Scene, render

from gazelive.system import write_bytes

SEED = 0
SIZE_LIMIT_BYTES = 230_000
SCENES = tuple(sorted(module.name for module in pkgutil.iter_modules(scenes.__path__)))


def draw(
    name: str,
    width_px: int = 1500,
    *,
    n_samples: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> npt.NDArray[np.uint8]:
    """Return the scene `name` as (rows, columns, 3), three wide to two high."""
    module = importlib.import_module(f"scenery.scenes.{name}")
    scene: Scene = module.compose(np.random.default_rng([SEED, zlib.crc32(name.encode())]))
    height_px = round(width_px * 2 / 3)
    return render(scene, width_px, height_px, n_samples=n_samples, progress=progress)


def jpeg(picture: Image.Image) -> bytes:
    """Return the picture as a JPEG of good quality that is not larger than the limit."""
    for quality in range(90, 40, -4):
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=quality, optimize=True, progressive=True)
        if buffer.tell() <= SIZE_LIMIT_BYTES:
            break
    return buffer.getvalue()


def main() -> None:
    """Draw what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(SCENES)}")
    parser.add_argument("--width", type=int, default=1500, help="width in px")
    parser.add_argument("-o", "--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    unknown = set(options.names) - set(SCENES)
    if unknown:
        sys.exit(f"no such scene: {', '.join(sorted(unknown))}")
    with Progress() as bars:
        for name in options.names or SCENES:
            bar = bars.add_task(name, total=1.0)
            pixels = draw(
                name, options.width, progress=lambda done, bar=bar: bars.update(bar, completed=done)
            )
            write_bytes(options.out / f"{name}.jpg", jpeg(Image.fromarray(pixels)))


if __name__ == "__main__":
    main()
