"""BIDS runs: parts of a recording, evenly sampled from their first sample to their last.

BIDS derives the time of a row from its number. A tracker that pauses between trials, or loses
samples, leaves gaps; they are filled with rows of `n/a`, so row and time agree and the timestamps
stay those of the tracker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazelive.gaze import (
    GAP_INTERVALS,
    Integers,
    Message,
    Samples,
    StreamDescription,
    empty_samples,
)
from gazelive.recordings.recording import Block, Recording

LONGEST_PAUSE_S = 600.0
"""A longer pause starts another run, to avoid an hour of rows without data."""


@dataclass(frozen=True)
class Run:
    """Blocks of one kind, one after the other."""

    stream: StreamDescription
    blocks: tuple[Block, ...]
    start_us: int
    end_us: int
    """Times of the first and the last sample."""
    messages_from_us: int
    messages_before_us: int
    """Messages from the first time on and before the second belong to this run."""

    def contains(self, time_us: int) -> bool:
        """Return whether a time belongs to this run."""
        return self.messages_from_us <= time_us < self.messages_before_us


def runs_of(recording: Recording) -> tuple[Run, ...]:
    """Split a recording where its stream changes, its clock goes back, or it pauses for long."""
    groups: list[list[Block]] = []
    for block in recording.blocks:
        if not len(block.samples):
            continue
        if groups and _goes_on(groups[-1][-1], block):
            groups[-1].append(block)
        else:
            groups.append([block])
    starts_us = [_first_us(group[0]) for group in groups]
    far = np.iinfo(np.int64)
    runs = []
    for number, group in enumerate(groups):
        following = starts_us[number + 1 : number + 2]
        runs.append(
            Run(
                stream=group[0].stream,
                blocks=tuple(group),
                start_us=starts_us[number],
                end_us=_last_us(group[-1]),
                messages_from_us=int(far.min) if number == 0 else starts_us[number],
                messages_before_us=following[0] if following else int(far.max),
            )
        )
    return tuple(runs)


def even_samples(run: Run) -> Samples:
    """Return the samples of a run, with missing ones where the tracker gave none."""
    samples = np.concatenate([block.samples for block in run.blocks])
    times_us: Integers = samples["tracker_time_us"]
    interval_us = run.stream.sample_interval_us
    steps_us = np.diff(times_us)
    gaps = np.flatnonzero(steps_us > GAP_INTERVALS * interval_us)
    if not len(gaps):
        return samples
    n_missing = np.rint(steps_us[gaps] / interval_us).astype(np.int64) - 1
    filling = empty_samples(int(n_missing.sum()))
    filling["tracker_time_us"] = np.concatenate(
        [
            times_us[gap] + np.rint(np.arange(1, n + 1) * interval_us).astype(np.int64)
            for gap, n in zip(gaps, n_missing, strict=True)
        ]
    )
    return np.insert(samples, np.repeat(gaps + 1, n_missing), filling)


def messages_of(run: Run, messages: Sequence[Message]) -> list[Message]:
    """Return the messages that belong to a run."""
    return [message for message in messages if run.contains(message.tracker_time_us)]


def _goes_on(before: Block, block: Block) -> bool:
    one, other = before.stream, block.stream
    same = (
        one.sampling_rate_hz == other.sampling_rate_hz
        and one.eyes == other.eyes
        and one.coordinates == other.coordinates
        and one.pupil == other.pupil
    )
    pause_us = _first_us(block) - _last_us(before)
    return same and 0 < pause_us <= LONGEST_PAUSE_S * 1e6


def _first_us(block: Block) -> int:
    return int(block.samples["tracker_time_us"][0])


def _last_us(block: Block) -> int:
    return int(block.samples["tracker_time_us"][-1])
