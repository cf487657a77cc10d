from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gazelive.gaze.samples import empty_samples
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.recording import Block, Recording, Trial
from gazelive.recordings.trial_messages import marked_messages
from gazelive.recordings.trials import find_trials

TRIALS = (
    Trial(name="1", start_us=0, end_us=999_000, block=0),
    Trial(
        name="second trial",
        start_us=1_000_000,
        end_us=2_999_000,
        block=0,
        image="scenes/bridge 7.jpg",
        image_onset_us=1_200_000,
        image_offset_us=2_500_000,
        variables={"answer": "yes, twice", "rt": "512"},
        result="0",
    ),
    Trial(
        name="c",
        start_us=3_000_000,
        end_us=3_999_000,
        block=0,
        image="image 12",
        image_onset_us=3_000_000,
    ),
)


@pytest.fixture
def recording():
    samples = empty_samples(4000)
    samples["tracker_time_us"] = np.arange(4000) * 1000
    stream = StreamDescription(device="table", sampling_rate_hz=1000.0, eyes="R")
    return Recording(
        path=Path("table.csv"),
        format="table",
        blocks=(Block(stream, samples, 0, 3_999_000),),
        messages=(Message(500_000, "a remark"),),
        trials=TRIALS,
    )


def test_the_messages_say_what_the_trials_were(recording):
    messages = marked_messages(recording)
    assert find_trials(messages, recording.blocks) == TRIALS
    assert recording.messages[0] in messages
    times_us = [message.tracker_time_us for message in messages]
    assert times_us == sorted(times_us)


def test_what_is_marked_already_is_left_alone(recording):
    marked = marked_messages(recording)
    assert marked_messages(replace(recording, messages=marked)) == marked
    assert marked_messages(replace(recording, trials=())) == recording.messages
