"""From a scene to a picture: trace, smooth what is left of the noise, expose."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from scenery.bvh_kernels import build_tree
from scenery.light_kernels import Lamps, Sky
from scenery.materials import Colour, Kind, Palette, to_linear
from scenery.mesh import Mesh, merged, quad
from scenery.trace_kernels import Eye, World, trace_rows

Floats = npt.NDArray[np.float64]
Point = tuple[float, float, float]


def daylight(
    sun_azimuth_deg: float = 40.0,
    sun_height_deg: float = 40.0,
    *,
    sun: Colour = (1.0, 0.95, 0.85),
    sun_strength: float = 2.6,
    sun_radius_deg: float = 0.6,
    glow: float = 1.0,
    zenith: Colour = (0.22, 0.42, 0.78),
    horizon: Colour = (0.72, 0.82, 0.92),
    sky_strength: float = 1.0,
    ground: Colour = (0.4, 0.38, 0.34),
    cloud_light: Colour = (1.0, 1.0, 1.0),
    cloud_shade: Colour = (0.62, 0.66, 0.74),
    cloud_cover: float = 0.0,
    cloud_scale: float = 0.9,
    cloud_phase: float = 0.0,
    stars: float = 0.0,
    haze: float = 0.0,
    haze_height: float = 1e6,
    haze_colour: Colour | None = None,
) -> Sky:
    """Return a sky; azimuth 0 is straight ahead (y), 90 to the right, 180 behind the viewer."""
    azimuth, height = np.radians(sun_azimuth_deg), np.radians(sun_height_deg)
    towards = np.array(
        [np.sin(azimuth) * np.cos(height), np.cos(azimuth) * np.cos(height), np.sin(height)]
    )
    return Sky(
        sun=towards,
        sun_light=sun_strength * to_linear(sun),
        sun_radius=float(np.radians(sun_radius_deg)),
        glow=glow * to_linear(sun),
        zenith=sky_strength * to_linear(zenith),
        horizon=sky_strength * to_linear(horizon),
        ground=sky_strength * to_linear(ground),
        cloud_light=1.15 * sky_strength * to_linear(cloud_light),
        cloud_shade=sky_strength * to_linear(cloud_shade),
        cloud_cover=cloud_cover,
        cloud_scale=cloud_scale,
        cloud_phase=cloud_phase,
        stars=stars,
        haze=haze,
        haze_height=haze_height,
        haze_colour=sky_strength * to_linear(haze_colour or horizon),
    )


@dataclass
class Scene:
    """What is there, who looks at it from where, and in which light."""

    palette: Palette
    sky: Sky
    eye: Point
    look_at: Point
    angle_of_view_deg: float = 45.0
    """Vertical."""
    lens_radius: float = 0.0
    """Metres; what is not in focus at the distance of `look_at` is blurred by it."""
    exposure: float = 1.0
    n_bounces: int = 2
    n_samples: int = 4
    """Rays per pixel; a square."""
    meshes: list[Mesh] = field(default_factory=list)
    lamps: list[tuple[Point, Point, Point, Colour, float]] = field(default_factory=list)

    def add(self, *meshes: Mesh) -> None:
        """Put things into the scene."""
        self.meshes.extend(meshes)

    def add_lamp(
        self, corner: Point, edge_1: Point, edge_2: Point, colour: Colour, strength: float
    ) -> None:
        """Put in a parallelogram that shines to the side of `edge_1` × `edge_2`."""
        a, e1, e2 = np.array(corner, float), np.array(edge_1, float), np.array(edge_2, float)
        # `shine` marks a source that is sampled directly, so that it does not count twice
        panel = self.palette(colour, kind=Kind.GLOW, glow=strength, shine=1.0)
        self.add(quad([a, a + e1, a + e1 + e2, a + e2], panel))
        self.lamps.append((corner, edge_1, edge_2, colour, strength))


def _world(scene: Scene) -> World:
    mesh = merged(scene.meshes)
    materials = scene.palette.table()
    is_pane = (materials.kind == Kind.GLASS) | (
        (materials.kind == Kind.GLOW) & (materials.shine > 0)
    )
    tree = build_tree(mesh.vertices[mesh.faces], is_pane[mesh.materials])
    faces = mesh.faces[tree.order]
    lamps = scene.lamps
    return World(
        tree=tree,
        normals=np.ascontiguousarray(mesh.normals[faces]),
        material=np.ascontiguousarray(mesh.materials[tree.order]),
        materials=materials,
        sky=scene.sky,
        lamps=Lamps(
            np.array([lamp[0] for lamp in lamps], float).reshape(-1, 3),
            np.array([lamp[1] for lamp in lamps], float).reshape(-1, 3),
            np.array([lamp[2] for lamp in lamps], float).reshape(-1, 3),
            np.array([lamp[4] * to_linear(lamp[3]) for lamp in lamps], float).reshape(-1, 3),
        ),
    )


def _eye(scene: Scene) -> Eye:
    position, target = np.array(scene.eye, float), np.array(scene.look_at, float)
    forward = target - position
    distance = float(np.linalg.norm(forward))
    forward /= distance
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return Eye(
        position=position,
        right=right,
        up=np.cross(right, forward),
        forward=forward,
        half_height=float(np.tan(np.radians(scene.angle_of_view_deg) / 2)),
        lens_radius=scene.lens_radius,
        focus_distance=distance,
    )


def render(
    scene: Scene,
    width_px: int = 1500,
    height_px: int = 1000,
    *,
    n_samples: int | None = None,
    seed: int = 0,
    n_threads: int = 2,
    progress: Callable[[float], None] | None = None,
) -> npt.NDArray[np.uint8]:
    """Return the picture (rows, columns, 3); the same for the same arguments."""
    world, eye = _world(scene), _eye(scene)
    n_samples = scene.n_samples if n_samples is None else n_samples
    light = np.zeros((height_px, width_px, 3))
    surface = np.zeros((height_px, width_px, 7))
    bands = [(row, min(row + 10, height_px)) for row in range(0, height_px, 10)]

    def trace(band: tuple[int, int]) -> None:
        size = (height_px, width_px)
        trace_rows(world, eye, size, band, n_samples, scene.n_bounces, seed, light, surface)

    with ThreadPoolExecutor(n_threads) as pool:
        for n_done, _ in enumerate(pool.map(trace, bands), start=1):
            if progress is not None:
                progress(n_done / len(bands))
    return _exposed(_denoised(light, surface), scene.exposure)


def _denoised(light: Floats, surface: Floats, n_rounds: int = 4) -> Floats:
    """Return the light smoothed along surfaces but not across their edges.

    The edge-avoiding à-trous filter of Dammertz et al. 2010, on light divided by the surface's
    own colour, so that textures stay sharp. The sky has no noise and is left alone.
    """
    colour = np.maximum(surface[:, :, :3], 0.02)
    normal, distance = surface[:, :, 3:6], np.log(np.maximum(surface[:, :, 6], 1e-3))
    is_surface = surface[:, :, 6] < 1e5
    incident = _without_sparks(light / colour, is_surface)
    for step in 2 ** np.arange(n_rounds):
        total, weight_sum = np.zeros_like(incident), np.zeros((*incident.shape[:2], 1))
        # compared after a small blur, so that noise does not pass for an edge
        level = np.log(ndimage.uniform_filter(incident.mean(axis=2), 3) + 1e-2)
        for down in (-1, 0, 1):
            for across in (-1, 0, 1):
                shift = (down * step, across * step)
                tone = (level - _shifted(level, shift)) ** 2
                turn = ((normal - _shifted(normal, shift)) ** 2).sum(axis=2)
                depth = (distance - _shifted(distance, shift)) ** 2
                tint = ((colour - _shifted(colour, shift)) ** 2).sum(axis=2)
                weight = np.exp(
                    -(tone * step / 0.08 + turn / 0.05 + depth / 0.002 + tint / 0.02)
                ) * (0.5 ** (abs(down) + abs(across)))
                total += weight[:, :, None] * _shifted(incident, shift)
                weight_sum += weight[:, :, None]
        incident = total / weight_sum
    return np.where(is_surface[:, :, None], incident * colour, light)


def _without_sparks(light: Floats, is_surface: npt.NDArray[np.bool_]) -> Floats:
    """Return the light with no pixel on a surface brighter than its brightest neighbour."""
    level = light.mean(axis=2)
    around = [(down, across) for down in (-1, 0, 1) for across in (-1, 0, 1) if down or across]
    brightest = np.max([_shifted(level, shift) for shift in around], axis=0)
    factor = np.where(is_surface, np.minimum(1.0, brightest / np.maximum(level, 1e-9)), 1.0)
    return light * factor[:, :, None]


def _shifted(image: Floats, by: tuple[int, int]) -> Floats:
    """Return the image moved by whole pixels, its edge repeated."""
    rows = np.clip(np.arange(image.shape[0]) + by[0], 0, image.shape[0] - 1)
    columns = np.clip(np.arange(image.shape[1]) + by[1], 0, image.shape[1] - 1)
    return image[rows][:, columns]


def _exposed(light: Floats, exposure: float) -> npt.NDArray[np.uint8]:
    """Return linear light as sRGB bytes, highlights rolled off (Narkowicz' fit of ACES)."""
    x = 0.72 * exposure * light
    x = np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0, 1)
    srgb = np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
    return np.rint(255 * srgb).astype(np.uint8)
