from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from gazelive.experiment.display.lettering import draw_lines

texts = st.text(st.characters(codec="latin-1", categories=["L", "N", "P", "Zs"]), max_size=300)


def written(
    text: str, size: tuple[int, int] = (400, 300), size_px: float = 24, margin_px: int = 40
) -> np.ndarray:
    image = Image.new("RGB", size, "white")
    draw_lines(
        image,
        text,
        centre_px=(size[0] / 2, size[1] / 2),
        box_px=(size[0] - 2 * margin_px, size[1] - 2 * margin_px),
        size_px=size_px,
        colour=(0, 0, 0),
    )
    return np.asarray(image.convert("L")) < 128


def n_lines(ink: np.ndarray) -> int:
    rows = ink.any(1).astype(int)
    return int((np.diff(rows, prepend=0) == 1).sum())


@given(texts)
def test_text_of_any_kind_stays_within_its_box(text: str) -> None:
    ink = written(text)
    assert not ink[:, :30].any()
    assert not ink[:, -30:].any()


def test_lines_wrap_and_line_breaks_are_kept() -> None:
    assert n_lines(written("oxx oxx")) == 1
    assert n_lines(written("oxx\noxx\n\noxx")) == 3
    assert n_lines(written("oxx " * 30)) > 3


def test_spaces_within_a_line_are_kept() -> None:
    assert np.ptp(np.flatnonzero(written("y     n").any(0))) > np.ptp(
        np.flatnonzero(written("y n").any(0))
    )


@pytest.mark.parametrize("text", ["one", "one\ntwo\nthree", "word " * 30])
def test_lines_are_centred(text: str) -> None:
    y, x = np.nonzero(written(text))
    assert (x.min() + x.max()) / 2 == pytest.approx(200, abs=4)
    assert (y.min() + y.max()) / 2 == pytest.approx(150, abs=8)


def test_long_text_shrinks() -> None:
    text = "words and words and more of them " * 12
    y, _ = np.nonzero(written(text))
    assert y.min() >= 40
    assert y.max() < 260


def test_other_scripts_have_letters_not_boxes() -> None:
    """Latin with marks, Greek and Cyrillic are in the packaged fonts."""
    for one, other in (("äöü", "ßçé"), ("αβγ", "δεζ"), ("жзи", "шщъ")):
        assert not np.array_equal(written(one), written(other))
