import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.analysis.grid import TimeOrder
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import StreamDescription
from gazelive.live.pipeline.evidence import leading_of
from gazelive.live.pipeline.quality import ClockDrift
from gazelive.recordings.messages import image_rectangle_px

STREAM = StreamDescription(device="x", sampling_rate_hz=1000, eyes="R", screen=PAPER_SCREEN)


def flags(accepted, times):
    return np.ones(len(times), bool) if accepted.kept is None else accepted.kept


@given(
    st.lists(st.integers(0, 5000), max_size=60),
    st.lists(st.integers(0, 60), max_size=5).map(sorted),
)
def test_kept_samples_are_in_time_order_for_any_chunking(times, cuts):
    whole, cut = TimeOrder(1000.0), TimeOrder(1000.0)
    times = np.array(times, np.int64)
    accepted = whole.take(times)
    kept = times[flags(accepted, times)]
    assert (np.diff(kept) > 0).all()
    assert len(kept) + accepted.n_duplicate + accepted.n_backward == len(times)
    parts = [flags(cut.take(part), part) for part in np.split(times, cuts)]
    np.testing.assert_array_equal(np.concatenate(parts), flags(accepted, times))


def test_a_lone_time_far_ahead_is_left_out_and_a_long_pause_is_not():
    order = TimeOrder(1000.0)
    wild = [0, 1000, 10**12, 2000, 3000]
    assert order.take(np.array(wild)).kept.tolist() == [True, True, False, True, True]
    pause = np.array([50_000_000, 50_001_000, 50_002_000])
    assert order.take(pause).kept.tolist() == [False, True, True]


def test_a_clock_that_was_set_back_is_followed_after_half_a_second():
    order = TimeOrder(1000.0)
    order.take(np.arange(5_000_000, 6_000_000, 1000))
    accepted = order.take(np.arange(0, 2_000_000, 1000))
    assert accepted.was_set_back
    assert accepted.kept.sum() == 2000 - 499


def test_drift_is_estimated_from_the_quickest_arrivals():
    drift = ClockDrift()
    rng = np.random.default_rng(0)
    for tracker_s in np.arange(0, 300, 0.01):
        host_s = 1000 + tracker_s / (1 + 40e-6)
        drift.add(host_s + rng.exponential(0.002), round(tracker_s * 1e6))
    assert drift.ppm == pytest.approx(40, abs=3)


def test_a_fast_replay_has_no_drift():
    drift = ClockDrift()
    for tracker_s in range(3000):
        drift.add(tracker_s / 10, tracker_s * 1_000_000)
    assert drift.ppm is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!V IMGLOAD FILL a.png", (0, 0, 1920, 1080)),
        ("!V IMGLOAD CENTER a b.png 960 540 800 600", (560, 240, 800, 600)),
        ("!V IMGLOAD TOP_LEFT a.png 10 20.5 800 600", (10, 20.5, 800, 600)),
        ("!V IMGLOAD CENTER a.png 960 540", None),
        ("!V IMGLOAD CENTER 12.png", None),
        ("image 12.png", None),
    ],
)
def test_where_images_are(text, expected):
    assert image_rectangle_px(text, STREAM) == expected


@given(st.lists(st.sampled_from([-3.0, -2.0, -1.0, -0.5]), min_size=1, max_size=30))
def test_the_leading(values):
    log_p = np.array(values)
    everybody = sorted(range(len(values)), key=lambda k: (-values[k], k))
    for n in (1, len(values) // 2 + 1, len(values)):
        assert leading_of(log_p, n).tolist() == everybody[:n]
