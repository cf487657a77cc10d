"""Saliency for scoring a viewing, and the fixations that it is made of.

In this order: the density of *other* viewers' fixations on the image, where there are any; the
centre bias learned from all other images; that times what can be computed from the image, when
its file is given. What was chosen stands in `SaliencyMap.source`.

The bank keeps cells, not maps: 42,000 fixations (32 viewers × 53 images × 25) take 250 kB, and any
viewers' density is the density of all fixations on the image but theirs.

Whom to leave out is for the caller to say. A viewing that trains leaves its own viewer out. A
probe may be anybody who is enrolled, so it leaves out all of them: to leave out only the viewer
who is being tested as a candidate would score every other candidate with a map that knows where
the probe has looked before.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelError
from gazelive.gaze import Floats, Integers
from gazelive.models.scenewalk.equations import ImageGrid
from gazelive.models.scenewalk.viewing import Viewing
from gazelive.models.storage import StoredArrays, stored_number
from gazelive.stimuli import (
    GRID_SHAPE,
    SaliencyMap,
    centre_bias,
    empirical_density,
    image_saliency,
    learned_centre_bias,
)

Indices = npt.NDArray[np.uint32]
Cells = npt.NDArray[np.uint16]

PRIOR_FIXATIONS = 3.0
"""Weight of the centre bias in the density of an image, in fixations: on real data it is worth 0.3
bit per fixation when one other viewer has seen the image, and costs 0.01 when fourteen have."""
HELD_MAPS = 512
"""Maps that are held for the next who asks."""
_MapKey = tuple[int | None, tuple[int, int]]


@dataclass(frozen=True)
class ImageFixations:
    """Fixations of one viewer on one image. The bank leaves out the first one."""

    viewer: str
    image: str
    x_deg: Floats
    y_deg: Floats
    grid: ImageGrid
    """The image's place; any number of cells."""


