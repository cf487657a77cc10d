"""A sofa with cushions, a bookcase, lamp, plants, pictures, a cat on the rug."""

from __future__ import annotations

import numpy as np

from scenery.creatures import cat
from scenery.food import cup, vase
from scenery.furniture import book, book_row, cushion, floor_lamp, sofa, soft_box, table
from scenery.ground import Rng
from scenery.materials import Colour, Kind, Palette, Texture, shaded
from scenery.mesh import box, merged, quad, sphere
from scenery.plants import flowers, leaf_colours, leaves, pot_plant
from scenery.render import Scene, daylight


def _room(
    scene: Scene, *, width: float, depth: float, height: float, wall: int, floor: int, ceiling: int
) -> None:
    """Put a room around the origin's floor: y from -3 to `depth`, open behind the viewer."""
    w = width / 2
    scene.add(
        quad([(-w, -3, 0), (w, -3, 0), (w, depth, 0), (-w, depth, 0)], floor),
        quad([(-w, -3, height), (w, -3, height), (w, depth, height), (-w, depth, height)], ceiling),
        quad([(w, -3, 0), (w, depth, 0), (w, depth, height), (w, -3, height)], wall),
        quad([(-w, depth, 0), (w, depth, 0), (w, depth, height), (-w, depth, height)], wall),
    )
    skirting = scene.palette((0.93, 0.92, 0.9))
    scene.add(
        box((width, 0.03, 0.12), skirting, (0, depth - 0.02, 0)),
        box((0.03, depth + 3, 0.12), skirting, (w - 0.02, depth / 2 - 1.5, 0)),
    )


