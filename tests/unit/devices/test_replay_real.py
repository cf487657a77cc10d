"""Real recordings play completely: repeated times, several blocks, messages anywhere."""

import numpy as np
import pytest

from gazelive.devices.replay import ReplayDevice
from gazelive.recordings.open import read_recording

from ...support.manual_clock import ManualClock

FILES = (
    "bino1000",
    "bino500_unclosed",
    "mono1000_trials",
    "mono2000",
    "monoRemote500",
    "test_raw.edf",
    "test_raw_binocular.edf",
)


@pytest.mark.parametrize("name", FILES)
def test_a_real_recording_plays_completely(real_file, name):
    recording = read_recording(real_file(name))
    blocks = [block for block in recording.blocks if len(block.samples)]
    clock = ManualClock()
    device = ReplayDevice(recording, clock=clock, speed=20.0)
    device.start()
    chunks, streams = [], {}
    while not device.finished:
        chunk = device.read_chunk(1.0)
        if chunk is not None:
            chunks.append(chunk)
            streams.setdefault(chunk.block, device.describe())
    assert streams == {number: block.stream for number, block in enumerate(blocks)}
    for number, block in enumerate(blocks):
        played = np.concatenate([c.samples for c in chunks if c.block == number])
        assert played.tobytes() == np.ascontiguousarray(block.samples).tobytes()
    texts = [message.text for chunk in chunks for message in chunk.messages]
    in_time = sorted(recording.messages, key=lambda message: message.tracker_time_us)
    assert texts == [message.text for message in in_time]
    assert clock.now_s() >= 0.99 * recording.duration_s / 20
