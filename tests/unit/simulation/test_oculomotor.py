"""The simulated eye: laws of its trace, and truth that fits it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazelive.errors import ConfigError
from gazelive.gaze.samples import Eyes
from gazelive.simulation.oculomotor import GazeTrace, Oculomotor, OculomotorTraits

TRAITS = OculomotorTraits(blink_rate_per_min=40.0, dropout_rate_per_min=30.0)


def eye_of(
    seed: int = 3,
    rate_hz: float = 1000.0,
    eyes: Eyes = "L",
    traits: OculomotorTraits = TRAITS,
    start_us: int = 0,
) -> Oculomotor:
    return Oculomotor(
        traits,
        sampling_rate_hz=rate_hz,
        eyes=eyes,
        rng=np.random.default_rng(seed),
        x_deg=1.0,
        y_deg=-2.0,
        start_us=start_us,
    )


def assert_same(one: GazeTrace, other: GazeTrace) -> None:
    np.testing.assert_array_equal(one.gaze_deg, other.gaze_deg)
    np.testing.assert_array_equal(one.pupil, other.pupil)
    np.testing.assert_array_equal(one.tracker_time_us, other.tracker_time_us)
    assert one.saccades == other.saccades
    assert one.fixations == other.fixations
    assert one.blinks == other.blinks


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cuts=st.lists(st.integers(0, 700), min_size=1, max_size=8),
    rate_hz=st.sampled_from([250.0, 1000.0, 2000.0]),
    eyes=st.sampled_from(["L", "R", "LR"]),
)
def test_trace_does_not_depend_on_how_a_fixation_is_cut(
    seed: int, cuts: list[int], rate_hz: float, eyes: Eyes
) -> None:
    whole, sliced = eye_of(seed, rate_hz, eyes), eye_of(seed, rate_hz, eyes)
    for target in ((6.0, 1.0), (-3.0, 4.0)):
        whole.fixate(sum(cuts))
        for cut in cuts:
            sliced.fixate(cut)
        whole.saccade_to(*target)
        sliced.saccade_to(*target)
    whole.fixate(200)
    sliced.fixate(200)
    assert_same(whole.take(), sliced.take())


def test_taking_in_parts_gives_every_sample_and_event_once() -> None:
    whole, parts = eye_of(eyes="LR"), eye_of(eyes="LR")
    for eye in (whole, parts):
        for x_deg in (8.0, -5.0, 3.0):
            eye.fixate(900)
            eye.saccade_to(x_deg, 0.0)
        eye.fixate(1500)
    all_at_once = whole.take()
    taken = []
    while parts.n_pending:
        taken.append(parts.take(77))
    np.testing.assert_array_equal(
        all_at_once.gaze_deg, np.concatenate([trace.gaze_deg for trace in taken])
    )
    np.testing.assert_array_equal(
        all_at_once.pupil, np.concatenate([trace.pupil for trace in taken])
    )
    assert [trace.first_sample for trace in taken] == list(range(0, len(all_at_once), 77))
    assert {s for t in taken for s in t.saccades} == set(all_at_once.saccades)
    assert {f for t in taken for f in t.fixations} == set(all_at_once.fixations)
    assert {b for t in taken for b in t.blinks} == set(all_at_once.blinks)


def test_seeds_differ_and_a_seed_repeats() -> None:
    traces = []
    for seed in (1, 1, 2):
        eye = eye_of(seed)
        eye.fixate(300)
        eye.saccade_to(5.0, 0.0)
        traces.append(eye.take())
    assert_same(traces[0], traces[1])
    assert not np.array_equal(traces[0].gaze_deg[:250], traces[2].gaze_deg[:250], equal_nan=True)


def test_times_start_where_told_and_follow_the_rate() -> None:
    eye = eye_of(rate_hz=500.0, start_us=7_000_000)
    eye.fixate(3)
    assert eye.now_us == 7_006_000
    assert eye.take().tracker_time_us.tolist() == [7_000_000, 7_002_000, 7_004_000]


def test_impossible_rate_is_refused() -> None:
    with pytest.raises(ConfigError, match="samples a second"):
        eye_of(rate_hz=10.0)
