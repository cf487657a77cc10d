"""Choice of the saliency of a viewing: fixations of other viewers, never the viewer's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from gazelive.errors import ModelError
from gazelive.models.scenewalk.equations import ImageGrid
from gazelive.models.scenewalk.saliency_choice import PRIOR_FIXATIONS, ImageFixations, SaliencyBank
from gazelive.models.storage import StoredArrays, read_arrays, write_arrays
from gazelive.stimuli.saliency import centre_bias, empirical_density

SHAPE = (16, 32)
GRID = ImageGrid(np.linspace(-20, 20, 33), np.linspace(-12, 12, 17))
VIEWERS, IMAGES = ("ann", "ben", "eve"), ("lake", "wood", "town")


def looks(seed: int, centre: tuple[float, float] = (0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(centre[0], 6, 20), rng.normal(centre[1], 4, 20)


def all_seen(own_seed: int = 99) -> list[ImageFixations]:
    """Everybody on every image; `own_seed` is where ann looks in the lake."""
    seen = []
    for v, viewer in enumerate(VIEWERS):
        for i, image in enumerate(IMAGES):
            seed = own_seed if (v, i) == (0, 0) else 10 * v + i
            seen.append(ImageFixations(viewer, image, *looks(seed, (5.0 * i - 5, 0.0)), GRID))
    return seen


BANK = SaliencyBank.of(all_seen())


@settings(max_examples=20)
@given(st.integers(100, 2**31), st.sampled_from([("ann",), VIEWERS]))
def test_own_fixations_do_not_matter(seed: int, without: tuple[str, ...]) -> None:
    other = SaliencyBank.of(all_seen(seed)).choose("lake", without=without, shape=SHAPE)
    mine = BANK.choose("lake", without=without, shape=SHAPE)
    assert mine.density.tolist() == other.density.tolist()
    assert mine.source == other.source


def test_it_is_the_density_of_the_others() -> None:
    chosen = BANK.choose("lake", without=["ann"])
    x, y = (np.concatenate([looks(10 * v, (-5.0, 0.0))[k][1:] for v in (1, 2)]) for k in (0, 1))
    inside = (np.abs(x) < 20) & (np.abs(y) < 12)
    x, y = x[inside], y[inside]
    # at the middles of the cells in which the bank counts
    across, down = (np.floor((x / 40 + 0.5) * 128) + 0.5), (np.floor((y / 24 + 0.5) * 128) + 0.5)
    others = empirical_density(across / 128, down / 128).density
    bias = BANK.learned_bias("lake").density
    expected = (len(x) * others + PRIOR_FIXATIONS * bias) / (len(x) + PRIOR_FIXATIONS)
    np.testing.assert_allclose(chosen.density, expected, rtol=1e-9)
    assert chosen.source.startswith(f"kernel density of {len(x)} fixations, Scott's rule, of 2 oth")


def test_an_image_without_other_viewers_gets_the_centre_bias() -> None:
    unknown = BANK.choose("moon", without=[], shape=SHAPE)
    assert unknown.density.tolist() == BANK.learned_bias(shape=SHAPE).density.tolist()
    assert unknown.source.startswith("learned centre bias")
    nameless = BANK.choose(None, without=[], shape=SHAPE)
    assert nameless.density.tolist() == unknown.density.tolist()
    # a probe who may be any of the enrolled
    probe = BANK.choose("lake", without=VIEWERS, shape=SHAPE)
    assert probe.density.tolist() == BANK.learned_bias("lake", SHAPE).density.tolist()
    alone = SaliencyBank.of([ImageFixations("ann", "lake", *looks(0), GRID)])
    chosen = alone.choose("lake", without=["ann"], shape=SHAPE)
    assert chosen.density.tolist() == centre_bias(SHAPE).density.tolist()


def test_image_saliency_helps_without_other_viewers(tmp_path: Path) -> None:
    pixels = np.full((100, 200, 3), 90, np.uint8)
    pixels[60:75, 150:165] = 250, 30, 30
    stimulus = tmp_path / "odd.png"
    Image.fromarray(pixels).save(stimulus)
    computed = BANK.choose("odd", without=[], shape=SHAPE, stimulus=stimulus)
    assert computed.source.startswith("Boolean map saliency of odd.png × learned centre bias")
    gain = computed.density / BANK.learned_bias(shape=SHAPE).density
    row, column = np.unravel_index(np.argmax(gain), SHAPE)
    assert (abs(row - 10), abs(column - 25)) <= (2, 2)
    seen_by_others = BANK.choose("lake", without=["ann"], shape=SHAPE, stimulus=stimulus)
    assert "other viewers" in seen_by_others.source


def test_the_first_fixation_and_those_outside_do_not_count() -> None:
    bank = SaliencyBank.of([ImageFixations("ann", "lake", [0, 1, 50, 2], [0, 1, 0, 2], GRID)])
    assert len(bank.cell_of) == 2
    row, column = divmod(int(bank.cell_of[0]), 128)
    assert (row, column) == (int((1 / 24 + 0.5) * 128), int((1 / 40 + 0.5) * 128))


def test_the_bandwidth_may_be_given() -> None:
    narrow = SaliencyBank.of(all_seen(), bandwidth=0.02).choose("lake", without=["ann"])
    assert "bandwidth 0.02" in narrow.source
    assert narrow.density.max() > BANK.choose("lake", without=["ann"]).density.max()


def test_a_viewing_names_its_saliency_source() -> None:
    viewing = BANK.viewing("lake", [0, 1], [0, 1], [0.2, 0.3], GRID, without=["ann"])
    assert viewing.saliency.shape == GRID.shape
    assert viewing.saliency_source == BANK.choose("lake", without=["ann"], shape=GRID.shape).source


def test_forgotten_is_as_if_never_seen() -> None:
    without = SaliencyBank.of([seen for seen in all_seen() if seen.viewer != "ben"])
    forgot = BANK.forget("ben")
    assert "ben" not in forgot.viewers
    assert forgot.viewers == without.viewers
    for name in ("viewer_of", "image_of", "cell_of"):
        assert sorted(getattr(forgot, name).tolist()) == sorted(getattr(without, name).tolist())
    assert (
        forgot.choose("wood", without=["ann"]).density.tolist()
        == without.choose("wood", without=["ann"]).density.tolist()
    )
    assert BANK.forget("nobody") is BANK


def test_stored_and_read_it_chooses_the_same(tmp_path: Path) -> None:
    arrays, manifest = BANK.to_arrays()
    assert sum(array.nbytes for array in arrays.values()) == 6 * len(BANK.cell_of)
    write_arrays(tmp_path / "bank", manifest, arrays)
    read_manifest, read = read_arrays(tmp_path / "bank")
    bank = SaliencyBank.from_arrays(StoredArrays(read), read_manifest)
    for image in (*IMAGES, "moon"):
        first, second = (b.choose(image, without=["ann"], shape=SHAPE) for b in (BANK, bank))
        assert first.density.tolist() == second.density.tolist()
        assert first.source == second.source
    with pytest.raises(ModelError, match="cells"):
        SaliencyBank.from_arrays(StoredArrays(read), {})


def test_an_empty_bank_still_answers() -> None:
    empty = SaliencyBank.of([])
    assert empty.choose("lake", without=["ann"]).source.startswith("centre bias")
