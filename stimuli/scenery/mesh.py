"""Triangle meshes: the shapes that scenes are put together from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Mesh:
    """Triangles with a normal per corner.

    `vertices` and `normals` are (n, 3), `faces` (m, 3) indices into them, `materials` (m,).
    Normals of zero length mean flat shading.
    """

    vertices: Floats
    normals: Floats
    faces: Ints
    materials: Ints

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Mesh:
        """Return the mesh shifted by metres."""
        return replace(self, vertices=self.vertices + np.array([x, y, z]))

    def scaled(self, x: float, y: float | None = None, z: float | None = None) -> Mesh:
        """Return the mesh stretched per axis (evenly where only `x` is given)."""
        factor = np.array([x, x if y is None else y, x if z is None else z])
        return replace(self, vertices=self.vertices * factor, normals=_unit(self.normals / factor))

    def turned(self, degrees: float, axis: str = "z") -> Mesh:
        """Return the mesh rotated about an axis through the origin."""
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        rotation = np.eye(3)
        rotation[i, i] = rotation[j, j] = c
        rotation[i, j], rotation[j, i] = -s, s
        return replace(self, vertices=self.vertices @ rotation.T, normals=self.normals @ rotation.T)

    def displaced(self, by: Callable[[Floats], Floats]) -> Mesh:
        """Return the mesh with each vertex moved along its normal by `by(vertices)` metres."""
        vertices = self.vertices + self.normals * by(self.vertices)[:, None]
        return smooth(vertices, self.faces, self.materials)

    def painted(self, material: int) -> Mesh:
        """Return the mesh in one material."""
        return replace(self, materials=np.full(len(self.faces), material))


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)


def merged(meshes: Iterable[Mesh]) -> Mesh:
    """Return all meshes as one."""
    parts = list(meshes)
    starts = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    return Mesh(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate([part.materials for part in parts]),
    )


def flat(vertices: npt.ArrayLike, faces: npt.ArrayLike, material: int) -> Mesh:
    """Return a mesh with sharp edges."""
    vertices = np.asarray(vertices, float).reshape(-1, 3)
    faces = np.asarray(faces, np.int64).reshape(-1, 3)
    return Mesh(vertices, np.zeros_like(vertices), faces, np.full(len(faces), material))


def smooth(vertices: Floats, faces: Ints, material: int | Ints) -> Mesh:
    """Return a mesh whose normals are averaged over the triangles that meet at a vertex."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    of_face = np.cross(b - a, c - a)
    normals = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(normals, faces[:, k], of_face)
    materials = np.broadcast_to(np.asarray(material, np.int64), len(faces)).copy()
    return Mesh(vertices, _unit(normals), faces, materials)


def quad(corners: npt.ArrayLike, material: int) -> Mesh:
    """Return a flat quadrilateral from its four corners in order."""
    return flat(corners, [[0, 1, 2], [0, 2, 3]], material)


def box(
    size: tuple[float, float, float], material: int, at: tuple[float, float, float] = (0, 0, 0)
) -> Mesh:
    """Return a box that stands on the point `at`."""
    x, y, z = size
    corners = [
        (sx * x / 2, sy * y / 2, sz * z) for sz in (0, 1) for sy in (-1, 1) for sx in (-1, 1)
    ]
    faces = [
        [0, 2, 3],
        [0, 3, 1],
        [4, 5, 7],
        [4, 7, 6],
        [0, 1, 5],
        [0, 5, 4],
        [2, 6, 7],
        [2, 7, 3],
        [0, 4, 6],
        [0, 6, 2],
        [1, 3, 7],
        [1, 7, 5],
    ]
    return flat(corners, faces, material).moved(*at)


def _wrapped_grid(n_rows: int, n_columns: int, closed: bool) -> Ints:
    """Return the faces of a grid of vertices; a closed one joins its last column to its first."""
    row, column = np.meshgrid(
        np.arange(n_rows - 1), np.arange(n_columns if closed else n_columns - 1), indexing="ij"
    )
    row, column = row.ravel(), column.ravel()
    right = (column + 1) % n_columns
    a, b = row * n_columns + column, row * n_columns + right
    c, d = a + n_columns, b + n_columns
    return np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1)])


def revolved(profile: Sequence[tuple[float, float]], material: int, n_sides: int = 48) -> Mesh:
    """Return the surface that a profile of (radius, height) points sweeps around the z axis."""
    radius, height = np.array(profile, float).T
    angle = np.arange(n_sides) * 2 * np.pi / n_sides
    vertices = np.stack(
        [
            radius[:, None] * np.cos(angle),
            radius[:, None] * np.sin(angle),
            np.repeat(height[:, None], n_sides, 1),
        ],
        axis=2,
    )
    return smooth(vertices.reshape(-1, 3), _wrapped_grid(len(radius), n_sides, True), material)


def sphere(radius: float, material: int, n_sides: int = 40) -> Mesh:
    """Return a sphere around the origin."""
    tilt = np.linspace(-np.pi / 2, np.pi / 2, n_sides // 2 + 1)
    profile = [(max(1e-4, float(np.cos(t))) * radius, float(np.sin(t)) * radius) for t in tilt]
    return revolved(profile, material, n_sides)


def cylinder(radius: float, height: float, material: int, n_sides: int = 24) -> Mesh:
    """Return an upright cylinder with lids that stands on the origin."""
    side = revolved([(radius, 0), (radius, height)], material, n_sides)
    lids = [
        revolved(ring, material, n_sides)
        for ring in ([(1e-4, 0.0), (radius, 0.0)], [(radius, height), (1e-4, height)])
    ]
    return merged([side, *lids])


def tube(path: npt.ArrayLike, radii: npt.ArrayLike, material: int, n_sides: int = 7) -> Mesh:
    """Return a tube of changing radius along a path of points."""
    path, radii = np.asarray(path, float), np.asarray(radii, float)
    along = _unit(np.gradient(path, axis=0))
    reference = np.where(np.abs(along[:, 2:]) > 0.9, [[1.0, 0, 0]], [[0, 0, 1.0]])
    side = _unit(np.cross(along, reference))
    other = np.cross(side, along)
    angle = np.arange(n_sides) * 2 * np.pi / n_sides
    ring = np.cos(angle)[:, None] * side[:, None] + np.sin(angle)[:, None] * other[:, None]
    vertices = path[:, None] + radii[:, None, None] * ring
    return smooth(vertices.reshape(-1, 3), _wrapped_grid(len(path), n_sides, True), material)


def surface_grid(x: Floats, y: Floats, z: Floats, material: int, *, closed: bool = False) -> Mesh:
    """Return the smooth surface through a grid of points, each (rows, columns).

    A closed one joins its last column to its first.
    """
    vertices = np.stack(np.broadcast_arrays(x, y, z), axis=2).reshape(-1, 3)
    return smooth(vertices, _wrapped_grid(*np.shape(z), closed), material)


def scattered_triangles(corners: Floats, material: int | Ints) -> Mesh:
    """Return loose triangles from their corners, shape (n, 3 corners, 3)."""
    faces = np.arange(3 * len(corners)).reshape(-1, 3)
    materials = np.broadcast_to(np.asarray(material, np.int64), len(faces)).copy()
    vertices = corners.reshape(-1, 3)
    return Mesh(vertices, np.zeros_like(vertices), faces, materials)
