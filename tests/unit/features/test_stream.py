"""The law: rows that come live equal the rows of the whole stretch, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.features.saccades import between_ends, saccade_features
from gazelive.features.stream import FeatureStream
from gazelive.gaze.events import Saccade

RATES = [250.0, 500.0, 1000.0, 2000.0]
CONFIRMED_AFTER_MS = 8.0


def a_stretch(seed, rate_hz, n_saccades=12, lost_every=4, long_fixation_s=0.0):
    """Return noisy steps with made-up saccades, some with losses between them."""
    rng = np.random.default_rng(seed)
    x, y, onset, offset = [np.zeros(round(0.1 * rate_hz))], [np.zeros(round(0.1 * rate_hz))], [], []
    n = len(x[0])
    for k in range(n_saccades):
        moving = round(rng.uniform(0.02, 0.06) * rate_hz)
        tau = np.linspace(0, 1, moving)
        path = 10 * tau**3 - 15 * tau**4 + 6 * tau**5
        step_x, step_y = rng.normal(0, 5, 2)
        resting = round((rng.uniform(0.08, 0.5) + (long_fixation_s if k == 6 else 0)) * rate_hz)
        onset.append(n)
        offset.append(n + moving - 1)
        x += [x[-1][-1] + step_x * path, np.full(resting, x[-1][-1] + step_x)]
        y += [y[-1][-1] + step_y * path, np.full(resting, y[-1][-1] + step_y)]
        if lost_every and k % lost_every == 1:
            lost = rng.integers(1, max(2, round(0.05 * rate_hz)))
            where = rng.integers(resting // 2, max(resting // 2 + 1, resting - lost))
            x[-1][where : where + lost] = np.nan
        n += moving + resting
    x, y = np.concatenate(x), np.concatenate(y)
    noise = rng.normal(0, 0.02, (2, n))
    return x + noise[0], y + noise[1], np.array(onset), np.array(offset)


def reported(x, y, onset, offset):
    """Return saccades as a detector reports them, sample k at k ms."""
    return [
        Saccade(
            eye="R",
            onset_us=int(first) * 1000,
            offset_us=int(last) * 1000,
            start_x_deg=x[first],
            start_y_deg=y[first],
            end_x_deg=x[last],
            end_y_deg=y[last],
            peak_velocity_deg_s=100.0,
            confidence=1.0,
            detection_delay_ms=CONFIRMED_AFTER_MS,
        )
        for first, last in zip(onset, offset, strict=True)
    ]


def rows_live(x, y, onset, offset, rate_hz, cuts):
    times = np.arange(len(x)) * 1000
    stream, rows = FeatureStream(rate_hz), []
    pending = reported(x, y, onset, offset)
    delay_us = round(CONFIRMED_AFTER_MS * rate_hz / 1000) * 1000
    for first, last in zip([0, *cuts], [*cuts, len(x)], strict=True):
        rows += stream.add_samples(times[first:last], x[first:last], y[first:last])
        while pending and last and pending[0].offset_us + delay_us < times[last - 1]:
            rows += stream.add_saccade(pending.pop(0))
    assert not pending
    return rows


def features_of(x, y, onset, offset, rate_hz):
    """Return the features of the whole stretch, its displacements those that are reported."""
    features = saccade_features(x, y, onset, offset, rate_hz)
    return between_ends(features, reported(x, y, onset, offset))


def assert_same(rows, whole):
    assert [row.onset for row in rows] == whole.onset.tolist()
    for i, row in enumerate(rows):
        for name in ("kinematics", "movement", "after", "texture"):
            np.testing.assert_array_equal(getattr(row, name), getattr(whole, name)[i], err_msg=name)
        assert row.turn == whole.turn[i]
        np.testing.assert_equal(row.previous_fixation_ms, whole.previous_fixation_ms[i])
        assert row.lost_before == whole.lost_before[i]


@given(
    st.integers(0, 10_000),
    st.sampled_from(RATES),
    st.lists(st.floats(0, 1), max_size=30),
)
def test_rows_do_not_depend_on_how_samples_are_cut(seed, rate_hz, fractions):
    x, y, onset, offset = a_stretch(seed, rate_hz, n_saccades=8)
    cuts = sorted(int(f * len(x)) for f in fractions)
    whole = features_of(x, y, onset, offset, rate_hz)
    assert_same(rows_live(x, y, onset, offset, rate_hz, cuts), whole)


@pytest.mark.parametrize("rate_hz", [250.0, 1000.0])
def test_a_fixation_longer_than_the_memory_changes_nothing(rate_hz):
    x, y, onset, offset = a_stretch(3, rate_hz, long_fixation_s=7.0)
    whole = features_of(x, y, onset, offset, rate_hz)
    every_ten_ms = list(range(0, len(x), round(rate_hz / 100)))[1:]
    assert_same(rows_live(x, y, onset, offset, rate_hz, every_ten_ms), whole)
    assert np.isfinite(whole.texture[7]).all()


def test_a_long_loss_breaks_the_chain_and_a_short_one_does_not():
    x, y, onset, offset = a_stretch(1, 1000.0, lost_every=0)
    assert saccade_features(x, y, onset, offset, 1000.0).follows_previous[1:].all()
    middle = (offset[3] + onset[4]) // 2
    x[middle : middle + 5] = np.nan
    assert saccade_features(x, y, onset, offset, 1000.0).follows_previous[4]
    x[middle : middle + 12] = np.nan
    features = saccade_features(x, y, onset, offset, 1000.0)
    assert features.follows_previous.tolist() == [k not in (0, 4) for k in range(12)]
    assert features.turn[4] == -1
    assert np.isnan(features.previous_fixation_ms[4])
    assert np.isnan(features.next_fixation_ms[3])
    assert np.isnan(features.next_fixation_ms[-1])


def test_a_retracted_saccade_leaves_no_trace():
    x, y, onset, offset = a_stretch(2, 1000.0, n_saccades=4, lost_every=0)
    times, stream = np.arange(len(x)) * 1000, FeatureStream(1000.0)
    saccades = reported(x, y, onset, offset)
    doubtful = int(offset[1]) + 10
    rows = stream.add_samples(times[:doubtful], x[:doubtful], y[:doubtful])
    rows += stream.add_saccade(saccades[0]) + stream.add_saccade(saccades[1])
    stream.retract_saccade(saccades[1].onset_us)
    rows += stream.add_samples(times[doubtful:], x[doubtful:], y[doubtful:])
    rows += stream.add_saccade(saccades[2])
    assert_same(rows, features_of(x, y, onset[[0, 2]], offset[[0, 2]], 1000.0))


def test_a_saccade_retracted_after_its_row_leaves_no_trace_in_later_ones():
    x, y, onset, offset = a_stretch(2, 1000.0, n_saccades=4, lost_every=0)
    stream, saccades = FeatureStream(1000.0), reported(x, y, onset, offset)
    stream.add_samples(np.arange(len(x)) * 1000, x, y)
    rows = [row for saccade in saccades[:2] for row in stream.add_saccade(saccade)]
    stream.retract_saccade(saccades[1].onset_us)
    rows += stream.add_saccade(saccades[2])
    del rows[1]
    assert_same(rows, features_of(x, y, onset[[0, 2]], offset[[0, 2]], 1000.0))


def test_no_saccades_is_an_empty_table():
    features = saccade_features(np.zeros(50), np.zeros(50), np.array([]), np.array([]), 1000.0)
    assert len(features) == 0
    assert features.vigor_x_deg_s().shape == (0,)
