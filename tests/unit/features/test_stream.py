"""The law: rows that come live equal the rows of the whole stretch, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazelive.features.saccade_features import saccade_features
from gazelive.features.stream import FeatureStream, Stage

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


def rows_live(x, y, onset, offset, rate_hz, cuts):
    times = np.arange(len(x)) * 1000
    stream, seen, pending = FeatureStream(rate_hz), {}, list(zip(onset, offset, strict=True))
    delay = round(CONFIRMED_AFTER_MS * rate_hz / 1000)
    updates = []
    for first, last in zip([0, *cuts], [*cuts, len(x)], strict=True):
        updates += stream.add_samples(times[first:last], x[first:last], y[first:last])
        while pending and pending[0][1] + delay < stream.n_samples:
            updates += stream.add_saccade(*map(int, pending.pop(0)))
            updates += stream.add_samples(times[:0], x[:0], y[:0])
    for saccade in pending:
        updates += stream.add_saccade(*map(int, saccade))
    updates += stream.flush()
    for stage, row in updates:
        seen.setdefault(row.number, []).append(stage)
    assert all(set(stages) == set(Stage) and len(stages) == 3 for stages in seen.values())
    rows = {row.number: row for _, row in updates}
    return [rows[k] for k in sorted(rows)]


def assert_same(rows, whole):
    assert len(rows) == len(whole)
    for i, row in enumerate(rows):
        for name in ("kinematics", "movement", "after", "texture"):
            np.testing.assert_array_equal(getattr(row, name), getattr(whole, name)[i], err_msg=name)
        assert row.turn == whole.turn[i]
        np.testing.assert_equal(row.previous_fixation_ms, whole.previous_fixation_ms[i])
        np.testing.assert_equal(row.next_fixation_ms, whole.next_fixation_ms[i])


@given(
    st.integers(0, 10_000),
    st.sampled_from(RATES),
    st.lists(st.floats(0, 1), max_size=30),
)
def test_rows_do_not_depend_on_how_samples_are_cut(seed, rate_hz, fractions):
    x, y, onset, offset = a_stretch(seed, rate_hz, n_saccades=8)
    cuts = sorted(int(f * len(x)) for f in fractions)
    whole = saccade_features(x, y, onset, offset, rate_hz)
    assert_same(rows_live(x, y, onset, offset, rate_hz, cuts), whole)


@pytest.mark.parametrize("rate_hz", [250.0, 1000.0])
def test_a_fixation_longer_than_the_memory_changes_nothing(rate_hz):
    x, y, onset, offset = a_stretch(3, rate_hz, long_fixation_s=7.0)
    whole = saccade_features(x, y, onset, offset, rate_hz)
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
    times, stream = np.arange(len(x)), FeatureStream(1000.0)
    doubtful = int(offset[1]) + 10
    updates = stream.add_samples(times[:doubtful], x[:doubtful], y[:doubtful])
    assert stream.index_at(123) == 123
    updates += stream.add_saccade(int(onset[0]), int(offset[0]))
    updates += stream.add_saccade(int(onset[1]), int(offset[1]))
    stream.retract_saccade(int(onset[1]))
    updates += stream.add_samples(times[doubtful:], x[doubtful:], y[doubtful:])
    updates += stream.add_saccade(int(onset[2]), int(offset[2])) + stream.flush()
    shaped = [row for stage, row in updates if stage is Stage.SHAPED]
    assert [row.onset for row in shaped] == [onset[0], onset[2]]
    whole = saccade_features(x, y, onset[[0, 2]], offset[[0, 2]], 1000.0)
    assert [row.turn for row in shaped] == whole.turn.tolist()
    followed = [row for stage, row in updates if stage is Stage.FOLLOWED]
    assert [row.onset for row in followed] == [onset[0], onset[0], onset[2]]
    assert shaped[0].next_fixation_ms == whole.next_fixation_ms[0]


def test_no_saccades_is_an_empty_table():
    features = saccade_features(np.zeros(50), np.zeros(50), np.array([]), np.array([]), 1000.0)
    assert len(features) == 0
    assert features.vigor_x_deg_s().shape == (0,)
