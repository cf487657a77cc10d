"""The fixation gate's laws."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from gazelive.experiment.protocol.gate import FixationGate
from gazelive.gaze.samples import Samples, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN

CROSS_PX = (700.0, 400.0)


def gate(radius_deg: float = 1.5, dwell_s: float = 0.3) -> FixationGate:
    made = FixationGate(PAPER_SCREEN, CROSS_PX, radius_deg=radius_deg, dwell_s=dwell_s)
    made.from_us = 0
    return made


def looking(distances_deg: np.ndarray, *, start_us: int = 0) -> Samples:
    """Return samples at 1000 Hz that lie so far to the right of the cross."""
    samples = empty_samples(len(distances_deg))
    samples["tracker_time_us"] = start_us + 1000 * np.arange(len(distances_deg))
    x_deg, y_deg = PAPER_SCREEN.px_to_deg(*CROSS_PX)
    x_px, y_px = PAPER_SCREEN.deg_to_px(x_deg + distances_deg, np.full(len(distances_deg), y_deg))
    samples["right_x"] = x_px
    samples["right_y"] = y_px
    return samples


def test_it_opens_at_the_end_of_the_dwell() -> None:
    opened = gate()
    opened.push(looking(np.r_[np.full(100, 5.0), np.full(400, 0.5)]))
    assert opened.opened_us == 100_000 + 300_000


def test_a_glance_does_not_open_it() -> None:
    shut = gate()
    shut.push(looking(np.r_[np.full(299, 0.5), [3.0], np.full(299, 0.5)]))
    assert shut.opened_us is None


def test_a_blink_ends_a_dwell_but_a_dropout_does_not() -> None:
    for n_missing, opens in ((10, True), (100, False)):
        tested = gate()
        tested.push(
            looking(np.r_[np.full(200, 0.5), np.full(n_missing, np.nan), np.full(150, 0.5)])
        )
        assert (tested.opened_us is not None) == opens


def test_a_gap_in_the_link_ends_a_dwell() -> None:
    """Samples that never came are no NaN; gaze may have been anywhere meanwhile."""
    for n_lost, opens in ((10, True), (100, False)):
        tested = gate()
        tested.push(looking(np.full(200, 0.5)))
        tested.push(looking(np.full(150, 0.5), start_us=(200 + n_lost) * 1000))
        assert (tested.opened_us is not None) == opens


def test_earlier_gaze_does_not_count() -> None:
    late = gate()
    late.from_us = 250_000
    late.push(looking(np.full(500, 0.2)))
    assert late.opened_us is None
    late.push(looking(np.full(500, 0.2), start_us=500_000))
    assert late.opened_us == 550_000
    never = FixationGate(PAPER_SCREEN, CROSS_PX, radius_deg=1, dwell_s=0.1)
    never.push(looking(np.full(500, 0.2)))
    assert never.opened_us is None


def test_of_two_eyes_the_mean_counts_and_one_is_enough() -> None:
    both = looking(np.full(400, 2.0))
    left = looking(np.full(400, -2.0))
    both["left_x"], both["left_y"] = left["right_x"], left["right_y"]
    opened = gate()
    opened.push(both)
    assert opened.opened_us is not None
    both["left_x"] = np.nan
    shut = gate()
    shut.push(both)
    assert shut.opened_us is None


@given(
    st.lists(st.sampled_from([0.3, 1.0, 2.0, np.nan]), min_size=1, max_size=40),
    st.lists(st.integers(1, 200), max_size=10),
)
def test_chunks_make_no_difference(pieces: list[float], cuts: list[int]) -> None:
    samples = looking(np.repeat(pieces, 37))
    whole, cut = gate(dwell_s=0.1), gate(dwell_s=0.1)
    whole.push(samples)
    at = 0
    for n in (*cuts, len(samples)):
        cut.push(samples[at : at + n])
        at += n
    assert whole.opened_us == cut.opened_us
