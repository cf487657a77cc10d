"""Trees, bushes, grass and flowers, grown from a seed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scenery.materials import Colour, Kind, Palette, Texture
from scenery.mesh import Mesh, merged, revolved, scattered_triangles, sphere, tube

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator


def _random_directions(rng: Rng, n: int) -> Floats:
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def leaves(rng: Rng, centres: Floats, size: float, materials: list[int]) -> Mesh:
    """Return a small rhombus at each of `centres` (n, 3), turned at random, mostly facing up."""
    n = len(centres)
    along = _random_directions(rng, n)
    facing = _random_directions(rng, n) + np.array([0, 0, 0.8])
    across = np.cross(along, facing)
    across /= np.linalg.norm(across, axis=1, keepdims=True) + 1e-9
    length = size * rng.uniform(0.7, 1.3, (n, 1))
    tip, tail = centres + along * length, centres - along * length
    left, right = centres + 0.55 * across * length, centres - 0.55 * across * length
    corners = np.concatenate([np.stack([tail, left, tip], 1), np.stack([tail, tip, right], 1)])
    which = rng.integers(0, len(materials), n)
    return scattered_triangles(corners, np.tile(np.array(materials)[which], 2))


def leaf_colours(palette: Palette, colours: list[Colour]) -> list[int]:
    """Return leaf materials of these colours."""
    return [palette(colour, kind=Kind.LEAF) for colour in colours]


def bark(palette: Palette, colour: Colour = (0.35, 0.26, 0.2)) -> int:
    """Return a rough trunk material."""
    darker = (0.55 * colour[0], 0.55 * colour[1], 0.55 * colour[2])
    return palette(colour, darker, texture=Texture.MOTTLED, scale=0.15, bump=0.5)


def broadleaf_tree(
    rng: Rng,
    height: float,
    trunk: int,
    foliage: list[int],
    *,
    n_leaves: int = 6000,
    leaf_size: float | None = None,
    spread: float = 38.0,
    bare: float = 0.28,
) -> Mesh:
    """Return a tree by recursive branching; `spread` is the branching angle in degrees.

    `bare` is the share of the height below the first branch.
    """
    branches: list[Mesh] = []
    tips: list[Floats] = []

    def grow(start: Floats, direction: Floats, length: float, radius: float, level: int) -> None:
        n_points = 6
        steps = direction * length / n_points + rng.normal(0, 0.035 * length, (n_points, 3))
        path = np.vstack([start, start + np.cumsum(steps, axis=0)])
        branches.append(
            tube(path, np.linspace(radius, 0.62 * radius, n_points + 1), trunk, 8 - 2 * level)
        )
        if level >= 1:
            tips.append(path[2:])
        if level == 3:
            return
        n_children = int(rng.integers(4, 7)) if level == 0 else int(rng.integers(3, 5))
        turn = rng.uniform(0, 2 * np.pi)
        for child in range(n_children):
            turn += 2.4 + rng.normal(0, 0.3)
            tilt = np.radians(spread * rng.uniform(0.6, 1.3))
            side = np.array([np.cos(turn), np.sin(turn), 0.15])
            heading = np.cos(tilt) * direction + np.sin(tilt) * side
            heading /= np.linalg.norm(heading)
            share = rng.uniform(0.7, 1.0) if child else 1.0
            origin = path[round(share * n_points)]
            grow(origin, heading, length * rng.uniform(0.58, 0.78), 0.58 * radius, level + 1)

    grow(np.zeros(3), np.array([0, 0, 1.0]), height * (bare + 0.12), 0.03 * height, 0)
    parts = [*branches]
    if foliage and n_leaves:
        anchor = np.concatenate(tips)
        size = leaf_size or 0.014 * height
        centres = anchor[rng.integers(0, len(anchor), n_leaves)]
        parts.append(
            leaves(rng, centres + rng.normal(0, 0.05 * height, (n_leaves, 3)), size, foliage)
        )
    tree = merged(parts)
    return tree.scaled(height / float(tree.vertices[:, 2].max()))


def conifer(
    rng: Rng, height: float, trunk: int, needles: list[int], *, n_whorls: int = 16, detail: int = 10
) -> Mesh:
    """Return a fir: whorls of drooping boughs, each a fan of narrow triangles."""
    corners = []
    for whorl in np.linspace(0.1, 1.0, n_whorls):
        reach = 0.23 * height * (1.04 - whorl) ** 0.85 * rng.uniform(0.9, 1.1)
        n_boughs = max(4, round(11 * (1.15 - whorl)))
        for turn in np.arange(n_boughs) * 2 * np.pi / n_boughs + rng.uniform(0, 6):
            heading = turn + rng.normal(0, 0.12)
            out = np.array([np.cos(heading), np.sin(heading), 0.0])
            side = np.array([-out[1], out[0], 0.0])
            length = reach * rng.uniform(0.8, 1.15)
            base = np.array([0, 0, whorl * height])
            at = rng.uniform(0.05, 1, detail)[:, None]
            droop = -0.28 * length * at**1.4
            start = base + out * length * at * 0.75 + droop * np.array([0, 0, 1.0])
            swing = rng.uniform(-0.6, 0.6, (detail, 1))
            direction = out * np.cos(swing) + side * np.sin(swing) + np.array([0, 0, -0.25])
            needle = 0.42 * length * (1.25 - at)
            width = 0.13 * length * (1.2 - at) * (side + rng.normal(0, 0.3, (detail, 3)))
            corners.append(
                np.stack([start - width, start + width, start + direction * needle], axis=1)
            )
    triangles = np.concatenate(corners)
    materials = np.array(needles)[rng.integers(0, len(needles), len(triangles))]
    stem = revolved([(0.018 * height, 0), (0.004 * height, height)], trunk, 7)
    return merged([stem, scattered_triangles(triangles, materials)])


def bush(rng: Rng, radius: float, foliage: list[int], n_leaves: int = 900) -> Mesh:
    """Return a round bush that stands on the origin."""
    shell = _random_directions(rng, n_leaves) * rng.uniform(0.7, 1.0, (n_leaves, 1)) ** 0.5
    shell *= radius * (1 + 0.25 * np.sin(3 * shell[:, :1] + 2 * shell[:, 1:2]))
    shell[:, 2] = np.abs(shell[:, 2]) * 0.9
    return leaves(rng, shell, 0.12 * radius, foliage)


def grass(rng: Rng, places: Floats, height: float, materials: list[int]) -> Mesh:
    """Return a blade at each of `places` (n, 3)."""
    n = len(places)
    turn = rng.uniform(0, 2 * np.pi, n)
    side = np.stack([np.cos(turn), np.sin(turn), np.zeros(n)], axis=1)
    tall = height * rng.uniform(0.5, 1.3, (n, 1))
    lean = rng.normal(0, 0.35, (n, 2))
    tip = places + np.column_stack([lean, np.ones(n)]) * tall
    width = 0.035 * tall * side
    corners = np.stack([places - width, places + width, tip], axis=1)
    return scattered_triangles(corners, np.array(materials)[rng.integers(0, len(materials), n)])


def flowers(
    rng: Rng, places: Floats, height: float, size: float, petals: list[int], heart: int, stem: int
) -> Mesh:
    """Return a flower with six petals at each of `places` (n, 3)."""
    n = len(places)
    top = places + np.column_stack(
        [rng.normal(0, 0.12, (n, 2)) * height, height * rng.uniform(0.7, 1.2, n)]
    )
    facing = np.column_stack([rng.normal(0, 0.35, (n, 2)) - [0, 0.35], np.ones(n)])
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    u = np.cross(facing, [0.0, 1.0, 0.0])
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(facing, u)
    width = size * rng.uniform(0.75, 1.25, (n, 1))
    corners, materials = [], []
    which = np.array(petals)[rng.integers(0, len(petals), n)]
    for k in range(6):
        a = k * np.pi / 3
        tips = [
            top + width * (np.cos(b) * u + np.sin(b) * v) + 0.3 * width * facing
            for b in (a - 0.5, a + 0.5)
        ]
        corners.append(np.stack([top, *tips], axis=1))
        materials.append(which)
    for k in range(3):
        a = k * 2 * np.pi / 3
        ring = [
            top + 0.3 * width * (np.cos(b) * u + np.sin(b) * v) + 0.2 * width * facing
            for b in (a, a + 2.1, a + 4.2)
        ]
        corners.append(np.stack(ring, axis=1))
        materials.append(np.full(n, heart))
    thin = np.array([0.012 * height, 0, 0])
    corners.append(np.stack([places - thin, places + thin, top], axis=1))
    materials.append(np.full(n, stem))
    return scattered_triangles(np.concatenate(corners), np.concatenate(materials))


def palm(rng: Rng, height: float, trunk: int, fronds: list[int]) -> Mesh:
    """Return a palm with a leaning trunk and feathered fronds."""
    t = np.linspace(0, 1, 12)
    path = np.column_stack([0.22 * height * t**2, 0.05 * height * t, height * t])
    stem = tube(
        path, 0.028 * height * (1.3 - 0.7 * t) * (1 + 0.12 * (np.arange(12) % 2)), trunk, 10
    )
    corners = []
    for turn in np.arange(16) * 2 * np.pi / 16 + rng.uniform(0, 1):
        reach = 0.42 * height * rng.uniform(0.85, 1.15)
        rise = rng.uniform(0.1, 0.75)
        out = np.array([np.cos(turn), np.sin(turn), 0])
        side = np.array([-out[1], out[0], 0])
        s = np.linspace(0.06, 1, 34)[:, None]
        spine = path[-1] + out * reach * s + np.array([0, 0, 1]) * reach * (rise * s - 1.05 * s**2)
        for sign in (-1, 1):
            leaflet = 0.3 * reach * np.sin(np.pi * np.minimum(1, 0.12 + 0.85 * s)) + 0.02
            tip = spine + sign * side * leaflet * 0.8 + out * leaflet * 0.55
            tip[:, 2:] -= 0.5 * leaflet
            half = out * reach * 0.012
            corners.append(np.stack([spine - half, spine + half, tip], axis=1))
    triangles = np.concatenate(corners)
    materials = np.array(fronds)[rng.integers(0, len(fronds), len(triangles))]
    return merged([stem, scattered_triangles(triangles, materials)])


def cactus(height: float, material: int) -> Mesh:
    """Return a saguaro with two arms."""
    radius = 0.075 * height

    def column(path: npt.ArrayLike, width: float) -> Mesh:
        points = np.asarray(path, float)
        swell = np.interp(
            np.linspace(0, 1, len(points)), [0, 0.1, 0.9, 0.97, 1], [0.9, 1, 1, 0.7, 0.05]
        )
        return tube(points, width * swell, material, 16)

    def arm(side: float, start: float, rise: float) -> Mesh:
        bend = np.linspace(0, np.pi / 2, 8)
        reach = 0.2 * height
        curve = [(side * reach * np.sin(a), 0, start + reach * (1 - np.cos(a)) * 0.8) for a in bend]
        top = [(side * reach, 0, curve[-1][2] + rise * k / 10) for k in range(1, 11)]
        return column([*curve, *top], 0.62 * radius)

    trunk = column([(0, 0, height * k / 24) for k in range(25)], radius)
    return merged(
        [trunk, arm(1, 0.42 * height, 0.3 * height), arm(-1, 0.3 * height, 0.36 * height)]
    )


def pot_plant(rng: Rng, palette: Palette, height: float, colour: Colour) -> Mesh:
    """Return a pot with a leafy plant, standing on the origin."""
    clay = palette(colour, shine=0.4, roughness=0.25)
    earth = palette((0.2, 0.13, 0.08))
    green = leaf_colours(palette, [(0.16, 0.42, 0.14), (0.25, 0.5, 0.18), (0.12, 0.33, 0.13)])
    r = 0.17 * height
    pot = revolved(
        [
            (0.001, 0),
            (0.75 * r, 0),
            (r, 1.7 * r),
            (1.08 * r, 1.7 * r),
            (1.08 * r, 1.95 * r),
            (0.95 * r, 1.95 * r),
            (0.93 * r, 1.7 * r),
        ],
        clay,
    )
    soil = revolved([(0.94 * r, 1.75 * r), (0.001, 1.8 * r)], earth)
    corners = []
    for _ in range(46):
        turn, rise = rng.uniform(0, 2 * np.pi), rng.uniform(0.5, 1.0)
        out = np.array([np.cos(turn), np.sin(turn), 0])
        side = np.array([-out[1], out[0], 0])
        length = 0.62 * height * rng.uniform(0.7, 1.1)
        s = np.linspace(0, 1, 9)[:, None]
        spine = (
            np.array([0, 0, 1.75 * r])
            + out * length * (1 - rise * 0.6) * s
            + np.array([0, 0, 1]) * length * (1.25 * rise * s - 0.55 * s**2)
        )
        width = 0.075 * length * np.sin(np.pi * np.clip(s * 0.9 + 0.08, 0, 1)) * side
        left, right = spine - width, spine + width
        corners += [
            np.stack([left[:-1], right[:-1], right[1:]], axis=1),
            np.stack([left[:-1], right[1:], left[1:]], axis=1),
        ]
    triangles = np.concatenate(corners)
    blades = scattered_triangles(triangles, np.array(green)[rng.integers(0, 3, len(triangles))])
    return merged([pot, soil, blades])


def stone(rng: Rng, radius: float, material: int) -> Mesh:
    """Return a boulder around the origin."""
    from scenery.noise_kernels import noise_at

    shift = rng.uniform(0, 100, 3)
    ball = sphere(1.0, material, 32)
    lumpy = ball.displaced(lambda p: 0.55 * noise_at(*(1.3 * p + shift).T, octaves=4))
    return lumpy.scaled(*(radius * rng.uniform(0.75, 1.25, 3) * [1, 1, 0.75]))
