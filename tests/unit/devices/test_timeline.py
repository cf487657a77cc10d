import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.devices.timeline import lay_out

from ...support.recordings import make_recording, numbered_block


def test_a_recording_is_laid_out_as_blocks_and_the_time_around_them():
    recording = make_recording(
        [numbered_block(1_000_000, 10), numbered_block(1_030_000, 5)],
        messages=((990_000, "before"), (1_005_000, "in"), (1_020_000, "gap"), (1_050_000, "end")),
    )
    stretches = lay_out(recording, math.inf).stretches
    assert [len(s.samples) for s in stretches] == [0, 10, 0, 5, 0]
    assert [[m.text for m in s.messages] for s in stretches] == [
        ["before"],
        ["in"],
        ["gap"],
        [],
        ["end"],
    ]
    assert [s.block for s in stretches] == [0, 0, 0, 1, 1]
    assert [s.position_us for s in stretches] == [0, 10_000, 20_000, 40_000, 45_000]
    assert stretches[2].positions_of([1_010_000, 1_020_000]).tolist() == [20_000, 30_000]


def test_long_breaks_are_shortened_and_blocks_are_not():
    late_us = 3_600_000_000
    block = numbered_block(0, 10)
    block.samples["tracker_time_us"][5:] += 60_000_000  # samples missing for a minute
    recording = make_recording(
        [block, numbered_block(late_us, 5)], messages=((late_us - 1_000_000, "soon"),)
    )
    timeline = lay_out(recording, 2.0)
    inside, gap, _ = timeline.stretches
    assert inside.playing_us == inside.tracker_us > 60_000_000
    assert gap.playing_us == 2_000_000
    (soon_us,) = gap.positions_of([late_us - 1_000_000])
    assert gap.position_us < soon_us < gap.position_us + gap.playing_us
    assert timeline.tracker_time_us(gap.position_us + 1_000_000) == pytest.approx(
        (gap.begin_us + late_us) / 2, abs=1
    )
    assert lay_out(recording, 0.0).stretches[1].playing_us == 0


def test_time_that_goes_back_plays_at_once():
    first, earlier = numbered_block(1_000_000, 4), numbered_block(200_000, 4)
    first.samples["tracker_time_us"][2] -= 50_000
    timeline = lay_out(make_recording([first, earlier]), math.inf)
    one, two = timeline.stretches
    assert one.positions_of(first.samples["tracker_time_us"]).tolist() == [0, 1000, 1000, 3000]
    assert two.position_us == one.playing_us == 4000
    assert timeline.tracker_us == 1_004_000 - 200_000


def test_blocks_without_samples_are_left_out_and_their_messages_are_not():
    recording = make_recording(
        [numbered_block(0, 0), numbered_block(500, 3), numbered_block(9_000, 0)],
        messages=((0, "a"), (9_000, "b")),
    )
    stretches = lay_out(recording, 0.0).stretches
    assert [(s.block, len(s.samples), len(s.messages)) for s in stretches] == [
        (0, 0, 1),
        (0, 3, 0),
        (0, 0, 1),
    ]


@given(
    bounds=st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 50)), min_size=1, max_size=5),
    times=st.lists(st.integers(0, 10**9), max_size=20),
    longest_gap_s=st.sampled_from([0.0, 0.001, 5.0, math.inf]),
)
def test_everything_is_laid_out_once_and_positions_never_fall(bounds, times, longest_gap_s):
    blocks = [numbered_block(start_us, n) for start_us, n in [*bounds, (10**9, 1)]]
    messages = tuple((time_us, str(i)) for i, time_us in enumerate(times))
    timeline = lay_out(make_recording(blocks, messages=messages), longest_gap_s)
    reached_us = 0.0
    for stretch in timeline.stretches:
        assert stretch.position_us >= reached_us
        for positions_us in (
            stretch.positions_of(stretch.samples["tracker_time_us"]),
            stretch.positions_of([m.tracker_time_us for m in stretch.messages]),
        ):
            assert (np.diff(positions_us) >= 0).all()
            assert (
                (positions_us >= stretch.position_us) & (positions_us <= timeline.playing_us)
            ).all()
        reached_us = stretch.position_us + stretch.playing_us
    laid_out = [m for stretch in timeline.stretches for m in stretch.messages]
    assert sorted(int(m.text) for m in laid_out) == list(range(len(times)))
    assert sum(len(s.samples) for s in timeline.stretches) == sum(len(b.samples) for b in blocks)
