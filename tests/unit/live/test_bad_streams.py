"""Bad streams, from the device to the documents: faults have names, and what came is stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gazelive.devices.replay import ReplayDevice
from gazelive.gaze.documents import Blink, Document, Quality
from gazelive.live.engine.documents_file import read_documents
from gazelive.live.engine.model import EngineModel
from gazelive.live.engine.session_run import SessionRun
from gazelive.live.settings import LiveSettings
from gazelive.recordings import Recording
from gazelive.recordings.session.journal_reader import JournalFollower
from gazelive.recordings.session.manifest import DOCUMENTS_NAME, JOURNAL_NAME
from gazelive.recordings.session.writer import SessionWriter

from ...support.devices import record
from ...support.faults import (
    BackwardTimes,
    Fault,
    FaultyDevice,
    LostGaze,
    LostSamples,
    RepeatedTimes,
)
from ...support.manual_clock import ManualClock
from ...support.recordings import make_block, make_recording, samples_of
from .test_session_run import MANIFEST

RATE_HZ = 250.0


def gaze(seconds: float) -> Recording:
    return make_recording([make_block(3, seconds, 1_000_000, rate_hz=RATE_HZ, eyes="LR")])


def documents_of(folder: Path, recording: Recording, *faults: Fault) -> list[Document]:
    """Record through faults, with an engine on what was written, and with another one again."""
    clock = ManualClock()
    delivered = []
    device = FaultyDevice(ReplayDevice(recording, clock=clock, chunk_s=0.02), faults, clock=clock)
    writer = SessionWriter.create(folder, MANIFEST, sync_interval_s=None)
    record(device, writer, [lambda chunk, _stream: delivered.append(chunk)], clock=clock)
    stored = list(JournalFollower(folder / JOURNAL_NAME).poll())[1:]
    assert samples_of(stored).tobytes() == samples_of(delivered).tobytes()  # type: ignore[arg-type]
    written = []
    for _ in range(2):
        run = SessionRun(LiveSettings(folder=folder), EngineModel(), clock=clock)
        run.finish("over")
        run.close()
        written.append((folder / DOCUMENTS_NAME).read_bytes())
    assert written[0] == written[1]
    return read_documents(folder / DOCUMENTS_NAME)


def named(documents: list[Document]) -> Counter[str]:
    return Counter(d.kind for d in documents if isinstance(d, Quality))


def seconds_to_samples(seconds: float) -> int:
    return round(seconds * RATE_HZ)


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        (LostSamples(every_n=10, length=3), {"time_gap", "rate"}),
        (LostSamples(every_n=seconds_to_samples(9), length=seconds_to_samples(1)), {"time_gap"}),
        (LostSamples(every_n=seconds_to_samples(9), length=seconds_to_samples(5)), {"time_gap"}),
        (LostGaze(every_n=8, length=4), {"dropouts"}),
        (LostGaze(every_n=seconds_to_samples(9), length=seconds_to_samples(5)), {"eye"}),
        (RepeatedTimes(every_n=50), {"duplicate"}),
        (BackwardTimes(every_n=50, by_us=9000), {"time_order"}),
    ],
    ids=["30 % lost", "gone 1 s", "gone 5 s", "storm", "5 s blink", "duplicated", "backward"],
)
def test_a_bad_stream_has_a_name(tmp_path: Path, fault: Fault, kinds: set[str]) -> None:
    found = named(documents_of(tmp_path / "s", gaze(10.0), fault))
    assert kinds <= found.keys()
    assert found.total() <= 10 * 6, "at most a few a second"


def test_nothing_is_wrong_with_the_stream_itself(tmp_path: Path) -> None:
    assert not named(documents_of(tmp_path / "s", gaze(10.0)))


def test_gone_for_a_minute(tmp_path: Path) -> None:
    n, minute = seconds_to_samples(70), seconds_to_samples(60)
    documents = documents_of(tmp_path / "s", gaze(70.0), LostSamples(every_n=n, length=minute))
    gaps = [d for d in documents if isinstance(d, Quality) and d.kind == "time_gap"]
    assert [round(gap.value or 0, -3) for gap in gaps] == [60_000]


def test_a_blink_of_twenty_seconds(tmp_path: Path) -> None:
    n, long = seconds_to_samples(30), seconds_to_samples(20)
    documents = documents_of(tmp_path / "s", gaze(30.0), LostGaze(every_n=n, length=long))
    assert 18 <= named(documents)["eye"] <= 20, "one for each second"
    longest = max(d.offset_us - d.onset_us for d in documents if isinstance(d, Blink))
    assert longest == pytest.approx(20e6, rel=0.02)


@pytest.mark.parametrize("promised_hz", [125.0, 500.0, 1000.0])
def test_another_rate_than_promised(tmp_path: Path, promised_hz: float) -> None:
    recording = gaze(6.0)
    (block,) = recording.blocks
    stream = msgspec.structs.replace(block.stream, sampling_rate_hz=promised_hz)
    wrong = replace(recording, blocks=(replace(block, stream=stream),))
    documents = documents_of(tmp_path / "s", wrong)
    found = [d for d in documents if isinstance(d, Quality) and d.kind == "rate"]
    assert found
    assert np.mean([d.value for d in found]) == pytest.approx(RATE_HZ, rel=0.02)
