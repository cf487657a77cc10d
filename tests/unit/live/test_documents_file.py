"""The engine's own file: torn, known, other; one writer."""

import pytest
from hypothesis import given, strategies as st

from gazelive.errors import RecordingError
from gazelive.gaze.documents import (
    GazeTrace,
    IntervalSettled,
    Notice,
    Posterior,
    QualitySummary,
    RunStarted,
    TrialStarted,
    encode_line,
)
from gazelive.live.engine.documents_file import DocumentsFile, is_kept, read_documents, whole_bytes
from gazelive.live.engine.sinks import Snapshot
from gazelive.recordings.session.manifest import DOCUMENTS_NAME

from ...support.recordings import make_block, make_recording
from ...support.streams import Cuts, run


@pytest.fixture(scope="module")
def documents():
    """Documents of a pipeline for two blocks, traces included."""
    blocks = [make_block(0, 2.0, 1_000_000), make_block(1, 2.0, 4_000_000)]
    return run(make_recording(blocks, []), Cuts((0.2, 0.5)))


def kept(documents):
    return [document for document in documents if is_kept(document)]


def say(file, documents):
    """Write the documents that the file lacks; return them."""
    new = [document for document in documents if not file.is_known(document)]
    for document in new:
        file.write(document)
    file.flush()
    return kept(new)


def test_everything_but_traces_is_kept(tmp_path, documents):
    assert any(isinstance(document, GazeTrace) for document in documents)
    file = DocumentsFile(tmp_path)
    assert say(file, documents) == kept(documents)
    assert read_documents(tmp_path / DOCUMENTS_NAME) == kept(documents)
    file.close()
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.write(documents[0])
    assert [path.name for path in tmp_path.iterdir()] == [DOCUMENTS_NAME]


@given(cut=st.floats(0, 1))
def test_a_truncated_file_is_continued(tmp_path_factory, documents, cut):
    folder = tmp_path_factory.mktemp("session")
    path = folder / DOCUMENTS_NAME
    whole = b"".join(encode_line(document) for document in kept(documents))
    torn = whole[: round(cut * len(whole))]
    path.write_bytes(torn)
    file = DocumentsFile(folder)
    said = say(file, documents)
    file.close()
    assert path.read_bytes() == whole
    assert said == kept(documents)[torn.count(b"\n") :]
    assert file.set_aside is None


def test_latency_is_ignored_in_comparison(tmp_path, documents):
    file = DocumentsFile(tmp_path)
    say(file, documents)
    file.close()
    slower = [
        QualitySummary(**{f: getattr(d, f) for f in d.__struct_fields__} | {"latency_ms": 7.0})
        if isinstance(d, QualitySummary)
        else d
        for d in documents
    ]
    file = DocumentsFile(tmp_path)
    assert say(file, slower) == []
    assert not file.is_behind
    file.close()
    assert read_documents(tmp_path / DOCUMENTS_NAME) == kept(documents)


@pytest.mark.parametrize("at", [0, 1, 7])
def test_another_story_is_kept_aside(tmp_path, documents, at):
    file = DocumentsFile(tmp_path)
    say(file, documents)
    file.close()
    other = kept(documents)
    other[at] = Notice(level="info", text="another model")
    for number in (1, 2):
        file = DocumentsFile(tmp_path)
        assert say(file, other) == other[at:]
        file.close()
        assert file.set_aside == tmp_path / f"events.{number}.jsonl"
        assert read_documents(tmp_path / DOCUMENTS_NAME) == other
        other[at] = Notice(level="info", text="yet another")
    assert read_documents(tmp_path / "events.1.jsonl") == kept(documents)


def test_damage_in_the_middle_is_kept_aside_too(tmp_path, documents):
    lines = [encode_line(document) for document in kept(documents)]
    lines[3] = b"\x00\xff damage\n"
    (tmp_path / DOCUMENTS_NAME).write_bytes(b"".join(lines))
    file = DocumentsFile(tmp_path)
    say(file, documents)
    file.close()
    assert file.set_aside is not None
    assert read_documents(tmp_path / DOCUMENTS_NAME) == kept(documents)


def test_one_writer(tmp_path):
    file = DocumentsFile(tmp_path)
    with pytest.raises(RecordingError, match="is analysing this session"):
        DocumentsFile(tmp_path)
    file.close()
    DocumentsFile(tmp_path).close()


@pytest.mark.parametrize(
    ("content", "n"), [(b"", 0), (b"abc", 0), (b"a\nb", 2), (b"a\n", 2), (b"x" * (3 << 20), 0)]
)
def test_whole_lines(tmp_path, content, n):
    (tmp_path / "f").write_bytes(content)
    assert whole_bytes(tmp_path / "f") == n
    assert whole_bytes(tmp_path / "missing") == 0


def test_a_snapshot_holds_the_current_state(documents):
    snapshot = Snapshot()
    for document in documents * 300:
        snapshot.add(document)
    found = snapshot.documents
    assert len(found) < 200
    assert isinstance(found[0], RunStarted)
    assert sum(isinstance(document, RunStarted) for document in found) == 1
    posteriors = [document for document in found if isinstance(document, Posterior)]
    assert [p.settled for p in posteriors].count(False) == 1
    assert [d for d in found if isinstance(d, (IntervalSettled, TrialStarted))] == [
        d for d in documents if isinstance(d, (IntervalSettled, TrialStarted))
    ]
