"""Analysis of a session: from the wire, from disk, after a crash."""

import errno
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gazelive.errors import StorageError
from gazelive.gaze.documents import (
    GazeTrace,
    IntervalSettled,
    Notice,
    Posterior,
    QualitySummary,
    RunStarted,
    RunStopped,
)
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Message
from gazelive.live.engine.documents_file import is_kept, read_documents
from gazelive.live.engine.model import EngineModel
from gazelive.live.engine.session_run import MOST_PROBLEMS, SessionRun
from gazelive.live.settings import LiveSettings
from gazelive.live.wire.chunks import WIRE_VERSION, BlockEnded, WiredChunk
from gazelive.recordings.geometry import GeometryFlags
from gazelive.recordings.session.manifest import DOCUMENTS_NAME, JOURNAL_NAME, SessionManifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

from ...support.document_list import DocumentList
from ...support.failing_disk import FailingDisk, fails_at
from ...support.manual_clock import ManualClock
from ...support.recordings import make_block, make_recording
from ...support.streams import MODEL, Cuts, chunks_of, settled_live, settled_offline

MANIFEST = SessionManifest(
    session="s1",
    viewer="v001",
    device="test",
    mode="identify",
    started_at="2026-11-16T10:00:00+00:00",
    screen=PAPER_SCREEN,
    config={"n_trials": 2},
)
MESSAGES = [
    Message(900_000, "TRIALID 1"),
    Message(1_300_000, "image_onset"),
    Message(1_300_000, "!V IMGLOAD FILL a.png"),
    Message(2_800_000, "image_offset"),
    Message(3_100_000, "TRIAL_RESULT 0"),
    Message(3_900_000, "TRIALID 2"),
    Message(4_300_000, "image_onset"),
    Message(6_500_000, "TRIAL_RESULT 0"),
]
RECORDING = make_recording([make_block(0, 2.0, 1_000_000), make_block(1, 2.0, 4_000_000)], MESSAGES)
CUTS = Cuts(tuple(np.linspace(0, 1, 101)))
WIRED = [WiredChunk(chunk, stream) for chunk, stream in chunks_of(RECORDING, CUTS)]
ENGINE_MODEL = EngineModel(MODEL)


@dataclass
class Session:
    """A session folder that grows."""

    folder: object
    writer: SessionWriter

    def record(self, wired):
        for one in wired:
            while self.writer.block is None or self.writer.block < one.chunk.block:
                self.writer.start_block(one.stream)
            self.writer.append(one.chunk)

    def run(self, **options):
        sink = DocumentList()
        settings = LiveSettings(folder=self.folder, **options.pop("settings", {}))
        model = options.pop("model", ENGINE_MODEL)
        clock = options.pop("clock", ManualClock())
        run = SessionRun(settings, model, sinks=[sink], clock=clock, **options)
        return run, sink.documents


@pytest.fixture
def session(tmp_path):
    folder = tmp_path / "s1"
    writer = SessionWriter.create(folder, MANIFEST, sync_interval_s=None)
    yield Session(folder, writer)
    writer.close()


def without_traces(documents):
    return [document for document in documents if is_kept(document)]


def without_latency(documents):
    return [
        replace_latency(document) if isinstance(document, QualitySummary) else document
        for document in without_traces(documents)
    ]


def replace_latency(summary):
    return QualitySummary(
        **{f: getattr(summary, f) for f in summary.__struct_fields__} | {"latency_ms": None}
    )


@pytest.fixture
def expected(tmp_path):
    """Documents of an engine that ran from the start and missed nothing."""
    folder = tmp_path / "expected"
    with SessionWriter.create(folder, MANIFEST, sync_interval_s=None) as writer:
        session = Session(folder, writer)
        run, said = session.run()
        run.read_disk()
        for one in WIRED:
            session.record([one])
            run.take(one)
        run.finish("over")
        run.close()
    return without_latency(said)


