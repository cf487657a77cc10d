"""Two minutes of session time at 2000 Hz: nothing is lost, and memory does not grow with trials."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.live.engine.session_run import session_geometry
from gazelive.live.pipeline.pipeline import Pipeline
from gazelive.recordings.session.manifest import SessionManifest

from ..support.live_model import save_live_model
from ..support.recordings import make_block
from ..support.soak.run import soak
from ..support.streams import MODEL

pytestmark = pytest.mark.slow

MOST_GROWTH = 0.1
"""Of a process within a minute and a half; what grows with each sample adds far more."""
N_PORTIONS, N_TRIALS = 6, 16
"""Portions of trials; caches fill in some of them, and what grows with each trial in all."""
MOST_BYTES_PER_TRIAL = 300
"""The times of the last thousand blocks take 150; a trial would take 300 more, a scanpath 3000."""


@pytest.mark.timeout(900)
def test_two_minutes_lose_nothing(tmp_path: Path) -> None:
    model = save_live_model(tmp_path / "people.model")
    done = soak(tmp_path / "session", 120.0, model, accelerated=True, report_every_s=10.0)
    assert set(done.lost().values()) == {0}, done.lost()
    assert done.found["problems"] == []
    assert done.found["stop_reason"] == "over"
    assert done.engine_starts == 1
    assert done.progress[-1]["samples"] >= 2000 * 100
    grown = done.growth(warm_s=30.0)
    assert set(grown) == {"recorder", "engine", "subscriber"}
    assert max(grown.values()) < MOST_GROWTH, done.memory_mb


def test_trials_that_are_over_take_no_memory() -> None:
    manifest = SessionManifest(
        session="1", device="test", mode="identify", started_at="", screen=PAPER_SCREEN
    )
    pipeline = Pipeline(session_geometry(manifest, Path()), model=MODEL)
    trials = endless_trials()

    def used_bytes(n_trials: int) -> int:
        n_settled = 0
        while n_settled < n_trials:
            found = pipeline.push(*next(trials))
            n_settled += sum(type(document).__name__ == "IntervalSettled" for document in found)
        del found
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        used = [used_bytes(N_TRIALS) for _ in range(N_PORTIONS)]
    finally:
        tracemalloc.stop()
    grown = [after - before for before, after in itertools.pairwise(used)]
    assert min(grown) < N_TRIALS * MOST_BYTES_PER_TRIAL, grown


def endless_trials() -> Iterator[tuple[Chunk, StreamDescription]]:
    """Yield trials, each a block and a chunk; some of them begin before their image is shown."""
    block = make_block(0, 2.0, 0, rate_hz=500.0)
    number = 0
    while True:
        shift_us = 3_000_000 * (number + 1)
        samples = block.samples.copy()
        samples["tracker_time_us"] += shift_us
        texts = ["TRIALID", "image_onset", f"!V IMGLOAD FILL im{number % 7}.png", "image_offset"]
        times_us = [0, 300_000, 300_000, 1_900_000]
        messages = tuple(
            Message(shift_us + time_us, f"{text} {number}" if time_us == 0 else text)
            for time_us, text in zip(times_us, texts, strict=True)
        )
        chunk = Chunk(number, number, samples, messages, arrival_s=float(number))
        yield chunk, block.stream
        number += 1
