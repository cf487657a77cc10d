"""Scanpaths: live rows are the offline rows, fixations give what they can."""

import numpy as np
import pytest

from gazelive.analysis.grid import even_gaze
from gazelive.analysis.interval import analyse_gaze
from gazelive.analysis.live import LiveGaze
from gazelive.features.scanpath import (
    COLUMN_NAMES,
    LATE_COLUMN,
    MOVEMENT_AT,
    N_COLUMNS,
    Column,
    scanpath_of,
    scanpath_of_fixations,
    scanpath_row,
    scanpaths_of_fixations,
)
from gazelive.features.turns import Turn


def test_every_column_has_a_name():
    assert len(COLUMN_NAMES) == N_COLUMNS == len(set(COLUMN_NAMES))
    assert COLUMN_NAMES[Column.NEXT_FIXATION_S] == "next_fixation_s"


def test_rows_of_jumps(eye_steps):
    times, x, y = eye_steps
    path = scanpath_of(analyse_gaze(even_gaze(times, {"R": (x, y)}, 1000.0)), "a.jpg")
    assert path.saccades.shape == (6, N_COLUMNS)
    assert path.image == "a.jpg"
    assert path.seconds == pytest.approx(len(times) / 1000)
    rows = path.saccades
    np.testing.assert_allclose(rows[:, Column.AMPLITUDE_DEG], 5, atol=0.2)
    assert rows[0, Column.TURN] == Turn.NONE
    assert (rows[1:, Column.TURN] == Turn.REVERSE).all()
    np.testing.assert_array_equal(rows[1:, Column.PREVIOUS_DX_DEG], rows[:-1, Column.DX_DEG])
    np.testing.assert_array_equal(
        rows[1:, Column.PREVIOUS_FIXATION_S], rows[:-1, Column.NEXT_FIXATION_S]
    )
    assert np.isnan(rows[-1, Column.NEXT_FIXATION_S])
    assert len(path.fixations) == 7


def test_live_rows_are_offline_rows(eye_steps):
    times, x, y = eye_steps
    offline = scanpath_of(analyse_gaze(even_gaze(times, {"R": (x, y)}, 1000.0), "online"))
    rows = LiveGaze(1000.0, "R").push(times, {"R": (x, y)}).rows
    assert len(rows) == offline.n_saccades
    expected = offline.saccades.copy()
    expected[:, LATE_COLUMN] = np.nan
    for number, row in enumerate(rows):
        before = rows[number - 1] if number else None
        made = scanpath_row(row, before, ordinal=number, sampling_rate_hz=1000.0)
        np.testing.assert_array_equal(made, expected[number])


def test_a_saccade_beside_a_loss_has_no_dynamics(eye_steps):
    times, x, y = eye_steps
    x = x.copy()
    x[300 + 40 + 60 : 300 + 40 + 100] = np.nan
    analysed = analyse_gaze(even_gaze(times, {"R": (x, y)}, 1000.0))
    near = [saccade.near_loss for saccade in analysed.detection.saccades]
    rows = scanpath_of(analysed).saccades
    assert any(near)
    for row, flagged in zip(rows, near, strict=True):
        assert np.isfinite(row[Column.AMPLITUDE_DEG])
        assert np.isnan(row[Column.PEAK_VELOCITY_DEG_S]) == flagged
        assert np.isnan(row[MOVEMENT_AT]) == flagged


@pytest.mark.parametrize("rate_hz", [250.0, 500.0, 1000.0])
@pytest.mark.parametrize("n_lost", [1, 2, 3])
def test_a_loss_of_few_samples_masks_nothing(eye_steps, rate_hz, n_lost):
    every = round(1000 / rate_hz)
    times, x, y = (column[::every].copy() for column in eye_steps)
    whole = analyse_gaze(even_gaze(times, {"R": (x, y)}, rate_hz))
    for saccade in whole.features.onset:
        x[saccade - round(0.06 * rate_hz) :][:n_lost] = np.nan
    analysed = analyse_gaze(even_gaze(times, {"R": (x, y)}, rate_hz))
    assert all(saccade.near_loss for saccade in analysed.detection.saccades)
    rows, expected = scanpath_of(analysed).saccades, scanpath_of(whole).saccades
    np.testing.assert_array_equal(np.isnan(rows), np.isnan(expected))
    np.testing.assert_allclose(
        rows[:, Column.PEAK_VELOCITY_DEG_S], expected[:, Column.PEAK_VELOCITY_DEG_S], rtol=0.02
    )
    assert np.isnan(analysed.x_deg).any()  # bridged for the features alone


