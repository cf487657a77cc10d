"""Whatever a tracker sends: documents that can be written and read again, and no exception."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.gaze import (
    Blink,
    Chunk,
    Message,
    Samples,
    StreamDescription,
)
from gazelive.gaze.documents import (
    Document,
    Quality,
    decode,
    decode_line,
    encode,
    encode_line,
)
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.live.engine.documents_file import is_kept, read_documents
from gazelive.live.engine.model import EngineModel, jumping_gaze
from gazelive.live.engine.session_run import SessionRun
from gazelive.live.pipeline.pipeline import Pipeline
from gazelive.live.settings import LiveSettings
from gazelive.recordings.session.manifest import DOCUMENTS_NAME
from gazelive.recordings.session.writer import SessionWriter
from gazelive.reporting import gather, session_page

from ...support.manual_clock import ManualClock
from ...support.streams import MODEL, paper_geometry
from .test_session_run import MANIFEST

RATES_HZ = [0.0, -1.0, math.nan, math.inf, -math.inf, 1e-300, 1e300, 0.1, 60.0, 1e6]
TIMES_US = [-(2**63), 2**63 - 1, -(2**62), 2**62, 2**53 + 1, -(2**53) - 1, 0, -1]
VALUES = [math.nan, math.inf, -math.inf, 3e38, -3e38, 1e5, -1e5, 0.0, 1e-38]
TEXTS = ["TRIALID 1", "image_onset", "TRIAL_RESULT 0", "!V IMGLOAD FILL a.jpg", "!CAL x"]


def stream_of(rate_hz: float, **fields: object) -> StreamDescription:
    known = {"device": "x", "sampling_rate_hz": rate_hz, "eyes": "LR", "screen": PAPER_SCREEN}
    return StreamDescription(**(known | fields))


def analysed(chunks: list[tuple[Chunk, StreamDescription]], geometry=paper_geometry):
    pipeline = Pipeline(geometry, model=MODEL)
    documents: list[Document] = []
    for chunk, stream in chunks:
        documents += pipeline.push(chunk, stream)
    documents += pipeline.finish("over")
    for document in documents:
        assert decode_line(encode_line(document)) == document
        assert decode(encode(document)) == document
    return documents


@st.composite
def hostile_chunks(draw):
    chunks = []
    block, time_us = 0, draw(st.sampled_from([0, *TIMES_US]))
    stream = stream_of(draw(st.sampled_from([1000.0, *RATES_HZ])))
    for number in range(draw(st.integers(1, 6))):
        if draw(st.integers(0, 3)) == 0:
            block += 1
            stream = stream_of(draw(st.sampled_from([1000.0, *RATES_HZ])))
        n = draw(st.integers(0, 300))
        samples = jumping_gaze(n, "LR")
        times = [time_us + 1000 * k for k in range(n)]
        for at in draw(st.lists(st.integers(0, 299), max_size=4)):
            if at < n:
                times[at] = draw(st.sampled_from(TIMES_US))
        samples["tracker_time_us"] = [min(max(t, -(2**63)), 2**63 - 1) for t in times]
        for name in draw(st.lists(st.sampled_from(samples.dtype.names[1:-1]), max_size=4)):
            samples[name][draw(st.integers(0, 299)) :] = draw(st.sampled_from(VALUES))
        messages = tuple(
            Message(draw(st.sampled_from([time_us, 2**64, -(2**70), *TIMES_US])), text)
            for text in draw(st.lists(st.sampled_from(TEXTS), max_size=3))
        )
        arrival_s = draw(st.sampled_from([number / 10, math.nan, math.inf, -math.inf, 1e308]))
        chunks.append((Chunk(number, block, samples, messages, arrival_s), stream))
        time_us += 1000 * n
    return chunks


@given(hostile_chunks())
def test_hostile_chunks_end_in_documents(chunks):
    analysed(chunks)


def recorded(samples: Samples, rate_hz: float = 1000.0, **fields: object) -> list[Document]:
    """Return the documents of samples in chunks of 4, as an EyeLink sends them."""
    stream = stream_of(rate_hz, **fields)
    parts = [samples[start : start + 4] for start in range(0, len(samples), 4)]
    return analysed([(Chunk(i, 0, part, (), i / 250), stream) for i, part in enumerate(parts)])


def viewed(seconds: float = 6.0, actual_hz: float = 1000.0) -> Samples:
    """Return gaze that jumps to and fro on the screen."""
    samples = jumping_gaze(round(seconds * actual_hz), "LR")
    samples["tracker_time_us"] = np.round(np.arange(len(samples)) * 1e6 / actual_hz)
    samples["left_x"] = np.where(np.isnan(samples["left_x"]), 800, samples["left_x"])
    samples["left_y"] = np.where(np.isnan(samples["left_y"]), 540, samples["left_y"])
    samples["right_x"], samples["right_y"] = samples["left_x"], samples["left_y"]
    return samples


def kinds(documents: list[Document]) -> set[str]:
    return {document.kind for document in documents if isinstance(document, Quality)}


FIELDS = ("left_x", "left_y", "right_x", "right_y")


def half_missing(samples: Samples) -> None:
    lost = np.random.default_rng(0).random(len(samples)) < 0.5
    for name in FIELDS:
        samples[name][lost] = np.nan


def infinite(samples: Samples) -> None:
    samples["left_x"][::7] = samples["right_x"][::7] = np.inf


def frozen(samples: Samples) -> None:
    for name in FIELDS:
        samples[name][1000:] = samples[name][1000]


def noisy(samples: Samples) -> None:
    for name in FIELDS:
        samples[name] += np.random.default_rng(0).normal(0, 60, len(samples))


def off_screen(samples: Samples) -> None:
    for name in FIELDS:
        samples[name] += 100_000


def long_loss(samples: Samples) -> None:
    for name in FIELDS:
        samples[name][1100:1800] = np.nan


def impossible_times(samples: Samples) -> None:
    samples["tracker_time_us"][50:3000:100] = -(2**63)


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (half_missing, "dropouts"),
        (infinite, "position"),
        (frozen, "frozen"),
        (noisy, "noise"),
        (off_screen, "off_screen"),
        (long_loss, "lost_samples"),
        (impossible_times, "time_order"),
    ],
)
def test_bad_samples_have_a_name(spoil, kind):
    samples = viewed()
    assert not kinds(recorded(samples)), "nothing is wrong with these"
    spoil(samples)
    documents = recorded(samples)
    assert kind in kinds(documents)
    n = sum(isinstance(document, (Quality, Blink)) for document in documents)
    assert n <= 25 * 6, "at most a few a second"


@pytest.mark.parametrize("actual_hz", [60.0, 1000.0, 2000.0])
@pytest.mark.parametrize("rate_hz", [0.1, 1.0, 10.0, 60.0, 100.0, 250.0, 1000.0, 2500.0, 1e6])
def test_a_wrong_rate_does_not_flood_the_documents(rate_hz, actual_hz):
    seconds = 10.0
    documents = recorded(viewed(seconds, actual_hz), rate_hz)
    kept = [document for document in documents if is_kept(document)]
    n_events = 10 * seconds  # 4 saccades a second with fixations, onsets and posteriors
    n_events *= max(1, actual_hz / 1000)
    assert len(kept) <= n_events + 20 * seconds + 30


def write_hostile(folder: Path) -> None:
    """Write a session with rates and times that no tracker has."""
    number = 0
    with SessionWriter.create(folder, MANIFEST, sync_interval_s=None) as writer:
        for rate_hz in [0.0, math.nan, math.inf, -5.0, 1e-300, 1000.0]:
            block = writer.start_block(stream_of(rate_hz))
            samples = viewed(2.0)
            samples["tracker_time_us"] += 10_000_000 * block
            impossible_times(samples)
            for start in range(0, len(samples), 100):
                texts = TEXTS if start == 100 else ()
                messages = tuple(Message(2**80, text) for text in texts)
                part = samples[start : start + 100]
                writer.append(Chunk(number, block, part, messages, math.nan))
                number += 1


def test_an_engine_survives_a_hostile_journal_and_so_does_the_next(tmp_path):
    folder = tmp_path / "hostile"
    write_hostile(folder)
    written = []
    for _ in range(2):
        settings = LiveSettings(folder=folder)
        run = SessionRun(settings, EngineModel(MODEL), clock=ManualClock())
        run.finish("over")
        run.close()
        written.append((folder / DOCUMENTS_NAME).read_bytes())
    assert written[0] == written[1], "the second made the same documents again"
    documents = read_documents(folder / DOCUMENTS_NAME)
    unknown = [d for d in documents if isinstance(d, Quality) and "rate is not known" in d.text]
    assert len(unknown) == 5, "one for each block"


def test_a_report_of_a_hostile_journal(tmp_path):
    folder = tmp_path / "hostile"
    write_hostile(folder)
    assert MANIFEST.session in session_page(gather(folder), made_at="now")