@dataclass(frozen=True, eq=False)
class SaliencyBank:
    """Fixations of known viewers on known images, by cell of the image."""

    viewers: tuple[str, ...]
    images: tuple[str, ...]
    viewer_of: Indices
    image_of: Indices
    cell_of: Cells
    """Per fixation: positions in `viewers` and `images`, row · columns + column of `GRID_SHAPE`."""
    bandwidth: float | None = None
    """Kernel width in image units; Scott's rule if none."""
    _maps: dict[_MapKey, SaliencyMap] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, viewings: Iterable[ImageFixations], *, bandwidth: float | None = None
    ) -> SaliencyBank:
        """Return the bank of viewings; fixations outside the image are not kept."""
        viewers: dict[str, int] = {}
        images: dict[str, int] = {}
        parts: list[tuple[int, int, Cells]] = []
        for seen in viewings:
            viewer = viewers.setdefault(seen.viewer, len(viewers))
            image = images.setdefault(seen.image, len(images))
            parts.append((viewer, image, _cells(seen)))
        lengths = [len(cells) for _, _, cells in parts]
        return cls(
            tuple(viewers),
            tuple(images),
            np.repeat(np.array([viewer for viewer, _, _ in parts], np.uint32), lengths),
            np.repeat(np.array([image for _, image, _ in parts], np.uint32), lengths),
            np.concatenate([np.empty(0, np.uint16), *(cells for _, _, cells in parts)]),
            bandwidth,
        )

    def choose(
        self,
        image: str | None,
        *,
        without: Collection[str],
        shape: tuple[int, int] = GRID_SHAPE,
        stimulus: Path | None = None,
    ) -> SaliencyMap:
        """Return the saliency of an image without the fixations of some viewers on it.

        `stimulus` is the image's file, used only if no other viewer has looked at the image.
        """
        chosen = self._fixations_on(image)
        left_out = [i for i, viewer in enumerate(self.viewers) if viewer in without]
        others = chosen[~np.isin(self.viewer_of[chosen], left_out)]
        bias = self.learned_bias(image, shape)
        if not len(others):
            return bias if stimulus is None else self._with_stimulus(bias, stimulus, shape)
        x, y = _shares(self.cell_of[others])
        density = empirical_density(x, y, bandwidth=self.bandwidth, shape=shape)
        n_viewers = len(np.unique(self.viewer_of[others]))
        mixed = len(others) * density.density + PRIOR_FIXATIONS * bias.density
        return SaliencyMap(
            mixed,
            f"{density.source}, of {n_viewers} other viewer{'s' if n_viewers > 1 else ''} of the "
            f"image, with the weight of {PRIOR_FIXATIONS:g} more on the centre bias",
        )

    def learned_bias(
        self, image: str | None = None, shape: tuple[int, int] = GRID_SHAPE
    ) -> SaliencyMap:
        """Return the density of all viewers' fixations on all images but one."""
        position = self._position_of.get(image) if image is not None else None
        key = position, shape
        if key not in self._maps:
            kept = self.cell_of if position is None else self.cell_of[self.image_of != position]
            self._hold(
                key, learned_centre_bias(*_shares(kept), shape) if len(kept) else centre_bias(shape)
            )
        return self._maps[key]

    def viewing(
        self,
        image: str | None,
        x_deg: npt.ArrayLike,
        y_deg: npt.ArrayLike,
        duration_s: npt.ArrayLike,
        grid: ImageGrid,
        *,
        without: Collection[str],
        stimulus: Path | None = None,
    ) -> Viewing:
        """Return fixations together with the saliency that is chosen for them."""
        saliency = self.choose(image, without=without, shape=grid.shape, stimulus=stimulus)
        return Viewing(
            np.asarray(x_deg, np.float64),
            np.asarray(y_deg, np.float64),
            np.asarray(duration_s, np.float64),
            saliency.density,
            grid,
            saliency.source,
        )

    def joined(self, other: SaliencyBank) -> SaliencyBank:
        """Return the bank with the fixations of another besides; the same names are the same."""
        viewers = tuple(dict.fromkeys(self.viewers + other.viewers))
        images = tuple(dict.fromkeys(self.images + other.images))
        viewer_codes = np.array([viewers.index(name) for name in other.viewers], np.uint32)
        image_codes = {name: i for i, name in enumerate(images)}
        image_of = np.array([image_codes[name] for name in other.images], np.uint32)[other.image_of]
        return SaliencyBank(
            viewers,
            images,
            np.concatenate((self.viewer_of, viewer_codes[other.viewer_of])),
            np.concatenate((self.image_of, image_of)),
            np.concatenate((self.cell_of, other.cell_of)),
            self.bandwidth,
        )

    def forget(self, viewer: str) -> SaliencyBank:
        """Return the bank without a viewer and all their fixations."""
        if viewer not in self.viewers:
            return self
        position = self.viewers.index(viewer)
        kept = self.viewer_of != position
        viewer_of = self.viewer_of[kept]
        return SaliencyBank(
            self.viewers[:position] + self.viewers[position + 1 :],
            self.images,
            viewer_of - (viewer_of > position).astype(np.uint32),
            self.image_of[kept],
            self.cell_of[kept],
            self.bandwidth,
        )

    def to_arrays(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return what a file must keep: arrays, and what JSON can hold."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "saliency_viewer": self.viewer_of.astype(_smallest(len(self.viewers))),
            "saliency_image": self.image_of.astype(_smallest(len(self.images))),
            "saliency_cell": self.cell_of,
        }
        manifest = {
            "viewers": list(self.viewers),
            "images": list(self.images),
            "grid": list(GRID_SHAPE),
            "bandwidth": self.bandwidth,
        }
        return arrays, {"saliency": manifest}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, manifest: Mapping[str, Any]) -> SaliencyBank:
        """Return the bank that was kept."""
        kept = manifest.get("saliency")
        if kept is None or list(kept["grid"]) != list(GRID_SHAPE):
            raise ModelError(f"a saliency bank counts fixations in {GRID_SHAPE} cells")
        viewers, images = (msgspec.convert(kept[n], tuple[str, ...]) for n in ("viewers", "images"))

        def positions(name: str, n: int) -> npt.NDArray[Any]:
            return arrays.take(name, "fixations", least=0, most=n - 1, whole=True)

        return cls(
            viewers,
            images,
            positions("saliency_viewer", len(viewers)).astype(np.uint32),
            positions("saliency_image", len(images)).astype(np.uint32),
            positions("saliency_cell", math.prod(GRID_SHAPE)).astype(np.uint16),
            None if kept["bandwidth"] is None else stored_number(kept, "bandwidth", 1e-3, 1e3),
        )

    @cached_property
    def _position_of(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.images)}

    @cached_property
    def _by_image(self) -> list[Integers]:
        """Positions of the fixations on each image."""
        order = np.argsort(self.image_of, kind="stable")
        ends = np.cumsum(np.bincount(self.image_of, minlength=len(self.images)))
        return np.split(order, ends[:-1])

    def _fixations_on(self, image: str | None) -> Integers:
        position = self._position_of.get(image) if image is not None else None
        return np.empty(0, np.int64) if position is None else self._by_image[position]

    def _hold(self, key: _MapKey, made: SaliencyMap) -> None:
        if len(self._maps) >= HELD_MAPS:
            self._maps.clear()
        self._maps[key] = made

    def _with_stimulus(
        self, bias: SaliencyMap, stimulus: Path, shape: tuple[int, int]
    ) -> SaliencyMap:
        """Return the image's own saliency with the learned bias in the place of a Gaussian one."""
        computed = _image_saliency(stimulus, shape)
        return SaliencyMap(
            computed.density / centre_bias(shape).density * bias.density,
            f"Boolean map saliency of {stimulus.name} × {bias.source}",
        )


@lru_cache(HELD_MAPS)
def _image_saliency(stimulus: Path, shape: tuple[int, int]) -> SaliencyMap:
    """Compute an image's saliency once, however many banks ask for it."""
    return image_saliency(stimulus, shape)


def _cells(seen: ImageFixations) -> Cells:
    """Return the cells of all fixations inside the image but the first, which is given."""
    x = _share(np.asarray(seen.x_deg, np.float64)[1:], seen.grid.x_edges_deg)
    y = _share(np.asarray(seen.y_deg, np.float64)[1:], seen.grid.y_edges_deg)
    inside = (x >= 0) & (x < 1) & (y >= 0) & (y < 1)
    n_rows, n_columns = GRID_SHAPE
    rows = (y[inside] * n_rows).astype(np.uint16)
    columns = (x[inside] * n_columns).astype(np.uint16)
    return np.asarray(rows * np.uint16(n_columns) + columns, np.uint16)


def _share(position_deg: Floats, edges_deg: Floats) -> Floats:
    """Return positions as shares of the image from 0 to 1; NaN outside."""
    shares = np.linspace(0, 1, len(edges_deg))
    return np.asarray(np.interp(position_deg, edges_deg, shares, np.nan, np.nan), np.float64)


def _shares(cells: Cells) -> tuple[Floats, Floats]:
    """Return x and y of the middles of cells, as shares of the image."""
    n_rows, n_columns = GRID_SHAPE
    rows, columns = np.divmod(cells.astype(np.int64), n_columns)
    return (columns + 0.5) / n_columns, (rows + 0.5) / n_rows


def _smallest(n: int) -> type[np.unsignedinteger[Any]]:
    return np.uint16 if n <= np.iinfo(np.uint16).max else np.uint32