@pytest.mark.parametrize("rate_hz", [250.0, 500.0, 1000.0])
@pytest.mark.parametrize("seed", range(8))
def test_live_rows_are_offline_rows_where_samples_are_lost(eye_steps, seed, rate_hz):
    rng = np.random.default_rng(seed)
    every = round(1000 / rate_hz)
    times, x, y = (column[::every].copy() for column in eye_steps)
    for first in np.flatnonzero(rng.random(len(x)) < 0.01):
        x[first : first + rng.integers(1, 5)] = np.nan
    offline = scanpath_of(analyse_gaze(even_gaze(times, {"R": (x, y)}, rate_hz), "online"))
    rows = LiveGaze(rate_hz, "R").push(times, {"R": (x, y)}).rows
    for number, row in enumerate(rows):
        before = rows[number - 1] if number else None
        made = scanpath_row(row, before, ordinal=number, sampling_rate_hz=rate_hz)
        expected = offline.saccades[number].copy()
        expected[LATE_COLUMN] = np.nan
        np.testing.assert_array_equal(made, expected)


def test_fixations_give_amplitudes_durations_and_turns():
    path = scanpath_of_fixations(
        np.array([0.0, 3.0, 3.0, 3.0]),
        np.array([0.0, 0.0, 4.0, 4.0]),
        np.array([0.2, 0.3, 0.4, 0.5]),
    )
    rows = path.saccades
    np.testing.assert_allclose(rows[:2, Column.AMPLITUDE_DEG], [3, 4])
    assert np.isnan(rows[2, Column.AMPLITUDE_DEG])
    assert rows[:, Column.TURN].tolist() == [Turn.NONE, Turn.RIGHT, Turn.NONE]
    np.testing.assert_allclose(rows[:, Column.PREVIOUS_FIXATION_S], [0.2, 0.3, 0.4])
    np.testing.assert_allclose(rows[:2, Column.NEXT_FIXATION_S], [0.3, 0.4])
    assert np.isnan(rows[2, Column.NEXT_FIXATION_S])
    assert np.isnan(rows[:, Column.PEAK_VELOCITY_DEG_S]).all()
    assert path.seconds == pytest.approx(1.4)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_fixations_have_no_saccade(n):
    path = scanpath_of_fixations(np.zeros(n), np.zeros(n), np.full(n, 0.2))
    assert path.saccades.shape == (0, N_COLUMNS)
    assert path.fixations.shape == (n, 3)


def test_many_scanpaths_at_once_are_those_one_by_one():
    rng = np.random.default_rng(0)
    n_fixations = np.array([5, 1, 0, 2, 40, 3, 0])
    starts = np.concatenate(([0], np.cumsum(n_fixations)))
    x, y = rng.normal(0, 6, (2, starts[-1])).round(1)
    x[1:3], y[1:3] = 1.0, 2.0  # two fixations at one place
    durations_s = rng.gamma(5, 0.05, starts[-1])
    images = [f"{i}.jpg" for i in range(len(n_fixations))]
    together = scanpaths_of_fixations(x, y, durations_s, starts, images)
    for number, path in enumerate(together):
        own = slice(starts[number], starts[number + 1])
        alone = scanpath_of_fixations(x[own], y[own], durations_s[own], images[number])
        np.testing.assert_array_equal(path.saccades, alone.saccades)
        np.testing.assert_array_equal(path.fixations, alone.fixations)
        assert (path.seconds, path.image) == (alone.seconds, alone.image)


def test_returns_are_distances_to_earlier_fixations():
    path = scanpath_of_fixations(
        np.array([0.0, 3.0, 3.0, 0.0]), np.array([0.0, 0.0, 4.0, 1.0]), np.full(4, 0.2)
    )
    assert np.isnan(path.saccades[0, [Column.BACK_DEG, Column.NEAREST_DEG]]).all()
    np.testing.assert_allclose(path.saccades[1:, Column.BACK_DEG], [5.0, np.hypot(3, 1)])
    np.testing.assert_allclose(path.saccades[1:, Column.NEAREST_DEG], [5.0, 1.0])
    np.testing.assert_allclose(path.saccades[:, Column.ONSET_S], [0.2, 0.4, 0.6])