def _left_wall_with_window(
    scene: Scene,
    *,
    x: float,
    depth: float,
    height: float,
    wall: int,
    span: tuple[float, float],
    sill: float,
    top: float,
    strength: float,
    light: Colour = (1.0, 0.97, 0.92),
) -> None:
    """Put a wall at `x` with a window in it from y = `span`, and daylight through it."""
    a, b = span
    frame = scene.palette((0.95, 0.94, 0.92), shine=0.3)
    for y0, y1, z0, z1 in (
        (-3, a, 0, height),
        (b, depth, 0, height),
        (a, b, 0, sill),
        (a, b, top, height),
    ):
        scene.add(quad([(x, y0, z0), (x, y1, z0), (x, y1, z1), (x, y0, z1)], wall))
    middle, z_middle = (a + b) / 2, (sill + top) / 2
    for y in (a, middle, b):
        scene.add(box((0.09, 0.06, top - sill), frame, (x, y, sill)))
    for z in (sill, z_middle, top - 0.05):
        scene.add(box((0.09, b - a, 0.06), frame, (x, middle, z)))
    scene.add(box((0.3, b - a + 0.2, 0.04), frame, (x + 0.1, middle, sill - 0.04)))
    scene.add_lamp((x + 0.02, a, sill), (0, b - a, 0), (0, 0, top - sill), light, strength)


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(-80, 30, sun_strength=1.2, sky_strength=0.9),
        (-0.2, -2.2, 1.5),
        (0.2, 3.2, 0.98),
        42,
        exposure=1.2,
        n_bounces=3,
        n_samples=16,
    )
    wall = palette((0.82, 0.84, 0.78), (0.8, 0.82, 0.76), texture=Texture.MOTTLED, scale=1.0)
    floor = palette(
        (0.62, 0.44, 0.28),
        (0.48, 0.32, 0.19),
        texture=Texture.PLANKS,
        scale=0.13,
        shine=0.35,
        roughness=0.2,
    )
    white = palette((0.93, 0.92, 0.9))
    _room(scene, width=6.4, depth=4.6, height=2.8, wall=wall, floor=floor, ceiling=white)
    _left_wall_with_window(
        scene,
        x=-3.2,
        depth=4.6,
        height=2.8,
        wall=wall,
        span=(0.6, 3.0),
        sill=0.9,
        top=2.4,
        strength=9,
    )
    scene.add_lamp((-1.5, -2.9, 2.7), (0, 2.5, 0), (3, 0, 0), (1, 0.95, 0.9), 0.9)
    teal, mustard, rust = (0.16, 0.36, 0.4), (0.85, 0.62, 0.15), (0.7, 0.25, 0.14)
    scene.add(sofa(palette, teal, 2.3).moved(-0.35, 3.75, 0))
    for x, colour, turn in ((-1.15, mustard, -12), (-0.78, (0.9, 0.87, 0.8), 8), (0.5, rust, 14)):
        cover = palette(
            colour,
            shaded(colour),
            texture=Texture.PLAID if colour == rust else Texture.MOTTLED,
            scale=0.09,
        )
        scene.add(cushion(0.42, cover).turned(-14, "x").turned(turn).moved(x, 3.62, 0.56))
    rug = palette((0.75, 0.28, 0.2), (0.88, 0.78, 0.6), texture=Texture.PLAID, scale=0.5)
    scene.add(soft_box((3.0, 1.9, 0.02), rug, (-0.2, 2.0, 0)))
    oak = palette((0.66, 0.48, 0.3), (0.52, 0.36, 0.21), texture=Texture.WOOD, scale=0.2, shine=0.3)
    scene.add(table(1.1, 0.6, 0.42, oak).moved(-0.2, 2.1, 0.02))
    scene.add(
        vase(0.3, palette((0.92, 0.9, 0.86), shine=0.8, roughness=0.1)).moved(-0.42, 2.15, 0.44)
    )
    bloom = leaf_colours(palette, [(0.9, 0.3, 0.4), (0.95, 0.7, 0.3), (0.95, 0.9, 0.85)])
    green = leaf_colours(palette, [(0.2, 0.42, 0.16), (0.3, 0.5, 0.2)])
    stems = np.column_stack(
        [rng.normal(-0.42, 0.012, (26, 1)), rng.normal(2.15, 0.012, (26, 1)), np.full((26, 1), 0.7)]
    )
    spread = flowers(
        rng,
        stems + rng.normal(0, 0.06, (26, 3)) * [1, 1, 0],
        0.22,
        0.05,
        bloom,
        palette((0.95, 0.8, 0.2)),
        green[0],
    )
    scene.add(spread, leaves(rng, stems + rng.normal(0, 0.06, (26, 3)) + [0, 0, 0.08], 0.04, green))
    scene.add(cup(palette, 0.045, (0.85, 0.35, 0.2)).moved(0.1, 1.98, 0.44))
    scene.add(
        book(rng, palette, 0.04, 0.26, 0.19, (0.2, 0.3, 0.5))
        .turned(90, "y")
        .turned(15)
        .moved(0.02, 2.25, 0.46)
    )
    shelf_x, back = 2.2, 4.42
    for z in (0.05, 0.45, 0.85, 1.25, 1.65, 2.05):
        scene.add(box((1.5, 0.32, 0.035), oak, (shelf_x, back, z)))
    for x in (-0.75, 0.75):
        scene.add(box((0.035, 0.32, 2.05), oak, (shelf_x + x, back, 0.05)))
    for k, z in enumerate((0.09, 0.49, 0.89, 1.29, 1.69)):
        row = book_row(rng, palette, (1.4, 0.9, 1.4, 0.75, 1.1)[k], 0.34)
        scene.add(row.moved(shelf_x - 0.7, back - 0.02, z))
    scene.add(
        pot_plant(rng, palette, 0.34, (0.85, 0.8, 0.72)).moved(shelf_x + 0.5, back - 0.03, 1.29),
        sphere(0.11, palette((0.75, 0.6, 0.2), kind=Kind.METAL, roughness=0.15)).moved(
            shelf_x + 0.45, back - 0.03, 0.6
        ),
    )
    scene.add(floor_lamp(palette, 1.65, 2.6).moved(1.15, 4.05, 0))
    scene.add_lamp((1.0, 3.9, 1.4), (0, 0.3, 0), (0.3, 0, 0), (1, 0.78, 0.5), 14)
    scene.add(pot_plant(rng, palette, 1.45, (0.75, 0.42, 0.28)).moved(-2.45, 4.0, 0))
    for x, z, w, h, a, b, texture in (
        (-0.95, 1.5, 0.75, 0.95, (0.1, 0.25, 0.45), (0.92, 0.7, 0.4), Texture.MARBLED),
        (0.1, 1.6, 0.55, 0.75, (0.85, 0.35, 0.25), (0.95, 0.9, 0.8), Texture.MOTTLED),
    ):
        scene.add(
            box((w + 0.08, 0.04, h + 0.08), palette((0.14, 0.12, 0.11)), (x, 4.57, z - 0.04)),
            box((w, 0.05, h), palette(a, b, texture=texture, scale=0.4), (x, 4.56, z)),
        )
    scene.add(cat(palette, (0.85, 0.5, 0.2)).turned(35).moved(0.95, 1.6, 0.02))
    chair_cover = palette((0.88, 0.82, 0.7), (0.78, 0.72, 0.6), texture=Texture.MOTTLED, scale=0.03)
    armchair = merged(
        [
            soft_box((0.85, 0.8, 0.32), chair_cover, (0, 0, 0.08)),
            soft_box((0.62, 0.6, 0.18), chair_cover, (0, -0.08, 0.36)),
            soft_box((0.85, 0.24, 0.82), chair_cover, (0, 0.36, 0.04)),
            *[soft_box((0.2, 0.85, 0.58), chair_cover, (s * 0.4, 0, 0.02)) for s in (-1, 1)],
        ]
    )
    scene.add(armchair.turned(-62).moved(2.2, 2.5, 0))
    return scene
