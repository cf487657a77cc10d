"""Houses, towers, and what stands beside them."""

from __future__ import annotations

import numpy as np

from scenery.materials import Colour, Kind, Palette, Texture
from scenery.mesh import Mesh, box, cylinder, flat, merged, quad, revolved, sphere

Rng = np.random.Generator


def window(palette: Palette, width: float, height: float, frame: int, lit: float = 0.0) -> Mesh:
    """Return a window in the plane y = 0, facing -y, centred over the origin's x."""
    if lit:
        pane = palette((1.0, 0.78, 0.42), kind=Kind.GLOW, glow=lit, shine=1.0)
    else:
        pane = palette((0.1, 0.14, 0.19), shine=1.0, roughness=0.02)
    rim = 0.09 * width
    parts = [
        quad(
            [
                (-width / 2, -0.03, 0),
                (width / 2, -0.03, 0),
                (width / 2, -0.03, height),
                (-width / 2, -0.03, height),
            ],
            pane,
        )
    ]
    parts += [box((rim, 0.12, height), frame, (x, -0.03, 0)) for x in (-width / 2, 0, width / 2)]
    parts += [
        box((width + rim, 0.14, rim), frame, (0, -0.03, z)) for z in (-rim, height * 0.62, height)
    ]
    parts.append(box((width * 1.25, 0.24, rim), frame, (0, -0.1, -1.6 * rim)))
    return merged(parts)


def _gable_roof(
    width: float, depth: float, rise: float, overhang: float, roof: int, wall: int
) -> Mesh:
    """Return a roof with its ridge along x, its eaves at z = 0."""
    w, d, t = width / 2 + overhang, depth / 2 + overhang, 0.14
    drop = rise * overhang / (depth / 2)
    slopes = []
    for side in (-1, 1):
        outer = np.array([(-w, side * d, -drop), (w, side * d, -drop), (w, 0, rise), (-w, 0, rise)])
        raised = outer + np.array([0, 0, t])
        slopes += [quad(outer, roof), quad(raised, roof)]
        slopes.append(quad([outer[0], outer[1], raised[1], raised[0]], wall))
        for a, b in ((1, 2), (0, 3)):
            slopes.append(quad([outer[a], outer[b], raised[b], raised[a]], wall))
    gables = [
        flat([(x, -depth / 2, 0), (x, depth / 2, 0), (x, 0, rise)], [[0, 1, 2]], wall)
        for x in (-width / 2, width / 2)
    ]
    return merged([*slopes, *gables])