def in_this_folder(documents, session):
    return [
        RunStarted(session=d.session, stream=d.stream, viewer=d.viewer, folder=str(session.folder))
        if isinstance(d, RunStarted)
        else d
        for d in documents
    ]


def test_the_engine_agrees_with_offline_analysis_of_the_folder(session, expected):
    session.record(WIRED)
    assert settled_live(expected) == settled_offline(read_session(session.folder))
    assert [s.trial for s in expected if isinstance(s, IntervalSettled)] == ["1", "2"]
    started = expected[0]
    assert (started.session, started.viewer) == ("s1", "v001")


def test_a_late_engine_gives_the_same_documents(session, expected):
    session.record(WIRED)
    run, said = session.run()
    assert not run.is_caught_up
    assert run.read_disk() == len(WIRED)
    assert run.is_caught_up
    run.finish("over")
    run.close()
    assert not any(isinstance(document, GazeTrace) for document in said)
    assert without_latency(said) == in_this_folder(expected, session)


def test_chunks_that_the_wire_loses_are_read_from_disk(session, expected):
    rng = np.random.default_rng(0)
    run, said = session.run()
    run.read_disk()
    for one in WIRED:
        session.record([one])
        if rng.random() < 0.4:
            run.take(one)
            run.take(one)  # and some come twice
    run.finish("over")
    run.close()
    assert without_latency(said) == in_this_folder(expected, session)


@pytest.mark.parametrize("at", [0, 1, 57, 101, 130, 180, len(WIRED) - 1])
@pytest.mark.parametrize("torn", [0, 1, 300])
def test_a_run_that_died_goes_on_without_losing_or_repeating(session, expected, at, torn):
    run, before = session.run()
    for one in WIRED[:at]:
        session.record([one])
        run.take(one)
    run.close()  # dead; what it wrote last may be torn
    path = session.folder / DOCUMENTS_NAME
    content = path.read_bytes()
    path.write_bytes(content[: max(0, len(content) - torn)])
    n_lines = path.read_bytes().count(b"\n")
    session.record(WIRED[at:-1])
    run, after = session.run()
    run.read_disk()
    session.record(WIRED[-1:])
    run.take(WIRED[-1])
    run.finish("over")
    run.close()
    said = in_this_folder(expected, session)
    assert without_latency(before) == said[: len(without_traces(before))]
    assert without_latency(after) == said[n_lines:]
    assert without_latency(read_documents(path)) == said
    assert [d for d in run.snapshot.documents if isinstance(d, IntervalSettled)] == [
        d for d in said if isinstance(d, IntervalSettled)
    ]


def test_an_announced_block_end_settles_the_block(session):
    # the second image never goes: it ends with its trial, after the last sample
    n_of_two = sum(one.chunk.block == 0 for one in WIRED)
    run, said = session.run()
    for one in WIRED:
        session.record([one])
    run.read_disk()
    n_settled = sum(isinstance(d, IntervalSettled) for d in said)
    assert n_settled == 1
    run.end_block(BlockEnded(WIRE_VERSION, "", n_of_two))  # old: it is of the block before
    assert sum(isinstance(d, IntervalSettled) for d in said) == 1
    run.end_block(BlockEnded(WIRE_VERSION, "", len(WIRED)))
    assert sum(isinstance(d, IntervalSettled) for d in said) == 2
    run.close()
    again, more = session.run()  # the sign is not in the journal, but nothing is said twice
    again.read_disk()
    again.finish("over")
    assert [type(d) for d in more] == [RunStopped]
    again.close()


def test_another_model_begins_anew_and_keeps_the_old_documents(session):
    session.record(WIRED)
    run, _ = session.run()
    run.read_disk()
    run.close()
    other = EngineModel(replace(MODEL, name="other"))
    run, said = session.run(model=other)
    run.read_disk()
    assert [p.n_saccades for p in said if isinstance(p, Posterior) and p.settled]
    run.close()
    assert (session.folder / "events.1.jsonl").is_file()


