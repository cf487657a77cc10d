"""Builders of samples, blocks and recordings for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.gaze.samples import EYE_FIELDS, SAMPLE_DTYPE, Samples, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.messages import interpret
from gazelive.recordings.recording import Block, Recording
from gazelive.recordings.trials import find_trials


def make_stream(rate_hz: float = 500.0, eyes: str = "R", **facts: Any) -> StreamDescription:
    """Describe a stream on the paper's screen."""
    facts = {"device": "test", "screen": PAPER_SCREEN, **facts}
    return StreamDescription(sampling_rate_hz=rate_hz, eyes=eyes, **facts)  # type: ignore[arg-type]


def block_of(samples: Samples, stream: StreamDescription, **parts: Any) -> Block:
    """Return samples as a block that spans them."""
    times_us = samples["tracker_time_us"]
    span_us = {"start_us": int(times_us[0]), "end_us": int(times_us[-1])}
    return Block(stream, samples, **{**span_us, **parts})


def make_recording(
    blocks: Sequence[Block], messages: Iterable[Message | tuple[int, str]] = (), **parts: Any
) -> Recording:
    """Return a recording with the trials and calibrations that its messages mark."""
    sent = tuple(m if isinstance(m, Message) else Message(*m) for m in messages)
    found: dict[str, Any] = {
        "path": Path("made up"),
        "format": "session",
        "trials": find_trials(sent, blocks),
        "calibrations": interpret(sent).calibrations,
        "screen": PAPER_SCREEN,
    }
    return Recording(blocks=tuple(blocks), messages=sent, **{**found, **parts})


# samples that can be told apart, in no place in particular


def numbered_samples(
    start_us: int, n: int, *, rate_hz: float = 1000.0, eyes: str = "LR", first_value: int = 0
) -> Samples:
    """Return samples each of which has values of its own."""
    samples = empty_samples(n)
    samples["tracker_time_us"] = start_us + np.round(np.arange(n) * 1e6 / rate_hz)
    fields = [field for eye in eyes for field in EYE_FIELDS[eye][:2]]  # type: ignore[index]
    for place, field in enumerate(fields):
        samples[field] = first_value + np.arange(n) + 0.25 * place
    return samples


def numbered_block(
    start_us: int, n: int, *, rate_hz: float = 1000.0, eyes: str = "LR", first_value: int = 0
) -> Block:
    """Return a block of `numbered_samples` that lasts until its last sample is over."""
    samples = numbered_samples(start_us, n, rate_hz=rate_hz, eyes=eyes, first_value=first_value)
    stream = make_stream(rate_hz, eyes, screen=None)
    end_us = start_us + round(n * 1e6 / rate_hz)
    return Block(stream, samples, start_us, end_us)


def samples_of(chunks: Iterable[Chunk]) -> Samples:
    """Return the samples of all chunks."""
    return np.concatenate([np.zeros(0, SAMPLE_DTYPE), *(chunk.samples for chunk in chunks)])


# gaze on a screen


def gaze_samples(
    seed: int, seconds: float, start_us: int, *, rate_hz: float = 500.0, eyes: str = "R"
) -> Samples:
    """Return an eye (or two) that jumps to and fro, with blinks, on the paper's screen."""
    rng = np.random.default_rng(seed)
    n = round(seconds * rate_hz)
    x, y = [np.zeros(1)], [np.zeros(1)]
    n_made = 1
    while n_made < n:
        resting = round(rng.uniform(0.12, 0.4) * rate_hz)
        moving = round(rng.uniform(0.03, 0.05) * rate_hz)
        tau = np.linspace(0, 1, moving)
        path = 10 * tau**3 - 15 * tau**4 + 6 * tau**5
        to_x, to_y = rng.uniform(-8, 8, 2)
        for axis, to in ((x, to_x), (y, to_y)):
            at = axis[-1][-1]
            axis += [np.full(resting, at), at + (to - at) * path]
        if rng.random() < 0.15:
            x[-2][resting // 3 : resting // 3 + round(0.06 * rate_hz)] = np.nan
        n_made += resting + moving
    samples = empty_samples(n)
    samples["tracker_time_us"] = start_us + np.round(np.arange(n) * 1e6 / rate_hz)
    for eye, side in (("L", "left"), ("R", "right")):
        if eye in eyes:
            noise = rng.normal(0, 0.01, (2, n))
            x_px, y_px = PAPER_SCREEN.deg_to_px(
                np.concatenate(x)[:n] + noise[0], np.concatenate(y)[:n] + noise[1]
            )
            samples[f"{side}_x"], samples[f"{side}_y"] = x_px, y_px
    return samples


def make_block(seed: int, seconds: float, start_us: int, **options: Any) -> Block:
    """Return a block of `gaze_samples`."""
    samples = gaze_samples(seed, seconds, start_us, **options)
    return block_of(samples, make_stream(**options))
