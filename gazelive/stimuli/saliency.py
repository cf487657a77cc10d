"""Saliency maps: densities of fixations over the image rectangle.

In order of preference: the density of other viewers' fixations on the image
(`empirical_density`), the density of fixations on other images (`learned_centre_bias`), a map
computed from the image alone (`image_saliency`). Maps of images that do not exist
(`generated_saliency`) are for simulated experiments.

Coordinates are relative to the image: x from 0 (left edge) to 1 (right edge), y from 0 (top) to
1 (bottom). Cell (row, column) of a map covers `[column, column + 1) / n_columns` in x and
`[row, row + 1) / n_rows` in y.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage, special

from gazelive.errors import ModelError
from gazelive.gaze import Floats
from gazelive.stimuli.boolean_map import boolean_map_saliency
from gazelive.stimuli.image_files import open_image

GRID_SHAPE = (128, 128)
"""Default rows and columns of a map; SceneWalk's grid."""
CENTRE_BIAS_SIGMA = (0.235, 0.235)
"""Horizontal and vertical standard deviation of the centre bias, in image widths and heights."""
UNIFORM_SHARE = 0.02
"""Share of an even density in an empirical one, for places without fixations."""
NARROWEST_BANDWIDTH = 0.02
"""Least kernel width in image units, some 0.8°: the resolution of tracker and fovea."""
WORKING_COLUMNS = 120
"""Width in pixels at which an image's saliency is computed."""
BLUR_SIGMA = 0.02
"""Blur of the attention map in image widths, some 0.8°: the fovea."""
UNIFORM_ATTENTION = 0.05
"""Share of an even map in the attention map: people look at plain places too."""
CONTRAST = 2.5
"""Exponent that makes computed maps about as concentrated as those of real fixations."""
_FLOOR = 1e-9


@dataclass(frozen=True, eq=False)
class SaliencyMap:
    """Probability that a fixation falls into each cell of the image rectangle.

    `density` is (rows, columns), strictly positive, sums to 1, and is read-only; `source` says
    how it was made.
    """

    density: Floats
    source: str

    def __post_init__(self) -> None:
        density = np.array(self.density, dtype=np.float64)
        if density.ndim != 2 or not (np.isfinite(density).all() and (density > 0).all()):
            raise ModelError("a saliency map is a two-dimensional array of positive numbers")
        density /= density.sum()
        density.flags.writeable = False
        object.__setattr__(self, "density", density)


def centre_bias(
    shape: tuple[int, int] = GRID_SHAPE,
    *,
    centre: tuple[float, float] = (0.5, 0.5),
    sigma: tuple[float, float] = CENTRE_BIAS_SIGMA,
) -> SaliencyMap:
    """Return a Gaussian around `centre` (x, y).

    The default width is that of A. Clarke and B. Tatler, "Deriving an appropriate baseline for
    describing fixation behaviour", Vision Research 2014, for images of 3:2.
    """
    across = _bell(shape[1], centre[0], sigma[0])
    down = _bell(shape[0], centre[1], sigma[1])
    return SaliencyMap(
        down[:, None] * across + _FLOOR,
        f"centre bias, Gaussian σ {sigma[0]:.3g} × {sigma[1]:.3g} of the image",
    )


def empirical_density(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    bandwidth: float | None = None,
    shape: tuple[int, int] = GRID_SHAPE,
) -> SaliencyMap:
    """Return the kernel density of fixations at (`x`, `y`), bandwidths by Scott's rule.

    The bandwidth per axis is the fixations' standard deviation × n^(-1/6) (D. Scott,
    "Multivariate Density Estimation", 1992), n being the effective number under the weights. That
    is wide for fixations, which come in clusters: on real data a `bandwidth` of 0.025 of the
    image (0.8°) predicts other viewers by 0.9 bit per fixation better.

    Each kernel is cut at the image's edge and rescaled, so no fixation loses weight there.
    Fixations outside the image are skipped. `UNIFORM_SHARE` of the density is spread evenly.

    The fixations must not include those of a viewer to be identified.
    """
    if bandwidth is not None and bandwidth <= 0:
        raise ModelError(f"a bandwidth is a share of the image above 0, not {bandwidth:g}")
    x, y = np.asarray(x, np.float64).ravel(), np.asarray(y, np.float64).ravel()
    weight = np.ones(x.shape) if weights is None else np.asarray(weights, np.float64).ravel()
    if not len(x) == len(y) == len(weight):
        raise ModelError("fixations need as many x as y as weights")
    inside = (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1) & (weight > 0)
    x, y, weight = x[inside], y[inside], weight[inside]
    if not len(x):
        raise ModelError("no fixation lies inside the image, so it has no empirical density")
    weight = weight / weight.sum()
    n_effective = 1 / float((weight**2).sum())
    counts, _, _ = np.histogram2d(y, x, bins=shape, range=((0, 1), (0, 1)), weights=weight)
    width_y = bandwidth or _scott_bandwidth(y, weight, n_effective)
    width_x = bandwidth or _scott_bandwidth(x, weight, n_effective)
    down, across = _kernel_matrix(shape[0], width_y), _kernel_matrix(shape[1], width_x)
    density = down @ counts @ across.T
    return SaliencyMap(
        (1 - UNIFORM_SHARE) * density + UNIFORM_SHARE / density.size,
        f"kernel density of {len(x)} fixations, "
        + ("Scott's rule" if bandwidth is None else f"bandwidth {bandwidth:g} of the image"),
    )


def learned_centre_bias(
    x: npt.ArrayLike, y: npt.ArrayLike, shape: tuple[int, int] = GRID_SHAPE
) -> SaliencyMap:
    """Return the density of fixations on many other images, for an image without fixations.

    On real data it fits 0.08 bit per fixation better than the best Gaussian.
    """
    pooled = empirical_density(x, y, shape=shape)
    return SaliencyMap(pooled.density, f"learned centre bias, {pooled.source} on other images")


