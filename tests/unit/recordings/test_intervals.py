from pathlib import Path

import numpy as np

from gazelive.gaze.samples import empty_samples
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.intervals import viewing_intervals
from gazelive.recordings.recording import Block, Recording, Trial


def a_block(start_ms, n):
    samples = empty_samples(n)
    samples["tracker_time_us"] = (start_ms + np.arange(n)) * 1000
    stream = StreamDescription(device="test", sampling_rate_hz=1000, eyes="R")
    return Block(stream, samples, start_ms * 1000, (start_ms + n) * 1000)


def a_recording(*trials, blocks=None):
    return Recording(
        path=Path("x.asc"), format="asc", blocks=blocks or (a_block(0, 1000),), trials=trials
    )


def spans(recording, **options):
    return [(i.block, i.start_us, i.end_us) for i in viewing_intervals(recording, **options)]


def test_without_trials_each_block_is_an_interval():
    blocks = (a_block(0, 100), a_block(500, 0), a_block(1000, 50))
    assert spans(a_recording(blocks=blocks)) == [(0, 0, 99_001), (2, 1_000_000, 1_049_001)]


def test_skipped_or_repeated_trials_do_not_count():
    counted = []
    for variables in ({}, {"evidence": "1"}, {"evidence": "0", "outcome": "skipped"}):
        trial = Trial(name="7", start_us=0, end_us=900_000, block=0, variables=variables)
        counted += [interval.counts for interval in viewing_intervals(a_recording(trial))]
    assert counted == [True, True, False]


def test_an_image_counts_from_its_onset_to_its_offset():
    trial = Trial(
        name="7",
        start_us=10_000,
        end_us=900_000,
        block=0,
        image="a.jpg",
        image_onset_us=100_000,
        image_offset_us=600_000,
    )
    (interval,) = viewing_intervals(a_recording(trial))
    assert (interval.start_us, interval.end_us) == (100_000, 600_000)
    assert (interval.trial, interval.image, interval.image_onset_us) == ("7", "a.jpg", 100_000)


def test_a_trial_without_an_image_counts_within_its_block():
    trial = Trial(name="7", start_us=-5_000, end_us=2_000_000, block=0)
    assert spans(a_recording(trial)) == [(0, 0, 999_001)]


def test_an_image_that_never_goes_ends_with_its_trial():
    trial = Trial(name="7", start_us=0, end_us=500_000, block=0, image_onset_us=100_000)
    assert spans(a_recording(trial)) == [(0, 100_000, 500_000)]


def test_trials_outside_of_blocks_and_empty_ones_are_left_out():
    outside = Trial(name="1", start_us=5_000_000, end_us=6_000_000)
    empty = Trial(name="2", start_us=300_000, end_us=300_000, block=0)
    assert spans(a_recording(outside)) == [(0, 0, 999_001)]
    assert spans(a_recording(outside, empty)) == []


def test_whole_blocks_on_demand():
    trial = Trial(name="7", start_us=10_000, end_us=20_000, block=0)
    assert spans(a_recording(trial), whole_blocks=True) == [(0, 0, 999_001)]
