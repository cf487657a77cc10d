"""Kinematics of movements whose true values are known in closed form."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.features.derivatives import identity_filter, short_filter
from gazelive.features.identity_kernels import (
    After,
    Movement,
    Texture,
    after_features,
    movement_features,
    texture_features,
)
from gazelive.features.kinematics_kernels import N_KINEMATICS, Kinematics, saccade_kinematics

RATES = [250.0, 500.0, 1000.0, 2000.0]
BEFORE_S = 0.3


def minimum_jerk(rate_hz, amplitude_deg, duration_s, angle_deg=0.0, after_s=0.3):
    """Return x, y, onset and offset of a straight minimum-jerk movement between two rests."""
    n = round((BEFORE_S + duration_s + after_s) * rate_hz)
    tau = np.clip((np.arange(n) / rate_hz - BEFORE_S) / duration_s, 0, 1)
    path = amplitude_deg * (10 * tau**3 - 15 * tau**4 + 6 * tau**5)
    angle = np.radians(angle_deg)
    onset, offset = round(BEFORE_S * rate_hz), round((BEFORE_S + duration_s) * rate_hz)
    return path * np.cos(angle), -path * np.sin(angle), onset, offset


def kinematics_of(x, y, onset, offset, rate_hz):
    filter_, row = short_filter(rate_hz), np.empty(N_KINEMATICS)
    saccade_kinematics(
        x, y, onset, offset, rate_hz, filter_.velocity_weights, filter_.acceleration_weights, row
    )
    return row


def movement_of(x, y, onset, offset, rate_hz):
    filter_, row = identity_filter(rate_hz), np.empty(len(Movement))
    step = round(0.004 * rate_hz)
    movement_features(
        x,
        y,
        onset,
        offset,
        rate_hz,
        step,
        filter_.velocity_weights,
        filter_.acceleration_weights,
        row,
    )
    return row


@pytest.mark.parametrize("rate_hz", RATES)
@pytest.mark.parametrize("angle_deg", [0, 30, 135, -90])
def test_a_minimum_jerk_saccade_has_its_closed_form_kinematics(rate_hz, angle_deg):
    amplitude_deg, duration_s = 10.0, 0.048
    row = kinematics_of(*minimum_jerk(rate_hz, amplitude_deg, duration_s, angle_deg), rate_hz)
    peak = 1.875 * amplitude_deg / duration_s
    acceleration = 5.7735 * amplitude_deg / duration_s**2
    assert row[Kinematics.AMPLITUDE_DEG] == pytest.approx(amplitude_deg, rel=1e-9)
    assert row[Kinematics.DIRECTION_DEG] == pytest.approx(angle_deg, abs=1e-6)
    assert row[Kinematics.DURATION_MS] == pytest.approx(48 + 1000 / rate_hz)
    assert row[Kinematics.PEAK_VELOCITY_DEG_S] == pytest.approx(peak, rel=0.04)
    assert row[Kinematics.PEAK_ACCELERATION_DEG_S2] == pytest.approx(acceleration, rel=0.12)
    assert row[Kinematics.PEAK_DECELERATION_DEG_S2] == pytest.approx(acceleration, rel=0.12)
    assert row[Kinematics.VELOCITY_SKEWNESS] == pytest.approx(0, abs=0.02)
    assert row[Kinematics.CURVATURE] == pytest.approx(0, abs=1e-9)
    ratio = row[Kinematics.RATIO_Y if angle_deg == -90 else Kinematics.RATIO_X]
    assert ratio == pytest.approx(1, rel=0.1)


def test_components_too_small_are_masked():
    row = kinematics_of(*minimum_jerk(1000.0, 5.0, 0.04, angle_deg=0), 1000.0)
    for column in (Kinematics.RATIO_Y, Kinematics.PEAK_VELOCITY_Y_DEG_S):
        assert np.isnan(row[column])
    assert np.isfinite(row[Kinematics.RATIO_X])


def test_samples_lost_beside_the_saccade_mask_its_dynamics_but_not_its_amplitude():
    x, y, onset, offset = minimum_jerk(1000.0, 5.0, 0.04)
    x[offset + 3] = np.nan
    row = kinematics_of(x, y, onset, offset, 1000.0)
    assert row[Kinematics.AMPLITUDE_DEG] == pytest.approx(5)
    assert np.isnan(row[Kinematics.PEAK_VELOCITY_DEG_S])
    assert np.isnan(movement_of(x, y, onset, offset, 1000.0)).all()


def test_a_saccade_at_the_very_edge_of_the_data_is_masked_not_read_beyond_it():
    x, y, onset, offset = minimum_jerk(1000.0, 5.0, 0.04)
    row = kinematics_of(x[onset:].copy(), y[onset:].copy(), 0, offset - onset, 1000.0)
    assert np.isnan(row[Kinematics.PEAK_VELOCITY_DEG_S])
    row = kinematics_of(x[: offset + 1].copy(), y[: offset + 1].copy(), onset, offset, 1000.0)
    assert np.isnan(row[Kinematics.PEAK_VELOCITY_DEG_S])


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.floats(0, 2))
def test_whatever_the_data_no_infinity_comes_out(seed, n_inside, noise_deg):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, noise_deg, (2, 400))
    lost = rng.random(400) < rng.choice([0, 0.01])
    x[lost] = y[lost] = np.nan
    onset = 150
    rows = [
        kinematics_of(x, y, onset, onset + n_inside, 1000.0),
        movement_of(x, y, onset, onset + n_inside, 1000.0),
    ]
    assert not np.isinf(np.concatenate(rows)).any()


def test_a_curved_path_bends_clockwise_with_a_positive_sign():
    x, y, onset, offset = minimum_jerk(1000.0, 10.0, 0.05)
    bump = 0.5 * np.sin(np.pi * np.clip((np.arange(len(x)) - onset) / (offset - onset), 0, 1))
    row = kinematics_of(x, y + bump, onset, offset, 1000.0)  # downwards while going right
    assert row[Kinematics.CURVATURE] == pytest.approx(0.05, rel=0.01)


def test_identity_features_agree_across_rates():
    rows = {
        rate: movement_of(*minimum_jerk(rate, 8.0, 0.048, angle_deg=20), rate) for rate in RATES
    }
    # compared with 1000 Hz: the 28 ms bandwidth makes the rate all but disappear
    for column in (
        Movement.PEAK_VELOCITY,
        Movement.PEAK_ACCELERATION,
        Movement.PEAK_DECELERATION,
        Movement.MEAN_ACCELERATION,
        Movement.PEAK_VELOCITY_X,
        Movement.VIGOR_X,
    ):
        for rate in RATES:
            assert rows[rate][column] == pytest.approx(rows[1000.0][column], rel=0.1), column.name


@pytest.mark.parametrize("rate_hz", RATES)
def test_an_oscillation_after_the_saccade_is_measured(rate_hz):
    x, y, onset, offset = minimum_jerk(rate_hz, 8.0, 0.048)
    t = (np.arange(len(x)) - offset) / rate_hz
    ringing = np.where(t > 0, 0.4 * np.exp(-t / 0.015) * np.sin(2 * np.pi * 25 * t), 0)
    filter_, still, rings = identity_filter(rate_hz), np.empty(len(After)), np.empty(len(After))
    step = round(0.004 * rate_hz)
    after_features(x, y, onset, offset, step, filter_.velocity_weights, still)
    after_features(x + ringing, y, onset, offset, step, filter_.velocity_weights, rings)
    assert still[After.OSCILLATION_RANGE] == pytest.approx(0.001, abs=1e-6)
    assert rings[After.OSCILLATION_RANGE] > 0.2
    assert rings[After.REVERSE_VELOCITY] > still[After.REVERSE_VELOCITY] + 5
    assert rings[After.OVERSHOOT] > 0.01
    after_features(
        x[: offset + 10], y[: offset + 10], onset, offset, step, filter_.velocity_weights, rings
    )
    assert np.isnan(rings).all()


@pytest.mark.parametrize("rate_hz", RATES)
def test_a_drifting_fixation_has_its_slope_and_spread(rate_hz):
    rng = np.random.default_rng(1)
    n = round(0.4 * rate_hz)
    t = np.arange(n) / rate_hz
    x, y = 0.8 * t + rng.normal(0, 1e-4, n), -0.6 * t + rng.normal(0, 1e-4, n)
    row, step = np.empty(len(Texture)), round(0.004 * rate_hz)
    texture_features(x, y, n - 1, n - 1, rate_hz, step, row)
    assert row[Texture.DURATION] == pytest.approx(0.4 - 2 / rate_hz)
    assert row[Texture.SLOPE_X] == pytest.approx(0.8, rel=0.01)
    assert row[Texture.SLOPE_Y] == pytest.approx(-0.6, rel=0.01)
    assert row[Texture.DRIFT_SPEED] == pytest.approx(1.01, rel=0.01)
    assert row[Texture.DETRENDED_SD_X] < row[Texture.SD_X] / 10
    assert np.isfinite(row).all()


def test_a_fixation_with_a_gap_or_without_a_beginning_is_masked():
    x, y = np.zeros(400), np.zeros(400)
    row = np.empty(len(Texture))
    texture_features(x, y, 0, 300, 1000.0, 4, row)
    assert np.isnan(row).all()
    x[200] = np.nan
    texture_features(x, y, 290, 300, 1000.0, 4, row)
    assert np.isnan(np.delete(row, Texture.DURATION)).all()
    texture_features(x, y, 50, 300, 1000.0, 4, row)
    assert row[Texture.DURATION] == pytest.approx(0.049)
    assert np.isnan(row[Texture.SD_X])


@pytest.mark.parametrize("rate_hz", [60.0, 250.0, 500.0, 1000.0, 2000.0])
def test_weights_are_those_of_scipy(rate_hz):
    from scipy.signal import savgol_coeffs

    for made in (short_filter(rate_hz), identity_filter(rate_hz)):
        for derivative, weights in enumerate(made.weights, start=1):
            expected = savgol_coeffs(
                2 * made.half_width + 1, 2, deriv=derivative, delta=1 / rate_hz, use="dot"
            )
            np.testing.assert_allclose(weights, expected, rtol=1e-12, atol=0)
