"""SceneWalk: a map of attention and a map of inhibition choose the next fixation.

R. Engbert, H. Trukenbrod, S. Barthelmé, F. Wichmann, "Spatial statistics and attentional dynamics
in scene viewing", Journal of Vision 2015, in the form of Makowski et al. 2020, Section 3.3, with
its misprints corrected: the window is exp(−…), F is normalised by its own window, a negative
potential is 0. Durations are in seconds, positions in degrees; the first fixation is given.
"""

from __future__ import annotations

import threading

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelError
from gazelive.gaze import Floats, Geometry, Integers
from gazelive.models.scenewalk import value_kernels as kernels

_CACHE_LINE_CELLS = 8
_of_thread = threading.local()


class SceneWalkParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The eight parameters in the paper's order: ω_A, ω_F, σ_A, σ_F, γ, λ, c_F, ζ."""

    attention_rate_hz: float
    """ω_A: how fast attention follows the gaze."""
    inhibition_rate_hz: float
    """ω_F: how fast inhibition builds up and decays."""
    attention_sigma_deg: float
    inhibition_sigma_deg: float
    inhibition_exponent: float
    """γ"""
    attention_exponent: float
    """λ"""
    inhibition_strength: float
    """c_F"""
    uniform_share: float
    """ζ: probability of a fixation anywhere."""

    def __post_init__(self) -> None:
        values = self.to_array()
        if not np.isfinite(values).all() or (values < 0).any() or self.uniform_share > 1:
            raise ModelError("SceneWalk's parameters are positive numbers, uniform_share at most 1")
        if not self.attention_sigma_deg > 0 or not self.inhibition_sigma_deg > 0:
            raise ModelError("SceneWalk's windows need a width above 0°")

    def to_array(self) -> Floats:
        """Return the eight numbers in order, as the kernels take them."""
        return np.array(msgspec.structs.astuple(self), np.float64)

    @classmethod
    def from_array(cls, values: npt.ArrayLike) -> SceneWalkParameters:
        """Return the parameters with the eight numbers in order."""
        numbers = np.asarray(values, np.float64).tolist()
        return cls(**dict(zip(cls.__struct_fields__, numbers, strict=True)))


class ImageGrid:
    """The cells of an image on the screen, in degrees as the eye sees them.

    Cells are equal in pixels; by the tangent they get slightly smaller in degrees towards the
    edge. `x_edges_deg` has one more entry than there are columns, `y_edges_deg` than rows.
    """

    def __init__(self, x_edges_deg: npt.ArrayLike, y_edges_deg: npt.ArrayLike) -> None:
        self.x_edges_deg = np.asarray(x_edges_deg, np.float64)
        self.y_edges_deg = np.asarray(y_edges_deg, np.float64)
        for edges in (self.x_edges_deg, self.y_edges_deg):
            if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
                raise ModelError("the edges of an image grid must grow")
        self.x_deg = (self.x_edges_deg[:-1] + self.x_edges_deg[1:]) / 2
        self.y_deg = (self.y_edges_deg[:-1] + self.y_edges_deg[1:]) / 2

    @classmethod
    def on_screen(
        cls,
        geometry: Geometry,
        *,
        left_px: float,
        top_px: float,
        width_px: float,
        height_px: float,
        shape: tuple[int, int],
    ) -> ImageGrid:
        """Return the grid of (rows, columns) cells over a rectangle of the screen.

        `left_px`, `top_px` is the first pixel; its edge lies half a pixel before its centre.
        """
        x_px = left_px - 0.5 + width_px * np.arange(shape[1] + 1) / shape[1]
        y_px = top_px - 0.5 + height_px * np.arange(shape[0] + 1) / shape[0]
        x_deg, _ = geometry.px_to_deg(x_px, np.zeros_like(x_px))
        _, y_deg = geometry.px_to_deg(np.zeros_like(y_px), y_px)
        return cls(x_deg, y_deg)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.y_deg), len(self.x_deg)

    def cells(self, x_deg: npt.ArrayLike, y_deg: npt.ArrayLike) -> tuple[Integers, Integers]:
        """Return row and column of each position; outside counts to the nearest cell."""
        columns = np.searchsorted(self.x_edges_deg, x_deg, side="right") - 1
        rows = np.searchsorted(self.y_edges_deg, y_deg, side="right") - 1
        n_rows, n_columns = self.shape
        return np.clip(rows, 0, n_rows - 1), np.clip(columns, 0, n_columns - 1)

    def cell(self, x_deg: float, y_deg: float) -> tuple[int, int]:
        """Return row and column of one position, as `cells` does."""
        column = int(self.x_edges_deg.searchsorted(x_deg, side="right")) - 1
        row = int(self.y_edges_deg.searchsorted(y_deg, side="right")) - 1
        n_rows, n_columns = self.shape
        return min(max(row, 0), n_rows - 1), min(max(column, 0), n_columns - 1)


