"""Do generated saliency maps look like those of real viewers? Measured on the OSIE fixations.

Each generated map stands for an image of OSIE: as many viewers as there look at it as often as
they did, their fixations drawn from the map, and both are measured alike. The first fixation of a
scanpath is left out: it is still drawn to the cross. The bandwidths of the empirical density are
compared as well.

    python docs/scripts/saliency_statistics.py ../shared/data/identity/osie_fixations.csv.gz
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from osie import Fixations, read_osie, relative_positions
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy import ndimage

from gazelive.gaze.arrays import Floats
from gazelive.stimuli.saliency import (
    GRID_SHAPE,
    centre_bias,
    empirical_density,
    generated_saliency,
    learned_centre_bias,
)

ONE_DEGREE = 0.03
"""One degree in widths of an OSIE image."""


@dataclass(frozen=True)
class Viewing:
    """All fixations on one image: who made them, and where (0 … 1)."""

    viewer: npt.NDArray[np.int64]
    x: Floats
    y: Floats

    def split(self, viewer: int) -> tuple[Viewing, Viewing]:
        """Return the fixations of `viewer` and those of the others."""
        own = self.viewer == viewer
        return tuple(Viewing(self.viewer[use], self.x[use], self.y[use]) for use in (own, ~own))  # type: ignore[return-value]

    def density(self, bandwidth: float | None = ONE_DEGREE) -> Floats:
        """Return the empirical density."""
        return empirical_density(self.x, self.y, bandwidth=bandwidth).density

    def cells(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return row and column of each fixation."""
        rows, columns = GRID_SHAPE
        return (
            np.minimum((self.y * rows).astype(np.intp), rows - 1),
            np.minimum((self.x * columns).astype(np.intp), columns - 1),
        )


def real_viewings(fixations: Fixations) -> list[Viewing]:
    """Return the viewings of all images, without each scanpath's first fixation."""
    x, y = relative_positions(fixations)
    viewings = []
    for image in range(fixations.n_images):
        use = (fixations.image == image) & ~fixations.is_first
        viewings.append(Viewing(fixations.viewer[use], x[use], y[use]))
    return viewings


def drawn_from(density: Floats, viewer: npt.NDArray[np.int64], rng: np.random.Generator) -> Viewing:
    """Return fixations drawn from a map, as many per viewer as `viewer` has."""
    rows, columns = density.shape
    cell = rng.choice(density.size, len(viewer), p=density.ravel())
    x = (cell % columns + rng.random(len(viewer))) / columns
    return Viewing(viewer, x, (cell // columns + rng.random(len(viewer))) / rows)


def entropy_bits(density: Floats) -> float:
    """Return the entropy of a map over its cells."""
    return float(-(density * np.log2(density)).sum())


def n_modes(density: Floats) -> int:
    """Return the number of peaks above the average, at least 4 cells apart."""
    peak = (density == ndimage.maximum_filter(density, size=9)) & (density * density.size > 1)
    return int(np.count_nonzero(peak))


def predicted(viewings: list[Viewing], bandwidth: float | None, baseline: Floats) -> Floats:
    """Return how well the others' density predicts each left-out viewer, (images, 2).

    Normalised scanpath saliency, and bits per fixation gained over `baseline`.
    """
    scores = []
    for viewing in viewings:
        of_image = []
        for viewer in np.unique(viewing.viewer):
            own, others = viewing.split(viewer)
            density = others.density(bandwidth)
            cells = own.cells()
            nss = (density[cells].mean() - density.mean()) / density.std()
            of_image.append((nss, np.log2(density[cells] / baseline[cells]).mean()))
        scores.append(np.mean(of_image, axis=0))
    return np.array(scores)


def measured(viewings: list[Viewing]) -> dict[str, Floats]:
    """Return every statistic, one value per image."""
    pooled = [np.concatenate([getattr(v, axis) for v in viewings]) for axis in "xy"]
    prediction = predicted(viewings, ONE_DEGREE, learned_centre_bias(*pooled).density)
    wide = [viewing.density(None) for viewing in viewings]
    fine = [viewing.density() for viewing in viewings]
    return {
        "entropy, Scott's bandwidth (bits)": np.array([entropy_bits(d) for d in wide]),
        "entropy, 1° bandwidth (bits)": np.array([entropy_bits(d) for d in fine]),
        "modes, Scott's bandwidth": np.array([n_modes(d) for d in wide]),
        "modes, 1° bandwidth": np.array([n_modes(d) for d in fine]),
        "peak over average, 1° bandwidth": np.array([d.max() * d.size for d in fine]),
        "left-out viewer: NSS": prediction[:, 0],
        "left-out viewer: gain over centre bias (bits)": prediction[:, 1],
        "spread in x (widths)": np.array([v.x.std() for v in viewings]),
        "spread in y (heights)": np.array([v.y.std() for v in viewings]),
        "mean x": np.array([v.x.mean() for v in viewings]),
        "mean y": np.array([v.y.mean() for v in viewings]),
    }


def bandwidths_table(viewings: list[Viewing]) -> Table:
    """Return what the bandwidth is worth on every fourth image."""
    pooled = [np.concatenate([getattr(v, axis) for v in viewings]) for axis in "xy"]
    bias = learned_centre_bias(*pooled).density
    gaussian = centre_bias(
        centre=(pooled[0].mean(), pooled[1].mean()), sigma=(pooled[0].std(), pooled[1].std())
    ).density
    table = Table("density of the other viewers", "bits per fixation over the learned centre bias")
    for bandwidth in (None, 0.015, 0.02, 0.025, 0.03, 0.04, 0.06):
        gain = predicted(viewings[::4], bandwidth, bias)[:, 1].mean()
        table.add_row("Scott's rule" if bandwidth is None else f"{bandwidth:g}", f"{gain:.2f}")
    cells = Viewing(np.zeros(len(pooled[0]), np.int64), *pooled).cells()
    table.add_row("Gaussian centre bias", f"{np.log2(gaussian[cells] / bias[cells]).mean():.2f}")
    return table


def main() -> None:
    """Print both tables."""
    console = Console(width=110)
    viewings = real_viewings(read_osie(Path(sys.argv[1])))
    rng = np.random.default_rng(0)
    made = [
        drawn_from(generated_saliency(f"pool-{k:03d}", 0).density, viewing.viewer, rng)
        for k, viewing in enumerate(track(viewings, "drawing", console=console))
    ]
    real, generated = measured(viewings), measured(made)
    table = Table("per image", "OSIE, mean ± sd", "generated, mean ± sd", "difference / sd")
    for name, values in real.items():
        other = generated[name]
        shift = (other.mean() - values.mean()) / values.std()
        table.add_row(
            name,
            f"{values.mean():.3f} ± {values.std():.3f}",
            f"{other.mean():.3f} ± {other.std():.3f}",
            f"{shift:+.2f}",
        )
    console.print(table)
    console.print(bandwidths_table(viewings))


if __name__ == "__main__":
    main()
