"""What tests read of a device."""

import numpy as np

from gazelive.gaze.quality_messages import told_quality
from gazelive.gaze.samples import SAMPLE_DTYPE


def read_for(device, clock, seconds):
    chunks, until_s = [], clock.now_s() + seconds
    while clock.now_s() < until_s - 1e-9:
        chunk = device.read_chunk(min(0.05, until_s - clock.now_s()))
        if chunk is not None:
            chunks.append(chunk)
    return chunks


def drained(device):
    chunks = []
    while (chunk := device.read_chunk(0.0)) is not None:
        chunks.append(chunk)
    return chunks


def samples_of(chunks):
    return np.concatenate([np.zeros(0, SAMPLE_DTYPE), *(chunk.samples for chunk in chunks)])


def quality_of(chunks):
    messages = [message for chunk in chunks for message in chunk.messages]
    return [(q.kind, q.text) for m in messages if (q := told_quality(m)) is not None]


def calls_to(pylink):
    return [name for name, _ in pylink.calls.log]