def house(
    rng: Rng,
    palette: Palette,
    *,
    width: float = 8.0,
    depth: float = 7.0,
    n_floors: int = 2,
    wall: int,
    roof: int,
    door: Colour = (0.4, 0.15, 0.1),
    frame: Colour = (0.93, 0.92, 0.88),
    roof_rise: float = 2.6,
    lit: float = 0.0,
    gable_front: bool = False,
) -> Mesh:
    """Return a house whose front, with its door, stands in the plane y = 0 and faces -y."""
    floor_height = 2.9
    height = n_floors * floor_height
    frame_material = palette(frame)
    parts = [box((width, depth, height), wall, (0, depth / 2, 0))]
    if gable_front:
        parts.append(
            _gable_roof(depth, width, roof_rise, 0.4, roof, wall)
            .turned(90)
            .moved(0, depth / 2, height)
        )
    else:
        parts.append(
            _gable_roof(width, depth, roof_rise, 0.45, roof, wall).moved(0, depth / 2, height)
        )
    columns = max(2, int(width // 2.3))
    door_column = int(rng.integers(0, columns))
    for floor in range(n_floors):
        for column in range(columns):
            x = (column + 0.5) * width / columns - width / 2
            glow = lit * rng.uniform(0.6, 1.2) if rng.random() < 0.75 else 0.0
            if floor == 0 and column == door_column:
                parts.append(box((1.1, 0.2, 2.15), palette(door, shine=0.4), (x, -0.02, 0)))
                parts.append(box((1.35, 0.16, 2.3), frame_material, (x, -0.0, 0)))
                parts.append(box((1.6, 0.7, 0.15), palette((0.5, 0.48, 0.45)), (x, -0.35, 0)))
            else:
                z = floor * floor_height + 0.95
                parts.append(window(palette, 1.05, 1.4, frame_material, glow).moved(x, 0, z))
        for side in (-1, 1):
            for y in (0.3 * depth, 0.7 * depth):
                glow = lit * rng.uniform(0.6, 1.2) if rng.random() < 0.6 else 0.0
                parts.append(
                    window(palette, 1.0, 1.35, frame_material, glow)
                    .turned(90 * side)
                    .moved(side * width / 2, y, floor * floor_height + 0.95)
                )
    if gable_front:
        parts.append(window(palette, 0.8, 1.0, frame_material, lit).moved(0, 0, height + 0.3))
    chimney = palette((0.5, 0.3, 0.25), (0.6, 0.55, 0.5), texture=Texture.BRICK, scale=0.3)
    parts.append(
        box((0.7, 0.7, roof_rise + 0.6), chimney, (width * 0.28, depth * 0.58, height + 0.2))
    )
    return merged(parts)


def lighthouse(palette: Palette, height: float) -> Mesh:
    """Return a lighthouse in red and white bands."""
    red, white = palette((0.78, 0.12, 0.1), shine=0.3), palette((0.94, 0.93, 0.9), shine=0.3)
    dark = palette((0.15, 0.15, 0.17), shine=0.5)
    lamp = palette((1.0, 0.9, 0.6), kind=Kind.GLOW, glow=4.0)
    r = 0.12 * height
    parts = []
    for band in range(7):
        z0, z1 = band * height / 7, (band + 1) * height / 7
        r0, r1 = r * (1 - 0.055 * band), r * (1 - 0.055 * (band + 1))
        parts.append(revolved([(r0, z0), (r1, z1)], red if band % 2 else white))
    top = r * 0.6
    parts += [
        cylinder(1.35 * top, 0.03 * height, dark).moved(z=height),
        cylinder(0.5 * top, 0.1 * height, lamp).moved(z=1.03 * height),
        revolved([(top, 1.13 * height), (0.01, 1.24 * height)], red),
        sphere(0.012 * height, dark, 12).moved(z=1.25 * height),
    ]
    for k in range(12):
        a = k * np.pi / 6
        for reach, tall in ((0.85, 0.1), (1.3, 0.05)):
            parts.append(
                cylinder(0.004 * height, tall * height, dark, 6).moved(
                    reach * top * np.cos(a), reach * top * np.sin(a), 1.03 * height
                )
            )
    return merged(parts)


def windmill(palette: Palette, height: float, turn: float = 20.0) -> Mesh:
    """Return a Dutch windmill that faces -y."""
    body = palette((0.42, 0.27, 0.2), (0.55, 0.42, 0.34), texture=Texture.BRICK, scale=0.8)
    cap = palette((0.22, 0.2, 0.2))
    white, cloth = palette((0.9, 0.88, 0.82)), palette((0.86, 0.8, 0.7))
    r = 0.24 * height
    parts = [
        revolved([(r, 0), (0.85 * r, 0.3 * height), (0.55 * r, 0.85 * height)], body, 8),
        revolved(
            [(1.35 * r, 0.3 * height), (1.35 * r, 0.33 * height), (0.8 * r, 0.33 * height)], cap, 24
        ),
        revolved(
            [
                (0.66 * r, 0.85 * height),
                (0.62 * r, 0.93 * height),
                (0.2 * r, 1.03 * height),
                (0.001, 1.05 * height),
            ],
            cap,
            24,
        ),
        box((0.35 * r, 0.1, 0.18 * height), white, (0, -r * 0.95, 0)),
        window(palette, 0.3 * r, 0.1 * height, white).moved(0, -0.78 * r, 0.45 * height),
        window(palette, 0.3 * r, 0.1 * height, white).moved(0, -0.66 * r, 0.64 * height),
    ]
    length = 0.58 * height
    for k in range(4):
        arm = [box((0.02 * height, 0.03 * height, length), white)]
        bar = box((0.13 * height, 0.012 * height, 0.006 * height), white, (0.06 * height, 0, 0))
        arm += [bar.moved(z=share * length) for share in np.linspace(0.18, 1, 12)]
        arm.append(
            quad(
                [
                    (0, 0.01, 0.2 * length),
                    (0.115 * height, 0.01, 0.2 * length),
                    (0.115 * height, 0.01, length),
                    (0, 0.01, length),
                ],
                cloth,
            )
        )
        parts.append(merged(arm).turned(turn + 90 * k, "y").moved(0, -0.75 * r, 0.92 * height))
    return merged(parts)


def street_lamp(palette: Palette, lit: float = 0.0) -> Mesh:
    """Return an old street lamp of four metres."""
    iron = palette((0.09, 0.1, 0.1), shine=0.5)
    globe = (
        palette((1.0, 0.83, 0.55), kind=Kind.GLOW, glow=lit, shine=1.0)
        if lit
        else palette((0.9, 0.9, 0.86), shine=0.8, roughness=0.05)
    )
    return merged(
        [
            revolved(
                [(0.2, 0), (0.18, 0.3), (0.09, 0.5), (0.055, 0.7), (0.05, 3.3), (0.11, 3.4)],
                iron,
                16,
            ),
            revolved([(0.12, 3.4), (0.22, 3.9), (0.001, 3.92)], globe, 6),
            revolved([(0.28, 3.88), (0.06, 4.12), (0.001, 4.22)], iron, 6),
        ]
    )


def bench(palette: Palette, wood: int) -> Mesh:
    """Return a park bench, 1.8 m wide, that faces -y."""
    iron = palette((0.1, 0.1, 0.1), shine=0.4)
    parts = [box((1.8, 0.1, 0.04), wood, (0, -0.25 + 0.13 * k, 0.44)) for k in range(4)]
    parts += [box((1.8, 0.035, 0.1), wood, (0, 0.27 + 0.04 * k, 0.58 + 0.15 * k)) for k in range(3)]
    for x in (-0.75, 0.75):
        parts += [
            box((0.06, 0.06, 0.45), iron, (x, -0.25, 0)),
            box((0.06, 0.06, 0.45), iron, (x, 0.2, 0)),
            box((0.06, 0.05, 0.55), iron, (x, 0.3, 0.42)).turned(0),
            box((0.06, 0.55, 0.05), iron, (x, 0.0, 0.4)),
        ]
    return merged(parts)


def fence(palette: Palette, length: float, colour: Colour = (0.5, 0.38, 0.26)) -> Mesh:
    """Return a post-and-rail fence along x from the origin."""
    wood = palette(colour, (0.35, 0.26, 0.18), texture=Texture.WOOD, scale=0.3)
    n_posts = int(length // 2) + 1
    posts = [box((0.14, 0.14, 1.15), wood, (2 * k, 0, 0)) for k in range(n_posts)]
    rails = [
        box((2 * (n_posts - 1), 0.05, 0.12), wood, (n_posts - 1, -0.08, z)) for z in (0.45, 0.9)
    ]
    return merged([*posts, *rails])


def dry_stone_wall(rng: Rng, palette: Palette, length: float, height: float = 1.1) -> Mesh:
    """Return a wall of loose stones along x from the origin."""
    tones = [
        palette(
            (t, 0.97 * t, 0.92 * t),
            (0.6 * t, 0.62 * t, 0.55 * t),
            texture=Texture.MOTTLED,
            scale=0.2,
            bump=0.4,
        )
        for t in (0.42, 0.5, 0.6, 0.36)
    ]
    parts, z = [], 0.0
    while z < height:
        course = rng.uniform(0.14, 0.24)
        x = rng.uniform(-0.2, 0)
        while x < length:
            wide = rng.uniform(0.25, 0.6)
            parts.append(
                box(
                    (wide * 0.96, 0.45 * rng.uniform(0.85, 1.1), course * 0.94),
                    int(rng.choice(tones)),
                    (x + wide / 2, 0, z),
                ).turned(rng.normal(0, 0.1))
            )
            x += wide
        z += course
    return merged(parts)


def column(height: float, material: int) -> Mesh:
    """Return a Doric column."""
    r = height / 14
    shaft = [(r * (1 - 0.16 * t), height * (0.04 + 0.88 * t)) for t in np.linspace(0, 1, 8)]
    return merged(
        [
            cylinder(1.3 * r, 0.04 * height, material, 32),
            revolved(shaft, material, 20),
            revolved([(0.84 * r, 0.92 * height), (1.3 * r, 0.96 * height)], material, 32),
            box((2.7 * r, 2.7 * r, 0.04 * height), material, (0, 0, 0.96 * height)),
        ]
    )
