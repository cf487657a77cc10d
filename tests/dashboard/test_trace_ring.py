import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.dashboard.state.trace_ring import KEPT_S, TraceRing
from gazelive.errors import TransportError
from gazelive.gaze.documents import GazeTrace

from .sent import trace

cuts = st.lists(st.integers(1, 400), min_size=1, max_size=60)


def filled(values, sizes, first_us=0):
    ring, at = TraceRing(), 0
    for size in sizes:
        part = values[at : at + size]
        if len(part):
            ring.append(trace(first_us + 1000 * at, part, speed=np.abs(part)))
        at += size
    return ring


@given(cuts, st.integers(0, 2**31), st.integers(10, 800))
def test_a_window_does_not_depend_on_how_the_samples_were_cut(sizes, seed, columns):
    values = np.random.default_rng(seed).normal(0, 5, sum(sizes)).astype("<f4")
    cut, whole = filled(values, sizes), filled(values, [len(values)])
    for name in ("times_s", "x_deg", "speed_deg_s"):
        one = getattr(cut.window(3.0, columns), name)
        np.testing.assert_array_equal(one, getattr(whole.window(3.0, columns), name))


@given(st.integers(1, 60_000))
def test_memory_is_bounded_and_the_newest_samples_are_kept(n):
    values = np.arange(n, dtype="<f4")
    ring = filled(values, [777] * (n // 777 + 1))
    times_us, kept = ring.newest(KEPT_S)
    assert len(ring) == min(n, round(1000 * KEPT_S))
    assert kept[0, -1] == n - 1
    assert ring.newest_us == times_us[-1] == 1000 * (n - 1)
    np.testing.assert_array_equal(kept[0], values[-len(times_us) :])


@given(st.integers(0, 2**31), st.integers(20, 300))
def test_thinning_keeps_the_extremes_and_few_points(seed, columns):
    values = np.random.default_rng(seed).normal(0, 5, 5000).astype("<f4")
    window = filled(values, [5000]).window(5.0, columns)
    assert window.x_deg.max() == values.max()
    assert window.x_deg.min() == values.min()
    assert len(window.times_s) <= max(2 * (columns + 2), 4 * columns)
    assert window.times_s.max() <= 0


def test_drawn_points_do_not_flicker_as_they_move():
    values = np.random.default_rng(3).normal(0, 5, 9000).astype("<f4")
    early = filled(values[:8000], [8000])
    late = filled(values, [9000])
    before = dict(zip(_absolute(early, 7_999_000), early.window(5, 100).x_deg[1:-1], strict=False))
    after = dict(zip(_absolute(late, 8_999_000), late.window(5, 100).x_deg[1:-1], strict=False))
    shared = sorted(set(before) & set(after))[2:-2]
    assert len(shared) > 50
    assert [before[t] for t in shared] == [after[t] for t in shared]


def _absolute(ring, newest_us):
    return [round(newest_us + 1e6 * t) for t in ring.window(5, 100).times_s[1:-1]]


def test_a_gap_in_time_breaks_the_line_and_lost_samples_stay_lost():
    ring = TraceRing()
    ring.append(trace(0, [1, 1, np.nan, 1]))
    ring.append(trace(50_000, [2, 2]))
    _, values = ring.newest(1)
    np.testing.assert_array_equal(values[0], [1, 1, np.nan, 1, np.nan, 2, 2])


def test_a_slope_is_drawn_as_a_slope():
    ramp = np.concatenate((np.linspace(0, 9, 2500), np.linspace(9, 0, 2500)))
    drawn = filled(ramp, [5000]).window(5.0, 100).x_deg
    top = int(np.argmax(drawn))
    assert (np.diff(drawn[:top]) >= 0).all()
    assert (np.diff(drawn[top + 1 :]) <= 0).all()


def test_a_gap_is_visible_at_any_column_width():
    ring = TraceRing()
    ring.append(trace(0, np.ones(1000)))
    ring.append(trace(3_000_000, np.ones(1000)))
    for columns in (20, 100, 1000):
        window = ring.window(5.0, columns)
        assert np.isnan(window.x_deg).any()
        assert (np.diff(window.times_s) >= 0).all()


def test_a_column_is_lost_only_if_all_of_it_is():
    values = np.ones(1000, "<f4")
    values[100:200] = np.nan
    values[500] = np.nan
    window = filled(values, [1000]).window(1.0, 100)
    assert 18 <= np.isnan(window.x_deg).sum() <= 20


def test_time_that_runs_backwards_starts_over():
    ring = TraceRing()
    ring.append(trace(5_000_000, [1, 2, 3]))
    ring.append(trace(1_000_000, [4, 5]))
    times_us, values = ring.newest(10)
    assert times_us.tolist() == [1_000_000, 1_001_000]
    assert values[0].tolist() == [4, 5]


def test_another_rate_starts_over():
    ring = TraceRing()
    ring.append(trace(0, [1, 2, 3]))
    ring.append(trace(10_000, [4, 5], interval_us=500.0))
    assert ring.newest(10)[1][0].tolist() == [4, 5]


def test_an_empty_ring_has_an_empty_window():
    window = TraceRing().window(5, 100)
    assert len(window.times_s) == len(window.x_deg) == 0
    assert TraceRing().newest_us is None


@pytest.mark.parametrize(
    ("x", "interval_us"), [(b"\0" * 8, 1000.0), (b"\0" * 5, 1000.0), (b"\0" * 4, 0.0)]
)
def test_an_invalid_trace_is_refused(x, interval_us):
    bad = GazeTrace(
        first_us=0, interval_us=interval_us, x_deg=x, y_deg=b"\0" * 4, speed_deg_s=b"\0" * 4
    )
    with pytest.raises(TransportError, match="invalid gaze trace"):
        TraceRing().append(bad)
