"""Hot-air balloons over misty hills at sunrise."""

from __future__ import annotations

from scenery.ground import Floats, Rng, fan_places, terrain
from scenery.materials import Palette, Texture
from scenery.noise_kernels import noise_at
from scenery.plants import bark, broadleaf_tree, leaf_colours
from scenery.playthings import balloon
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        return 110 * noise_at(x / 330, y / 330, 6.0, octaves=6) + 10

    ground = palette((0.25, 0.36, 0.14), (0.42, 0.38, 0.22), texture=Texture.MOTTLED, scale=70)
    scene = Scene(
        palette,
        daylight(
            -38,
            9,
            sun=(1, 0.72, 0.42),
            sun_strength=3.2,
            zenith=(0.28, 0.4, 0.68),
            horizon=(0.98, 0.78, 0.6),
            cloud_cover=0.3,
            cloud_phase=55.0,
            cloud_light=(1, 0.85, 0.7),
            haze=0.0034,
            haze_height=55,
            haze_colour=(0.92, 0.76, 0.64),
            glow=1.2,
        ),
        (0, 0, 110),
        (0, 300, 108),
        42,
        exposure=0.95,
    )
    scene.add(terrain(height, ground, near=-20, far=4000, half_width=1.0, n_across=420, n_deep=520))
    green = leaf_colours(palette, [(0.18, 0.3, 0.1), (0.24, 0.36, 0.12)])
    tree = broadleaf_tree(rng, 1.0, bark(palette), green, n_leaves=700, leaf_size=0.05, spread=44)
    for place in fan_places(rng, 420, 60, 900, 0.7, height):
        scene.add(tree.turned(rng.uniform(0, 360)).scaled(rng.uniform(9, 16)).moved(*place))
    sets = [
        [(0.85, 0.1, 0.1), (0.96, 0.8, 0.15)],
        [(0.1, 0.3, 0.7), (0.95, 0.95, 0.92)],
        [(0.1, 0.5, 0.3), (0.95, 0.85, 0.2), (0.9, 0.4, 0.1)],
        [(0.5, 0.15, 0.55), (0.95, 0.6, 0.75)],
        [(0.95, 0.5, 0.1), (0.5, 0.1, 0.1)],
        [(0.1, 0.6, 0.65), (0.95, 0.95, 0.9), (0.9, 0.2, 0.25)],
        [(0.9, 0.85, 0.2), (0.15, 0.15, 0.3)],
    ]
    for k, (x, y, z) in enumerate(
        (
            (-34, 105, 121),
            (38, 150, 140),
            (8, 230, 112),
            (-85, 260, 152),
            (105, 330, 128),
            (-30, 420, 165),
            (60, 520, 190),
        )
    ):
        scene.add(balloon(palette, 11, sets[k]).turned(25 * k).moved(x, y, z))
    return scene
