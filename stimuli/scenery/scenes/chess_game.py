"""A game in progress, seen over the board."""

from __future__ import annotations

from scenery.food import cup
from scenery.ground import Rng
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import Mesh, box, cylinder, merged, quad, revolved, tube
from scenery.render import Scene, daylight


def _chess_piece(kind: str, material: int) -> Mesh:
    """Return a chessman for squares of one unit."""
    base = [(0.001, 0), (0.36, 0), (0.36, 0.09), (0.3, 0.14), (0.3, 0.2), (0.2, 0.28)]
    tops = {
        "pawn": [
            (0.13, 0.62),
            (0.2, 0.68),
            (0.12, 0.71),
            (0.19, 0.82),
            (0.2, 0.9),
            (0.15, 1.0),
            (0.001, 1.04),
        ],
        "rook": [
            (0.17, 0.85),
            (0.26, 0.93),
            (0.28, 1.15),
            (0.18, 1.15),
            (0.18, 1.05),
            (0.001, 1.05),
        ],
        "bishop": [
            (0.13, 1.0),
            (0.23, 1.06),
            (0.13, 1.12),
            (0.2, 1.28),
            (0.17, 1.42),
            (0.06, 1.55),
            (0.08, 1.61),
            (0.001, 1.67),
        ],
        "queen": [
            (0.14, 1.25),
            (0.25, 1.32),
            (0.14, 1.38),
            (0.24, 1.68),
            (0.12, 1.68),
            (0.1, 1.75),
            (0.001, 1.82),
        ],
        "king": [(0.15, 1.35), (0.26, 1.42), (0.15, 1.48), (0.25, 1.8), (0.14, 1.88), (0.001, 1.9)],
        "knight": [(0.2, 0.45), (0.001, 0.5)],
    }
    body = revolved([*base, *tops[kind]], material, 36)
    if kind == "king":
        return merged(
            [
                body,
                box((0.07, 0.07, 0.3), material, (0, 0, 1.86)),
                box((0.22, 0.07, 0.07), material, (0, 0, 1.99)),
            ]
        )
    if kind == "knight":
        neck = tube(
            [(0, 0.08, 0.35), (0, 0.14, 0.7), (0, 0.05, 1.0), (0, -0.1, 1.12)],
            [0.23, 0.2, 0.19, 0.14],
            material,
            16,
        )
        head = tube(
            [(0, -0.02, 1.12), (0, -0.2, 1.0), (0, -0.34, 0.86)], [0.16, 0.13, 0.09], material, 14
        )
        ears = [
            revolved([(0.05, 0), (0.001, 0.16)], material, 8).moved(s * 0.07, 0.02, 1.2)
            for s in (-1, 1)
        ]
        return merged([body, neck, head, *ears])
    return body


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(
            sun_strength=0.0, sky_strength=0.3, zenith=(0.5, 0.52, 0.6), horizon=(0.6, 0.5, 0.4)
        ),
        (2.6, -8.0, 5.2),
        (0.1, -0.2, 0.4),
        38,
        lens_radius=0.03,
        exposure=1.15,
        n_bounces=3,
        n_samples=9,
    )
    board = palette(
        (0.86, 0.72, 0.5),
        (0.3, 0.16, 0.09),
        texture=Texture.CHECKED,
        scale=1.0,
        shine=0.6,
        roughness=0.08,
    )
    rim = palette(
        (0.36, 0.2, 0.11),
        (0.26, 0.14, 0.07),
        texture=Texture.WOOD,
        scale=0.8,
        shine=0.5,
        roughness=0.12,
    )
    device_thread = palette(
        (0.5, 0.34, 0.22), (0.38, 0.24, 0.15), texture=Texture.PLANKS, scale=1.4, shine=0.3
    )
    scene.add(
        box((9.2, 9.2, 0.38), rim, (0, 0, -0.4)),
        quad([(-4, -4, 0), (4, -4, 0), (4, 4, 0), (-4, 4, 0)], board),
        quad([(-30, -30, -0.4), (30, -30, -0.4), (30, 30, -0.4), (-30, 30, -0.4)], device_thread),
    )
    scene.add(
        quad(
            [(-40, 26, -1), (40, 26, -1), (40, 26, 30), (-40, 26, 30)],
            palette((0.25, 0.32, 0.3), (0.18, 0.22, 0.2), texture=Texture.MOTTLED, scale=6),
        )
    )
    white = palette(
        (0.9, 0.83, 0.68),
        (0.82, 0.74, 0.58),
        texture=Texture.MOTTLED,
        scale=0.3,
        shine=0.9,
        roughness=0.06,
    )
    black = palette(
        (0.1, 0.07, 0.06),
        (0.16, 0.1, 0.07),
        texture=Texture.MOTTLED,
        scale=0.3,
        shine=0.9,
        roughness=0.06,
    )
    position = [
        "r..qkb.r",
        "ppp.pppp",
        "..n..n..",
        "...p.b..",
        "...P.B..",
        "..N.PN..",
        "PPP..PPP",
        "R..QKB.R",
    ]
    names = {"p": "pawn", "r": "rook", "n": "knight", "b": "bishop", "q": "queen", "k": "king"}
    for row, line in enumerate(position):
        for file, letter in enumerate(line):
            if letter != ".":
                piece = _chess_piece(names[letter.lower()], white if letter.isupper() else black)
                facing = 180 if letter.isupper() else 0
                scene.add(
                    piece.turned(facing + float(rng.normal(0, 8))).moved(file - 3.5, 3.5 - row, 0)
                )
    for k, (kind, material) in enumerate((("pawn", black), ("bishop", white), ("pawn", white))):
        scene.add(
            _chess_piece(kind, material)
            .turned(90 * (k == 0), "x")
            .moved(5.4 + 0.7 * (k % 2), -1.5 + 1.1 * k, -0.4 if k else -0.1)
        )
    scene.add(cup(palette, 0.85, (0.75, 0.2, 0.15)).turned(40).moved(-6.6, 2.2, -0.4))
    brass = palette((0.8, 0.62, 0.3), kind=Kind.METAL, roughness=0.12)
    face = palette((0.94, 0.92, 0.86), shine=0.4)
    hand = palette((0.06, 0.06, 0.06))
    clock = [box((2.6, 0.9, 1.5), rim, (0, 0, 0))]
    for x in (-0.62, 0.62):
        clock += [
            cylinder(0.5, 0.06, brass, 32).turned(90, "x").moved(x, -0.42, 0.75),
            cylinder(0.45, 0.08, face, 32).turned(90, "x").moved(x, -0.42, 0.75),
            box((0.04, 0.02, 0.36), hand, (x, -0.52, 0.75)),
            box((0.25, 0.02, 0.04), hand, (x + 0.12, -0.52, 0.75)),
            cylinder(0.09, 0.2, brass, 16).moved(x, 0, 1.5),
        ]
    scene.add(merged(clock).turned(-25).moved(6.4, 3.6, -0.4))
    scene.add_lamp((-9, -6, 5), (2, 9, 0), (2, 0, 6), (1.0, 0.93, 0.82), 14.0)
    scene.add_lamp((-4, -9, 9), (0, 6, 0), (8, 0, 0), (0.9, 0.95, 1.0), 1.6)
    return scene
