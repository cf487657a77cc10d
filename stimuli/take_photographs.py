"""Cut the photographs of this folder from the packages that ship them (see sources.csv).

python stimuli/take_photographs.py        needs scikit-image and scikit-learn installed
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from make_scenes import jpeg
from PIL import Image, ImageFilter

from gazelive.system import write_bytes

SIZE_PX = (1500, 1000)


@dataclass(frozen=True)
class Photograph:
    """A file inside an installed package and the part of it that is shown."""

    package: str
    path: str
    left_px: float
    top_px: float
    width_px: float

    def cut(self) -> Image.Image:
        """Return the part, three wide to two high, at the size of all stimuli."""
        spec = importlib.util.find_spec(self.package)
        if spec is None or spec.origin is None:
            raise SystemExit(f"the package {self.package} is not installed")
        with Image.open(Path(spec.origin).parent / self.path) as whole:
            part = (
                self.left_px,
                self.top_px,
                self.left_px + self.width_px,
                self.top_px + self.width_px * SIZE_PX[1] / SIZE_PX[0],
            )
            grown = whole.convert("RGB").resize(SIZE_PX, Image.Resampling.LANCZOS, box=part)
        return grown.filter(ImageFilter.UnsharpMask(radius=3, percent=60, threshold=2))


PHOTOGRAPHS = {
    "astronaut": Photograph("skimage", "data/astronaut.png", 0, 0, 512),
    "cameraman": Photograph("skimage", "data/camera.png", 0, 40, 512),
    "cat": Photograph("skimage", "data/chelsea.png", 0.5, 0, 450),
    "coffee": Photograph("skimage", "data/coffee.png", 0, 0, 600),
    "rocket": Photograph("skimage", "data/rocket.jpg", 0, 0, 640),
    "dahlia": Photograph("sklearn", "datasets/images/flower.jpg", 0, 0, 640),
    "pagoda": Photograph("sklearn", "datasets/images/china.jpg", 0, 0, 640),
}


def main() -> None:
    """Cut all of them."""
    for name, photograph in PHOTOGRAPHS.items():
        write_bytes(Path(__file__).parent / f"{name}.jpg", jpeg(photograph.cut()))


if __name__ == "__main__":
    main()
