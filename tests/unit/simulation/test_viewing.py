"""Simulated viewer: reacts, fixates, explores, independent of chunks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.simulation.people import random_stream, session_traits
from gazelive.simulation.truth import TrueSaccade
from gazelive.simulation.viewer import ViewerSimulation
from gazelive.stimuli.saliency import generated_saliency

RATE_HZ = 500.0
SALIENCY = generated_saliency("test", 0, (32, 48))
RECT_PX = (210.0, 40.0, 1500.0, 1000.0)


def a_viewer(name: str = "v001", session: int = 1, **changes: object) -> ViewerSimulation:
    usual: dict[str, object] = {
        "seed": 0,
        "session": session,
        "sampling_rate_hz": RATE_HZ,
        "eyes": "R",
        "screen": PAPER_SCREEN,
    }
    return ViewerSimulation(name, **(usual | changes))  # type: ignore[arg-type]


def act(viewer: ViewerSimulation, action: str) -> None:
    if action == "cross":
        viewer.show_cross(400.0, 300.0)
    elif action == "image":
        viewer.show_image(SALIENCY, RECT_PX)
    else:
        viewer.hide()


def mains(saccades: list[TrueSaccade]) -> list[TrueSaccade]:
    return [saccade for saccade in saccades if saccade.kind == "main"]


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from(["cross", "image", "hide"]), st.integers(1, 500)),
        min_size=1,
        max_size=5,
    ),
    st.lists(st.integers(1, 200), min_size=1, max_size=20),
)
def test_samples_do_not_depend_on_the_chunks(
    script: list[tuple[str, int]], chunks: list[int]
) -> None:
    whole, cut = a_viewer(), a_viewer()
    events: list[list[object]] = [[], []]
    samples: list[list[np.ndarray]] = [[], []]
    turn = 0
    for action, n_samples in script:
        act(whole, action)
        act(cut, action)
        parts = [n_samples]
        n_left = n_samples
        sizes = []
        while n_left:
            size = min(chunks[turn % len(chunks)], n_left)
            turn += 1
            sizes.append(size)
            n_left -= size
        for which, (viewer, lengths) in enumerate(((whole, parts), (cut, sizes))):
            for length in lengths:
                made, trace = viewer.advance(length)
                assert len(made) == length
                samples[which].append(made)
                events[which] += [*trace.saccades, *trace.fixations, *trace.blinks]
    assert np.concatenate(samples[0]).tobytes() == np.concatenate(samples[1]).tobytes()
    assert sorted(map(repr, events[0])) == sorted(map(repr, events[1]))


def test_a_cross_is_looked_at_after_the_reaction_and_held() -> None:
    viewer = a_viewer()
    viewer.advance(400)
    viewer.show_cross(500.0, 800.0)
    _, trace = viewer.advance(750)
    shown_us = 400 / RATE_HZ * 1e6
    to_cross = [s for s in mains(list(trace.saccades)) if s.amplitude_deg > 4]
    assert len(to_cross) == 1
    assert 0.09 <= (to_cross[0].onset_us - shown_us) / 1e6 <= 0.5
    x_deg, y_deg = PAPER_SCREEN.px_to_deg(500.0, 800.0)
    settled = trace.gaze_deg[-300:, 0]
    offset = viewer.calibration_offset_deg("R")
    error = np.nanmedian(settled, axis=0) - np.array([x_deg, y_deg]) - offset
    assert np.hypot(*error) < 1.2


def test_an_image_is_explored() -> None:
    viewer = a_viewer()
    viewer.show_image(SALIENCY, RECT_PX)
    samples, trace = viewer.advance(4000)
    saccades = mains(list(trace.saccades))
    assert 12 <= len(saccades) <= 45
    assert len({round(saccade.direction_deg, 3) for saccade in saccades}) == len(saccades)
    seen = samples[np.isfinite(samples["right_x"])]
    inside = (seen["right_x"] > 150) & (seen["right_x"] < 1770)
    assert inside.mean() > 0.97
    assert np.isnan(samples["left_x"]).all()


def test_on_a_blank_screen_the_eyes_stay_about() -> None:
    viewer = a_viewer()
    _, trace = viewer.advance(2000)
    assert np.nanmax(np.abs(trace.gaze_deg[:500, 0])) < 12
    assert len(mains(list(trace.saccades))) < 20


def test_a_saccade_under_way_lands_before_the_reaction() -> None:
    # a new stimulus at every 20 ms: whatever is under way, nothing breaks and time goes on
    viewer = a_viewer()
    n = 0
    for k in range(60):
        act(viewer, ("cross", "image")[k % 2])
        samples, _ = viewer.advance(10)
        n += len(samples)
    assert n == 600
    assert samples["tracker_time_us"][-1] == pytest.approx((n - 1) / RATE_HZ * 1e6)


def test_the_same_name_and_seed_is_the_same_person() -> None:
    assert session_traits("ada", seed=3, session=1).oculomotor == (
        session_traits("ada", seed=3, session=1).oculomotor
    )
    habits = session_traits("ada", seed=3, session=1).habits
    assert habits.traits == session_traits("ada", seed=3, session=1).habits.traits
    for other in (
        session_traits("bob", seed=3, session=1),
        session_traits("ada", seed=4, session=1),
        session_traits("ada", seed=3, session=2),
    ):
        assert other.habits.traits != habits.traits


def test_sessions_of_a_person_are_closer_than_persons() -> None:
    def durations(name: str, session: int) -> np.ndarray:
        habits = session_traits(name, seed=0, session=session).habits
        return np.log(habits.traits.duration_mean_s)

    names = [f"v{k:03}" for k in range(40)]
    first = np.array([durations(name, 1) for name in names])
    second = np.array([durations(name, 2) for name in names])
    within = (first - second).var()
    between = (first - np.roll(second, 1, axis=0)).var()
    assert within < 0.6 * between


def test_random_streams_are_pinned() -> None:
    # a change here would make every simulated person somebody else
    assert random_stream(0, "v001", "scanpath").integers(2**32) == 3119689170
    assert random_stream(0, "v001").random() != random_stream("0", "v001").random()


def test_two_eyes_and_other_rates() -> None:
    viewer = a_viewer(eyes="LR", sampling_rate_hz=2000.0, start_us=5_000_000)
    viewer.show_image(SALIENCY, RECT_PX)
    samples, trace = viewer.advance(2000)
    assert trace.gaze_deg.shape == (2000, 2, 2)
    assert samples["tracker_time_us"][0] == 5_000_000
    assert samples["tracker_time_us"][-1] == 5_999_500
    both = np.isfinite(samples["left_x"]) & np.isfinite(samples["right_x"])
    assert np.abs(samples["left_x"] - samples["right_x"])[both].mean() < 150
