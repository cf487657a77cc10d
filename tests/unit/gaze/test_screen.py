import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.errors import ConfigError
from gazelive.gaze.screen import PAPER_SCREEN, AngularResolution, Geometry, ScreenGeometry

positive_mm = st.floats(50, 3000)


@st.composite
def screens(draw):
    width_px = draw(st.integers(320, 7680))
    height_px = draw(st.integers(200, 4320))
    pixel_mm = draw(st.floats(0.05, 1.0))
    aspect = draw(st.floats(0.6, 1.8))
    return ScreenGeometry(
        width_px=width_px,
        height_px=height_px,
        width_mm=width_px * pixel_mm * aspect,
        height_mm=height_px * pixel_mm,
        eye_distance_mm=draw(st.floats(200, 2000)),
        eye_x_mm=draw(st.floats(-300, 300)),
        eye_y_mm=draw(st.floats(-300, 300)),
    )


@given(screens(), st.floats(-1, 2), st.floats(-1, 2))
def test_pixels_to_degrees_and_back_returns(screen, x_fraction, y_fraction):
    x_px, y_px = x_fraction * screen.width_px, y_fraction * screen.height_px
    back_x, back_y = screen.deg_to_px(*screen.px_to_deg(x_px, y_px))
    assert back_x == pytest.approx(x_px, abs=1e-6)
    assert back_y == pytest.approx(y_px, abs=1e-6)


@given(st.floats(5, 200), st.floats(5, 200), st.floats(-5000, 5000), st.floats(-5000, 5000))
def test_resolution_to_degrees_and_back_returns(x_res, y_res, x_px, y_px):
    geometry = AngularResolution(
        x_px_per_deg=x_res, y_px_per_deg=y_res, centre_x_px=960, centre_y_px=540
    )
    back_x, back_y = geometry.deg_to_px(*geometry.px_to_deg(x_px, y_px))
    assert back_x == pytest.approx(x_px, abs=1e-6)
    assert back_y == pytest.approx(y_px, abs=1e-6)


def test_the_papers_screen_is_48_by_28_degrees():
    width_deg, height_deg = PAPER_SCREEN.size_deg
    assert width_deg == pytest.approx(48.1, abs=0.05)
    assert height_deg == pytest.approx(28.2, abs=0.05)


def test_the_papers_image_is_38_by_26_degrees():
    left, top = (1920 - 1500) / 2 - 0.5, (1080 - 1000) / 2 - 0.5
    (x0, x1), (y0, y1) = PAPER_SCREEN.px_to_deg([left, left + 1500], [top, top + 1000])
    assert x1 - x0 == pytest.approx(38.4, abs=0.05)
    assert y1 - y0 == pytest.approx(26.2, abs=0.05)


def test_straight_ahead_is_the_centre_and_y_grows_downwards():
    x, y = PAPER_SCREEN.px_to_deg([959.5, 1919], [539.5, 1079])
    assert x[0] == pytest.approx(0, abs=1e-12)
    assert y[0] == pytest.approx(0, abs=1e-12)
    assert x[1] > 0
    assert y[1] > 0


def test_an_eye_left_of_the_centre_sees_the_centre_to_its_right():
    screen = ScreenGeometry(
        width_px=1920,
        height_px=1080,
        width_mm=535,
        height_mm=301,
        eye_distance_mm=600,
        eye_x_mm=-30,
    )
    x, _ = screen.px_to_deg(959.5, 539.5)
    assert x == pytest.approx(np.degrees(np.arctan(30 / 600)))


def test_missing_stays_missing():
    x, y = PAPER_SCREEN.px_to_deg(np.nan, 3.0)
    assert np.isnan(x)
    assert np.isfinite(y)


@pytest.mark.parametrize(
    "name", ["width_px", "height_px", "width_mm", "height_mm", "eye_distance_mm"]
)
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_impossible_sizes_are_refused_by_name(name, value):
    sizes = dict(width_px=1920, height_px=1080, width_mm=535, height_mm=301, eye_distance_mm=600)
    with pytest.raises(ConfigError, match=name):
        ScreenGeometry(**(sizes | {name: value}))


def test_swapped_sizes_are_refused():
    with pytest.raises(ConfigError, match=r"width_mm, height_mm: .*pixel.*impossible"):
        ScreenGeometry(
            width_px=1920, height_px=1080, width_mm=301, height_mm=535, eye_distance_mm=600
        )


def test_both_geometries_fill_the_protocol():
    assert isinstance(PAPER_SCREEN, Geometry)
    assert isinstance(AngularResolution(x_px_per_deg=35, y_px_per_deg=35), Geometry)