def test_damage_in_the_journal_is_reported_and_survived(session):
    session.record(WIRED[:100])
    path = session.folder / JOURNAL_NAME
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    run, said = session.run()
    run.read_disk()
    (notice,) = [d for d in said if isinstance(d, Notice)]
    assert "are damaged and were skipped; chunk" in notice.text
    assert run.next_chunk == 100
    run.close()


def test_damage_everywhere_is_reported_up_to_a_limit(session):
    session.record(WIRED[:100])
    path = session.folder / JOURNAL_NAME
    content = bytearray(path.read_bytes())
    content[1000::1000] = bytes(255 - byte for byte in content[1000::1000])
    path.write_bytes(content)
    run, said = session.run()
    run.read_disk()
    run.close()
    notices = [d.text for d in said if isinstance(d, Notice)]
    assert len(notices) == MOST_PROBLEMS + 1
    assert "more losses are not listed" in notices[-1]


def test_the_screen_may_be_given(tmp_path):
    folder = tmp_path / "unknown"
    bare = make_block(0, 2.0, 1_000_000)
    stream = type(bare.stream)(device="test", sampling_rate_hz=500.0, eyes="R")
    recording = make_recording([replace(bare, stream=stream)], [])
    with SessionWriter.create(
        folder, replace_manifest(screen=None), sync_interval_s=None
    ) as writer:
        session = Session(folder, writer)
        session.record([WiredChunk(c, s) for c, s in chunks_of(recording, CUTS)])
        run, said = session.run()
        run.read_disk()
        run.finish("over")
        run.close()
        assert "does not give the size" in next(d for d in said if isinstance(d, Notice)).text
        assert not any(isinstance(d, IntervalSettled) for d in said)
        flags = GeometryFlags((1920, 1080), (535.0, 301.0), 600.0)
        run, said = session.run(settings={"geometry": flags})
        run.read_disk()
        run.finish("over")
        run.close()
    (settled,) = [d for d in said if isinstance(d, IntervalSettled)]
    assert settled.saccades


def replace_manifest(**changes):
    return SessionManifest(
        **{f: getattr(MANIFEST, f) for f in MANIFEST.__struct_fields__} | changes
    )


def test_latency_is_from_arrival_to_publication(session):
    clock = ManualClock(100.0)
    run, said = session.run(clock=clock)
    run.read_disk()
    for wired in WIRED:
        now = WiredChunk(replace(wired.chunk, arrival_s=clock.now_s() - 0.004), wired.stream)
        session.record([now])
        run.take(now)
    run.close()
    assert run.latency_p99_ms == pytest.approx(4.0)
    summaries = [d for d in said if isinstance(d, QualitySummary)]
    assert summaries[-1].latency_ms == pytest.approx(4.0)


def test_chunks_go_to_their_sinks_once_they_are_live(session):
    seen = []
    session.record(WIRED[:50])
    run, _ = session.run(chunk_sinks=[lambda chunk, stream: seen.append(chunk.number)])
    run.read_disk()
    session.record(WIRED[50:60])
    for one in WIRED[50:60]:
        run.take(one)
    run.close()
    assert seen == list(range(50, 60))


def test_documents_that_a_disk_refused_are_made_again(session, monkeypatch):
    session.record(WIRED)
    path = session.folder / DOCUMENTS_NAME
    with monkeypatch.context() as patched:
        run, said = session.run()
        disk = FailingDisk(path, patched)
        disk.before_write = fails_at(5, errno.EIO)
        with pytest.raises(StorageError, match=r"events\.jsonl: cannot be written"):
            run.read_disk()
        run.close()
    assert said
    n_before = path.read_bytes().count(b"\n")
    run, rest = session.run()
    run.finish("over")
    run.close()
    assert rest
    assert path.read_bytes().count(b"\n") > n_before
    again, repeated = session.run()
    again.finish("over")
    again.close()
    assert repeated == [], "every document is there, once"
