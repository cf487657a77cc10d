"""Saliency maps: densities from fixations, from images, and generated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from gazelive.errors import ModelError
from gazelive.stimuli.saliency import (
    GRID_SHAPE,
    UNIFORM_SHARE,
    SaliencyMap,
    centre_bias,
    empirical_density,
    generated_saliency,
    image_saliency,
    learned_centre_bias,
)

BACKGROUND = (90, 110, 90)
PINNED_CENTRE = (0.7251878, 0.5153377)
PINNED_ENTROPY_BITS = 10.3064053


def entropy_bits(density: np.ndarray) -> float:
    return float(-(density * np.log2(density)).sum())


def centre_of(density: np.ndarray) -> tuple[float, float]:
    rows, columns = density.shape
    x, y = (np.arange(columns) + 0.5) / columns, (np.arange(rows) + 0.5) / rows
    return float(density.sum(axis=0) @ x), float(density.sum(axis=1) @ y)


def without_bias(saliency: SaliencyMap) -> np.ndarray:
    """Return the image's own contribution to the saliency, as a density."""
    ratio = saliency.density / centre_bias(saliency.density.shape).density
    return ratio / ratio.sum()


def dots(
    odd: tuple[int, int], odd_colour: tuple[int, int, int], odd_radius: int = 14
) -> np.ndarray:
    """A field of equal dots, one of which differs."""
    image = np.full((400, 600, 3), BACKGROUND, np.uint8)
    y, x = np.mgrid[:400, :600]
    for row in range(4):
        for column in range(6):
            inside = np.hypot(x - 50 - 100 * column, y - 50 - 100 * row)
            is_odd = (row, column) == odd
            colour = odd_colour if is_odd else (120, 140, 120)
            image[inside < (odd_radius if is_odd else 14)] = colour
    return image


positions = arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1))