def image_saliency(
    image: Path | npt.NDArray[np.generic], shape: tuple[int, int] = GRID_SHAPE
) -> SaliencyMap:
    """Return a map computed from the image alone: Boolean map saliency times a centre bias.

    `image` is a file, or an array (rows, columns[, 3 or 4]) of bytes or of floats in 0 … 1. The
    attention map is blurred by `BLUR_SIGMA`, mixed with `UNIFORM_ATTENTION` of an even one,
    raised to `CONTRAST`, and multiplied with the centre bias; `source` records the mixture. It
    knows nothing of faces, text or meaning: fixations on the image, where there are any, are a
    far better guide.
    """
    attention = boolean_map_saliency(_small_rgb(image))
    n_rows, n_columns = attention.shape
    blurred = ndimage.gaussian_filter(attention, BLUR_SIGMA * n_columns, mode="nearest")
    zoomed = ndimage.zoom(blurred, (shape[0] / n_rows, shape[1] / n_columns), order=1)
    strength = np.maximum(zoomed, 0) / max(float(zoomed.mean()), 1e-12)
    evened = (1 - UNIFORM_ATTENTION) * strength + UNIFORM_ATTENTION
    bias = centre_bias(shape)
    return SaliencyMap(
        evened**CONTRAST * bias.density,
        f"Boolean map saliency ({UNIFORM_ATTENTION:g} even) ^ {CONTRAST:g} × {bias.source}",
    )


def generated_saliency(name: str, seed: int, shape: tuple[int, int] = GRID_SHAPE) -> SaliencyMap:
    """Return the map of an image that does not exist, always the same for `name` and `seed`.

    Several objects of differing size and weight, each a cluster of Gaussian parts, times a
    centre bias. The numbers are fitted to the fixations of 15 people on 500 real images: see
    `docs/stimuli-and-saliency.md`.
    """
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=16).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "little"))
    n_objects = 5 + int(rng.poisson(3.0))
    weight = rng.gamma(1.7, 1.0, n_objects) + 0.02
    size = 0.032 * np.exp(rng.normal(0, 0.3, n_objects))
    centre = rng.normal((0.5, 0.48), (0.29, 0.28), (n_objects, 2))
    n_parts = rng.integers(1, 4, n_objects)
    of_object = np.repeat(np.arange(n_objects), n_parts)
    around = size[of_object, None] * 0.95 * rng.normal(0, 1, (len(of_object), 2))
    part = centre[of_object] + around
    width = size[of_object, None] * np.exp(rng.normal(0, 0.25, (len(of_object), 2)))
    height = (weight / n_parts)[of_object] / (width[:, 0] * width[:, 1])
    across = _bell(shape[1], part[:, :1], width[:, :1])
    down = _bell(shape[0], part[:, 1:], width[:, 1:])
    bias = centre_bias(shape, centre=(0.5, 0.48), sigma=(0.55, 0.28)).density
    objects = (down * height[:, None]).T @ across * bias + _FLOOR
    return SaliencyMap(
        0.95 * objects / objects.sum() + 0.05 * bias, f"generated for {name!r}, seed {seed}"
    )


def _bell(n_cells: int, centre: float | Floats, sigma: float | Floats) -> Floats:
    """Return exp(-z²/2) at the cells' centres; broadcasts `centre` and `sigma` (parts, 1)."""
    position = (np.arange(n_cells) + 0.5) / n_cells
    z: Floats = (position - centre) / sigma
    return np.exp(-0.5 * z * z)


def _scott_bandwidth(position: Floats, weight: Floats, n_effective: float) -> float:
    """Return the bandwidth of one axis in image units; one place alone gets the narrowest."""
    mean = float(position @ weight)
    spread = float(np.sqrt(weight @ (position - mean) ** 2))
    return max(spread * float(n_effective ** (-1 / 6)), NARROWEST_BANDWIDTH)


def _kernel_matrix(n_cells: int, bandwidth: float) -> Floats:
    """Return the share of a kernel in each cell (rows) for a fixation in each cell (columns)."""
    edges = np.arange(n_cells + 1) / n_cells
    centres = (edges[:-1] + edges[1:]) / 2
    cumulative = special.ndtr((edges[:, None] - centres) / bandwidth)
    shares = np.diff(cumulative, axis=0)
    return np.asarray(shares / shares.sum(axis=0), np.float64)


def _small_rgb(image: Path | npt.NDArray[np.generic]) -> Floats:
    """Return the image as (rows, `WORKING_COLUMNS`, 3) floats in 0 … 1."""
    if isinstance(image, Path):
        try:
            with open_image(image) as opened:
                # a JPEG decodes many times faster at a fraction of its size
                opened.draft("RGB", (2 * WORKING_COLUMNS, 2 * WORKING_COLUMNS))
                picture = opened.convert("RGB")
        except FileNotFoundError as error:
            raise ModelError(f"{image}: no such image") from error
        except (OSError, SyntaxError, ValueError) as error:
            raise ModelError(f"{image}: not a readable image ({error})") from error
    else:
        if image.ndim not in (2, 3):
            raise ModelError(f"an image is (rows, columns[, 3 or 4]), not {image.shape}")
        scale = 255 if np.issubdtype(image.dtype, np.floating) else 1
        picture = Image.fromarray(np.clip(image * scale, 0, 255).astype(np.uint8)).convert("RGB")
    n_rows = max(2, round(picture.height * WORKING_COLUMNS / picture.width))
    small = picture.resize((WORKING_COLUMNS, n_rows), Image.Resampling.BOX)
    return np.asarray(small, np.float64) / 255
