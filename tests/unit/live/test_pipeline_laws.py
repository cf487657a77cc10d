"""The laws: settled live is settled offline, and no posterior depends on the chunks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from gazelive.analysis.recording import analyse
from gazelive.gaze.documents import (
    IntervalSettled,
    Posterior,
    Quality,
    Retraction,
    Saccade,
    SaccadeOnset,
    TrialStarted,
)
from gazelive.gaze.stream import Message
from gazelive.gaze.time_order import in_order

from ...support.faults import BackwardTimes, LostSamples, RepeatedTimes, TimeJitter
from ...support.recordings import make_block, make_recording
from ...support.streams import Cuts, chunks_of, run, settled_live, settled_offline

TEXTS = (
    "TRIALID 7",
    "TRIALID",
    "TRIAL_RESULT 0",
    "image_onset",
    "image_offset",
    "!V IMGLOAD CENTER a.png 960 540 800 600",
    "!V IMGLOAD FILL b.png",
    "!CAL CALIBRATION HV9 R RIGHT GOOD",
    "anything",
)
cuts = st.builds(
    Cuts,
    st.lists(st.floats(0, 1), max_size=40).map(tuple),
    st.lists(st.integers(-2, 2), min_size=1, max_size=5).map(tuple),
)
in_time = st.builds(
    Cuts,
    st.lists(st.floats(0, 1), max_size=40).map(tuple),
    st.lists(st.integers(-2, 0), min_size=1, max_size=5).map(tuple),
)


@pytest.fixture(scope="module")
def pool():
    """Gaze to make recordings of, so that Hypothesis need not wait for it."""
    return [make_block(seed, 4.0, 0) for seed in range(3)]


def moved(block, start_us, n):
    samples = block.samples[:n].copy()
    samples["tracker_time_us"] += start_us
    times_us = samples["tracker_time_us"]
    return type(block)(block.stream, samples, int(times_us[0]), int(times_us[-1]))


plans = st.tuples(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(1, 2000), st.integers(1, 1_000_000)),
        min_size=1,
        max_size=3,
    ),
    st.lists(st.tuples(st.floats(-0.1, 1.1), st.sampled_from(TEXTS)), max_size=12),
)
"""Blocks (which gaze, how many samples, the pause after), and messages anywhere among them,
whatever sense they make."""


def recorded(pool, plan):
    pieces, texts = plan
    blocks, at_us = [], 1_000_000
    for which, n, pause_us in pieces:
        blocks.append(moved(pool[which], at_us, n))
        at_us = blocks[-1].end_us + pause_us
    messages = [
        Message(round(1_000_000 + fraction * (at_us - 1_000_000)), text) for fraction, text in texts
    ]
    messages.sort(key=lambda message: message.tracker_time_us)
    return make_recording(blocks, messages)


@settings(max_examples=60)
@given(plan=plans, cuts=cuts)
@example(([(0, 1, 1)], [(1.0, "TRIALID 7")]), Cuts())  # at the very end of a block
def test_settled_live_is_settled_offline(pool, plan, cuts):
    recording = recorded(pool, plan)
    live = settled_live(run(recording, cuts))
    assert live == settled_offline(recording)


@settings(max_examples=40)
@given(plan=plans, one=in_time, other=in_time)
def test_no_posterior_and_no_event_depends_on_the_chunks(pool, plan, one, other):
    recording = recorded(pool, plan)
    first, second = (
        [
            document
            for document in run(recording, cuts)
            if isinstance(document, (Posterior, Saccade, SaccadeOnset))
        ]
        for cuts in (one, other)
    )
    for kind in (Posterior, Saccade, SaccadeOnset):
        assert [d for d in first if type(d) is kind] == [d for d in second if type(d) is kind]


damages = st.lists(
    st.one_of(
        st.builds(LostSamples, every_n=st.integers(20, 400), length=st.integers(1, 15)),
        st.builds(RepeatedTimes, every_n=st.integers(3, 400)),
        st.builds(BackwardTimes, every_n=st.integers(3, 400), by_us=st.integers(1, 10_000)),
        st.builds(TimeJitter, max_us=st.integers(1, 3000)),
    ),
    max_size=3,
)


@settings(max_examples=40)
@given(plan=plans, cuts=cuts, damages=damages, seed=st.integers(0, 100))
def test_damaged_samples_are_reported_and_settle_as_offline(pool, plan, cuts, damages, seed):
    recording = recorded(pool, plan)
    blocks = []
    for block in recording.blocks:
        samples = block.samples.copy()
        for damage in damages:
            samples = damage.begin(np.random.default_rng(seed))(samples)
        blocks.append(replace(block, samples=samples))
    damaged = replace(recording, blocks=tuple(blocks))
    documents = run(damaged, cuts)  # and nothing is raised
    if any(not isinstance(damage, LostSamples) for damage in damages):
        return  # which samples are left out may then depend on those that come after the interval
    ordered = tuple(
        replace(block, samples=in_order(block.samples, {})[0]) for block in damaged.blocks
    )
    assert settled_live(documents) == settled_offline(replace(damaged, blocks=ordered))


@settings(max_examples=25)
@given(every_n=st.integers(3, 400), by_us=st.integers(0, 10_000), cuts=cuts)
def test_samples_out_of_order_settle_as_offline(pool, every_n, by_us, cuts):
    block = moved(pool[0], 1_000_000, 2000)
    damage = (
        BackwardTimes(every_n=every_n, by_us=by_us) if by_us else RepeatedTimes(every_n=every_n)
    )
    samples = damage.begin(np.random.default_rng(by_us))(block.samples.copy())
    messages = [Message(1_500_000, "TRIALID 1"), Message(4_000_000, "TRIAL_RESULT 0")]
    damaged = make_recording([replace(block, samples=samples)], messages)
    ordered = replace(block, samples=in_order(samples, {})[0])
    documents = run(damaged, cuts)
    assert settled_live(documents) == settled_offline(make_recording([ordered], messages))
    kinds = {document.kind for document in documents if isinstance(document, Quality)}
    assert kinds >= {"time_order" if by_us else "duplicate"}


@pytest.mark.parametrize("every_n", [2, 77, 777])
def test_repeated_samples_change_no_event_and_no_posterior(pool, every_n):
    block = moved(pool[0], 1_000_000, 2000)
    again = np.sort(np.concatenate((np.arange(2000), np.arange(1, 2000, every_n))))
    repeated = replace(block, samples=block.samples[again])
    messages = [Message(1_500_000, "TRIALID 1"), Message(4_000_000, "TRIAL_RESULT 0")]
    once, twice = (
        [
            document
            for document in run(make_recording([one], messages), Cuts((0.3, 0.31, 0.7)))
            if isinstance(document, (IntervalSettled, Posterior, Saccade, SaccadeOnset))
        ]
        for one in (block, repeated)
    )
    for kind in (IntervalSettled, Posterior, Saccade, SaccadeOnset):
        assert [d for d in once if type(d) is kind] == [d for d in twice if type(d) is kind]
    assert any(isinstance(document, Posterior) for document in once)


@pytest.mark.parametrize("rate_hz", [250.0, 1000.0, 2000.0])
@pytest.mark.parametrize("eyes", ["L", "R", "LR"])
def test_rates_and_eyes(rate_hz, eyes):
    blocks = [
        make_block(1, 3.0, 1_000_000, rate_hz=rate_hz, eyes=eyes),
        make_block(2, 3.0, 9_000_000, rate_hz=500.0, eyes="R"),
    ]
    messages = [
        Message(900_000, "TRIALID 1"),
        Message(1_300_000, "image_onset"),
        Message(1_300_000, "!V IMGLOAD FILL a.png"),
        Message(3_800_000, "image_offset"),
        Message(3_900_000, "TRIAL_RESULT 0"),
    ]
    recording = make_recording(blocks, messages)
    documents = run(recording, Cuts(tuple(np.linspace(0, 1, 301))))
    live = settled_live(documents)
    assert live == settled_offline(recording)
    assert [interval.trial for interval in live[0]] == ["1", "block 2"]
    assert len(live[0][0].saccades) > 4
    running = [d for d in documents if isinstance(d, Posterior) and not d.settled]
    assert len(running) > 5


@pytest.mark.parametrize("method", ["settled", "online", "engbert-kliegl"])
def test_whatever_detector_a_model_was_made_with(pool, method):
    recording = make_recording(
        [moved(pool[0], 1_000_000, 2000), moved(pool[1], 6_000_000, 2000)],
        [
            Message(1_500_000, "TRIALID 1"),
            Message(2_500_000, "TRIALID 2"),
            Message(6_500_000, "TRIALID 3"),
        ],
    )
    documents = run(recording, Cuts((0.1, 0.5)), method=method)
    assert settled_live(documents) == settled_offline(recording, method)


def test_chunks_hold_everything_once(pool):
    messages = [Message(1_000_000 + 300_000 * k, f"m{k}") for k in range(20)]
    recording = make_recording([moved(pool[0], 1_500_000, 900)], messages)
    chunks = [chunk for chunk, _ in chunks_of(recording, Cuts((0.2, 0.21, 0.9), (2, -1)))]
    assert [m.text for chunk in chunks for m in chunk.messages] == [m.text for m in messages]
    samples = np.concatenate([chunk.samples for chunk in chunks])
    assert samples.tobytes() == recording.blocks[0].samples.tobytes()


def found_live(documents):
    """Return the saccades of each interval as they came live, retracted ones left out."""
    intervals, current, retracted = [], None, set()
    for document in documents:
        match document:
            case TrialStarted():
                current = []
            case Saccade() if current is not None:
                current.append(document)
            case Retraction():
                retracted.add(document.onset_us)
            case IntervalSettled():
                intervals.append([s for s in current or [] if s.onset_us not in retracted])
                current = None
    return intervals


@pytest.mark.parametrize("told", ["images", "trials", "nothing"])
@pytest.mark.parametrize("n_chunks", [1, 37, 400])
def test_live_events_equal_online_detection(pool, told, n_chunks):
    blocks, messages = [], []
    for k in range(5):
        start_us = 1_000_000 + 6_000_000 * k
        blocks.append(moved(pool[k % 3], start_us, 2000))
        if told != "nothing":
            messages.append(Message(start_us + 100_000, f"TRIALID {k}"))
        if told == "images":
            messages.append(Message(start_us + 900_000, "image_onset"))
            messages.append(Message(start_us + 900_000, "!V IMGLOAD FILL a.png"))
            messages.append(Message(start_us + 3_000_000, "image_offset"))
        if told != "nothing":
            messages.append(Message(start_us + 3_300_000, "TRIAL_RESULT 0"))
        if k == 2:
            text = "!CAL CALIBRATION HV9 R RIGHT GOOD"
            messages.append(Message(start_us + 5_000_000, text))
    recording = make_recording(blocks, messages)
    documents = run(recording, Cuts(tuple(np.linspace(0, 1, n_chunks + 1))))
    offline = analyse(recording, method="online").intervals
    assert found_live(documents) == [list(i.gaze.detection.saccades) for i in offline]