@given(positions, st.randoms(use_true_random=False), st.floats(0.01, 0.3) | st.none())
def test_an_empirical_density_is_one(x, random, bandwidth) -> None:
    y = np.array([random.random() for _ in x])
    density = empirical_density(x, y, bandwidth=bandwidth).density
    assert density.shape == GRID_SHAPE
    assert (density > 0).all()
    assert density.sum() == pytest.approx(1)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_the_order_of_fixations_does_not_matter(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random((2, n))
    order = rng.permutation(n)
    np.testing.assert_allclose(
        empirical_density(x, y).density, empirical_density(x[order], y[order]).density, rtol=1e-9
    )


@given(st.integers(0, 2**32 - 1))
def test_a_weight_is_a_repetition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random((2, 12))
    weights = rng.integers(0, 4, 12)
    weights[0] = 1
    weighted = empirical_density(x, y, weights=weights, bandwidth=0.05).density
    repeated = empirical_density(np.repeat(x, weights), np.repeat(y, weights), bandwidth=0.05)
    np.testing.assert_allclose(weighted, repeated.density, rtol=1e-9)


def test_the_bandwidth_is_scotts() -> None:
    """Smoothing adds its own variance: h² = σ² n^(-1/3)."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(0.5, 0.06, 200), rng.normal(0.45, 0.08, 200)
    density = empirical_density(x, y).density - UNIFORM_SHARE / np.prod(GRID_SHAPE)
    density /= density.sum()
    at = (np.arange(128) + 0.5) / 128
    for axis, fixated in ((0, x), (1, y)):
        mass = density.sum(axis=axis)
        variance = mass @ at**2 - (mass @ at) ** 2
        assert variance == pytest.approx(fixated.var() * (1 + 200 ** (-1 / 3)), rel=0.02)


def test_a_fixation_at_the_corner_keeps_its_weight() -> None:
    x, y = np.array([0.0, 0.5]), np.array([0.0, 0.5])
    density = empirical_density(x, y, bandwidth=0.05).density
    assert density[:32, :32].sum() == pytest.approx(0.5, abs=0.01)
    assert density[32:96, 32:96].sum() == pytest.approx(0.5, abs=0.01)


def test_fixations_outside_the_image_are_left_out() -> None:
    inside = empirical_density([0.3, 0.6, 0.7], [0.2, 0.5, 0.9])
    mixed = empirical_density([0.3, -0.1, 0.6, 0.7, np.nan], [0.2, 0.5, 0.5, 0.9, 0.5])
    np.testing.assert_array_equal(inside.density, mixed.density)


def test_one_place_alone_has_a_density() -> None:
    density = empirical_density([0.25, 0.25], [0.75, 0.75]).density
    row, column = np.unravel_index(density.argmax(), density.shape)
    assert (column + 0.5) / 128 == pytest.approx(0.25, abs=0.01)
    assert (row + 0.5) / 128 == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize(
    ("x", "y", "options"),
    [
        ([], [], {}),
        ([2.0], [0.5], {}),
        ([0.5, 0.6], [0.5], {}),
        ([0.5], [0.5], {"weights": [0.0]}),
        ([0.5], [0.5], {"bandwidth": 0.0}),
    ],
)
def test_fixations_without_a_density_are_refused(x, y, options) -> None:
    with pytest.raises(ModelError):
        empirical_density(x, y, **options)


def test_the_source_describes_how_a_map_was_made() -> None:
    assert "3 fixations, Scott's rule" in empirical_density([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]).source
    assert "bandwidth 0.03" in empirical_density([0.1], [0.1], bandwidth=0.03).source
    assert "learned centre bias" in learned_centre_bias([0.4, 0.5], [0.5, 0.6]).source
    assert "Boolean map" in image_saliency(dots((1, 1), (250, 60, 40))).source
    assert "'a', seed 7" in generated_saliency("a", 7).source


def test_a_map_keeps_its_own_density() -> None:
    given_array = np.ones((4, 5))
    saliency = SaliencyMap(given_array, "even")
    given_array[0, 0] = 9
    assert saliency.density[0, 0] == pytest.approx(1 / 20)
    with pytest.raises(ValueError, match="read-only"):
        saliency.density[0, 0] = 1


@pytest.mark.parametrize("bad", [np.zeros((3, 3)), np.ones(5), np.full((2, 2), np.nan)])
def test_invalid_densities_are_refused(bad: np.ndarray) -> None:
    with pytest.raises(ModelError, match="positive"):
        SaliencyMap(bad, "bad")


def test_the_centre_bias_is_highest_where_it_is_put() -> None:
    density = centre_bias((90, 120), centre=(0.25, 0.6), sigma=(0.1, 0.05)).density
    assert density.shape == (90, 120)
    assert centre_of(density) == pytest.approx((0.25, 0.6), abs=0.005)


@pytest.mark.parametrize(
    "image",
    [dots((2, 4), (235, 70, 50)), dots((2, 4), (240, 240, 240)), dots((2, 4), (120, 140, 120), 34)],
    ids=["colour", "brightness", "size"],
)
def test_the_odd_one_out_pops_out(image: np.ndarray) -> None:
    density = without_bias(image_saliency(image))
    row, column = np.unravel_index(density.argmax(), density.shape)
    assert (column + 0.5) / 128 == pytest.approx(450 / 600, abs=0.06)
    assert (row + 0.5) / 128 == pytest.approx(250 / 400, abs=0.09)


def test_an_empty_image_leaves_the_centre_bias() -> None:
    grey = np.full((200, 300), 128, np.uint8)
    np.testing.assert_allclose(image_saliency(grey).density, centre_bias().density, rtol=1e-6)


def test_a_file_and_its_pixels_give_the_same_map(tmp_path: Path) -> None:
    pixels = dots((1, 2), (235, 70, 50))
    path = tmp_path / "dots.png"
    Image.fromarray(pixels).save(path)
    of_file = image_saliency(path).density
    with_alpha = np.dstack([pixels, np.full(pixels.shape[:2], 255, np.uint8)])
    for same in (pixels, pixels / 255, with_alpha):
        np.testing.assert_allclose(image_saliency(same).density, of_file, rtol=1e-6)


def test_an_unreadable_image_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"this is no image")
    with pytest.raises(ModelError, match=r"broken\.jpg"):
        image_saliency(broken)
    with pytest.raises(ModelError, match="no such image"):
        image_saliency(tmp_path / "absent.jpg")
    with pytest.raises(ModelError, match="rows, columns"):
        image_saliency(np.zeros(7, np.uint8))


@given(st.text(max_size=20), st.integers(0, 2**40))
def test_generated_maps_depend_on_name_and_seed_only(name: str, seed: int) -> None:
    first = generated_saliency(name, seed).density
    np.testing.assert_array_equal(first, generated_saliency(name, seed).density)
    assert (first > 0).all()
    assert not np.allclose(first, generated_saliency(name + "x", seed).density)
    assert not np.allclose(first, generated_saliency(name, seed + 1).density)


def test_a_generated_map_is_the_same_on_every_machine() -> None:
    density = generated_saliency("pool-000", 0).density
    assert centre_of(density) == pytest.approx(PINNED_CENTRE, abs=1e-6)
    assert entropy_bits(density) == pytest.approx(PINNED_ENTROPY_BITS, abs=1e-6)


def test_generated_maps_look_like_fixation_maps() -> None:
    maps = [generated_saliency(f"pool-{k:03d}", 0).density for k in range(150)]
    entropies = [entropy_bits(density) for density in maps]
    assert 10.7 < np.mean(entropies) < 11.3
    assert 0.4 < np.std(entropies) < 0.7
    assert centre_of(np.mean(maps, axis=0)) == pytest.approx((0.505, 0.48), abs=0.03)