class SceneWalk:
    """One viewing of one image: advance it through the fixations, ask where the next one falls."""

    def __init__(self, parameters: SceneWalkParameters, saliency: Floats, grid: ImageGrid) -> None:
        self.grid = grid
        self._parameters = parameters.to_array()
        self._maps = new_maps(kernels.N_MAPS, grid.shape)
        self._maps[kernels.SALIENCY][:] = checked_saliency(saliency, grid)
        self._sums = np.empty(kernels.N_SUMS)
        kernels.begin(self._maps, self._sums)

    def advance(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Let the maps evolve through a fixation."""
        kernels.advance(
            self._maps,
            self._sums,
            self.grid.x_deg,
            self.grid.y_deg,
            x_deg,
            y_deg,
            duration_s,
            self._parameters,
        )

    def next_probabilities(self) -> Floats:
        """Return the probability of each cell (rows, columns) to be fixated next; sums to 1."""
        probabilities = np.empty(self.grid.shape)
        kernels.next_probabilities(self._maps, self._sums, self._parameters, probabilities)
        return probabilities

    def next_log_probability(self, x_deg: float, y_deg: float) -> float:
        """Return ln p of the cell around a position to be fixated next."""
        row, column = self.grid.cell(x_deg, y_deg)
        return kernels.log_probability(self._maps, self._sums, row, column, self._parameters)

    def sample_next(self, rng: np.random.Generator) -> tuple[float, float]:
        """Draw the next fixation's position in degrees, spread evenly within its cell."""
        return sample_position(self.next_probabilities(), self.grid, rng)


def sample_position(
    weights: Floats, grid: ImageGrid, rng: np.random.Generator
) -> tuple[float, float]:
    """Draw a position in degrees, with the given weight of each cell and evenly within it."""
    fraction, x_share, y_share = rng.random(3).tolist()
    row, column = kernels.cell_at(weights, fraction)
    x_low, x_high = grid.x_edges_deg[column : column + 2].tolist()
    y_low, y_high = grid.y_edges_deg[row : row + 2].tolist()
    return x_low + x_share * (x_high - x_low), y_low + y_share * (y_high - y_low)


def log_likelihood(
    parameters: SceneWalkParameters,
    saliency: Floats,
    grid: ImageGrid,
    x_deg: npt.ArrayLike,
    y_deg: npt.ArrayLike,
    durations_s: npt.ArrayLike,
) -> float:
    """Return the natural-log likelihood of a scanpath's fixations after the first.

    The last duration is not used: nothing follows it.
    """
    x, y = np.asarray(x_deg, np.float64), np.asarray(y_deg, np.float64)
    rows, columns = grid.cells(x, y)
    maps, sums = workspace(kernels.N_MAPS, kernels.N_SUMS, grid.shape)
    maps[kernels.SALIENCY][:] = checked_saliency(saliency, grid)
    return kernels.scanpath_log_likelihood(
        maps,
        sums,
        grid.x_deg,
        grid.y_deg,
        x,
        y,
        np.asarray(durations_s, np.float64),
        rows,
        columns,
        parameters.to_array(),
    )


def checked_saliency(saliency: Floats, grid: ImageGrid) -> Floats:
    """Return the saliency, if it fits the grid and a window anywhere can see some of it."""
    if saliency.shape != grid.shape:
        raise ModelError(f"a saliency of {saliency.shape} cells on a grid of {grid.shape}")
    if not (saliency.min() > 0 and saliency.max() < np.inf):
        raise ModelError("a saliency has finite numbers above 0 in all cells")
    return saliency


def new_maps(n_maps: int, shape: tuple[int, int]) -> tuple[Floats, ...]:
    """Return maps that begin at the processor's cache lines: vector instructions like that."""
    n_cells = shape[0] * shape[1]
    per_map = -(-n_cells // _CACHE_LINE_CELLS) * _CACHE_LINE_CELLS
    block = np.empty(n_maps * per_map + _CACHE_LINE_CELLS)
    start = -(block.ctypes.data // block.itemsize) % _CACHE_LINE_CELLS
    return tuple(
        block[begin : begin + n_cells].reshape(shape)
        for begin in range(start, start + n_maps * per_map, per_map)
    )


def workspace(
    n_maps: int, n_sums: int, shape: tuple[int, int]
) -> tuple[tuple[Floats, ...], Floats]:
    """Return maps and sums that the calling thread may use until it asks again.

    Fresh memory of this size costs more than a tenth of a scanpath's likelihood.
    """
    held: dict[tuple[int, tuple[int, int]], tuple[tuple[Floats, ...], Floats]] = (
        _of_thread.__dict__.setdefault("workspaces", {})
    )
    if (n_maps, shape) not in held:
        for other in [key for key in held if key[0] == n_maps]:
            del held[other]
        held[n_maps, shape] = new_maps(n_maps, shape), np.empty(n_sums)
    return held[n_maps, shape]
