"""Recordings cut into chunks in many ways, and the documents of live and offline analysis."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gazelive.analysis.recording import analyse
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
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.live.pipeline.pipeline import Pipeline, RunningModel
from gazelive.recordings.geometry import FoundGeometry
from gazelive.recordings.recording import Recording

from .amplitude_identifier import AmplitudeIdentifier

IDENTIFIER = AmplitudeIdentifier.of(5)
MODEL = RunningModel("test", IDENTIFIER)


def paper_geometry(_stream: StreamDescription) -> FoundGeometry:
    return FoundGeometry(PAPER_SCREEN, "recording")


@dataclass(frozen=True)
class Cuts:
    """Cuts of a stream, and the number of chunks by which its messages are early (−) or late."""

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
                artefacts=detection.artefacts,
                pursuits=detection.pursuits,
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
                accepted=estimate.accepted,
                more_s=estimate.more_s,
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
