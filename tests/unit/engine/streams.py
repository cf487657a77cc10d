"""Recordings made for the pipeline, and the many ways in which they may arrive."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gazelive.engine.pipeline import Pipeline, RunningModel
from gazelive.features.scanpath import scanpath_of
from gazelive.gaze.documents import (
    Document,
    IntervalSettled,
    Posterior,
    decode,
    decode_line,
    encode,
    encode_line,
)
from gazelive.gaze.samples import Samples, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.offline.analysis import analyse
from gazelive.recordings.eyelink_messages import interpret
from gazelive.recordings.geometry import FoundGeometry
from gazelive.recordings.recording import Block, Recording
from gazelive.recordings.trials import find_trials

from .amplitude_identifier import AmplitudeIdentifier

IDENTIFIER = AmplitudeIdentifier.of(5)
MODEL = RunningModel("test", IDENTIFIER)


def paper_geometry(_stream: StreamDescription) -> FoundGeometry:
    return FoundGeometry(PAPER_SCREEN, "recording")


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


def make_stream(rate_hz: float = 500.0, eyes: str = "R") -> StreamDescription:
    return StreamDescription(
        device="test", sampling_rate_hz=rate_hz, eyes=eyes, screen=PAPER_SCREEN
    )


def make_recording(blocks: Sequence[Block], messages: Sequence[Message]) -> Recording:
    return Recording(
        path=Path("made up"),
        format="session",
        blocks=tuple(blocks),
        messages=tuple(messages),
        trials=find_trials(messages, blocks),
        calibrations=interpret(messages).calibrations,
        screen=PAPER_SCREEN,
    )


def make_block(seed: int, seconds: float, start_us: int, **options) -> Block:
    samples = gaze_samples(seed, seconds, start_us, **options)
    times_us = samples["tracker_time_us"]
    return Block(make_stream(**options), samples, int(times_us[0]), int(times_us[-1]))


@dataclass(frozen=True)
class Cuts:
    """Where a stream is cut, and by how many chunks its messages are early (−) or late."""

    fractions: tuple[float, ...] = ()
    shifts: tuple[int, ...] = (0,)


def chunks_of(recording: Recording, cuts: Cuts) -> Iterator[tuple[Chunk, StreamDescription]]:
    """Yield a recording in chunks; messages keep their order, whatever their shift."""
    messages = sorted(recording.messages, key=lambda message: message.tracker_time_us)
    shifts = [cuts.shifts[k % len(cuts.shifts)] for k in range(len(messages))]
    number, taken = 0, 0
    for index, block in enumerate(recording.blocks):
        times_us = block.samples["tracker_time_us"]
        n = len(times_us)
        edges = sorted({0, n, *(round(f * n) for f in cuts.fractions)})
        parts = list(itertools.pairwise(edges))
        due: list[list[Message]] = [[] for _ in range(len(parts) + 1)]
        earliest = 0
        following = recording.blocks[index + 1] if index + 1 < len(recording.blocks) else None
        while taken < len(messages):
            time_us = messages[taken].tracker_time_us
            if following is not None and time_us >= following.start_us:
                break
            # the chunk of the first sample that is not earlier, or the one behind all
            at = int(np.searchsorted(times_us, time_us))
            chunk = next((k for k, (_, beyond) in enumerate(parts) if at < beyond), len(parts))
            if at < n:
                chunk = min(max(chunk + shifts[taken], 0), len(parts))
            earliest = max(earliest, chunk)
            due[earliest].append(messages[taken])
            taken += 1
        for k, now in enumerate(due):
            first, beyond = parts[k] if k < len(parts) else (n, n)
            if beyond > first or now:
                samples = block.samples[first:beyond].copy()
                yield Chunk(number, index, samples, tuple(now), number / 100), block.stream
                number += 1


def run(
    recording: Recording, cuts: Cuts, *, model: RunningModel | None = MODEL, **options
) -> list[Document]:
    """Return everything that the pipeline says."""
    pipeline = Pipeline(paper_geometry, model=model, **options)
    documents: list[Document] = []
    for chunk, stream in chunks_of(recording, cuts):
        documents += pipeline.push(chunk, stream)
    documents += pipeline.finish("over")
    for document in documents:  # whatever is said can be written down and read again
        assert decode_line(encode_line(document)) == document
        assert decode(encode(document)) == document
    return documents


def settled_offline(
    recording: Recording, method="settled", parameters=None
) -> tuple[list[IntervalSettled], list[Posterior]]:
    """Return what offline analysis and identification say, as the documents that say it."""
    intervals, posteriors = [], []
    probe = IDENTIFIER.probe()
    for found in analyse(recording, method=method, parameters=parameters).intervals:
        interval, detection = found.interval, found.gaze.detection
        intervals.append(
            IntervalSettled(
                trial=interval.trial or f"block {interval.block + 1}",
                start_us=interval.start_us,
                end_us=interval.end_us,
                image=interval.image,
                saccades=detection.saccades,
                fixations=detection.fixations,
                blinks=detection.blinks,
            )
        )
        probe.begin(interval.image)
        probe.settle(scanpath_of(found.gaze, interval.image))
        estimate = probe.estimate()
        order = np.argsort(-estimate.log_probabilities, kind="stable")
        posteriors.append(
            Posterior(
                tracker_time_us=interval.end_us,
                leading=tuple(order.tolist()),
                log_probabilities=tuple(estimate.log_probabilities[order].tolist()),
                log_unknown=estimate.log_unknown,
                n_saccades=estimate.n_saccades,
                n_images=estimate.n_images,
                seconds=estimate.seconds,
                settled=True,
            )
        )
    return intervals, posteriors


def settled_live(documents: list[Document]) -> tuple[list[IntervalSettled], list[Posterior]]:
    """Return what the pipeline has settled on."""
    return (
        [document for document in documents if isinstance(document, IntervalSettled)],
        [
            document
            for document in documents
            if isinstance(document, Posterior) and document.settled
        ],
    )
