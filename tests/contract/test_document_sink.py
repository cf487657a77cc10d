"""Contract of `DocumentSink`, run on every sink."""

from __future__ import annotations

import pytest
import zmq

from gazelive.gaze.documents import (
    Fixation,
    GazeTrace,
    Notice,
    Posterior,
    RunStopped,
    SaccadeOnset,
    TrialStopped,
)
from gazelive.live.engine.documents_file import DocumentsFile, read_documents
from gazelive.live.engine.sinks import DocumentSink
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.transport import DocumentPublisher, DocumentSubscriber

from ..support.document_list import DocumentList

DOCUMENTS = [
    SaccadeOnset(eye="R", onset_us=1, detection_delay_ms=2.0),
    Fixation(eye="both", onset_us=1, offset_us=5, x_deg=0.5, y_deg=-0.5),
    Posterior(
        tracker_time_us=9,
        leading=(3, 1),
        log_probabilities=(-0.1, -2.0),
        log_unknown=-5.0,
        n_saccades=4,
        n_images=1,
        seconds=2.5,
        settled=True,
    ),
    TrialStopped(trial="1", tracker_time_us=9),
    Notice(level="warning", text="ü\n"),
    RunStopped(reason="over"),
]


class Listening:
    """A publisher and a subscriber."""

    def __init__(self) -> None:
        self._context = zmq.Context()
        address = free_addresses().documents
        self.sink = DocumentPublisher(self._context, address)
        self._subscriber = DocumentSubscriber(self._context, address)
        self._heard: list[object] = []
        first = Notice(level="info", text="first")
        while self._subscriber.receive(0.02) is None:
            self.sink.write(first)
        while self._subscriber.receive(0.05) is not None:
            pass

    def taken(self, n: int) -> list[object]:
        while len(self._heard) < n:
            document = self._subscriber.receive(10.0)
            assert document is not None
            self._heard.append(document)
        assert self._subscriber.receive(0.0) is None
        return self._heard

    def end(self) -> None:
        self._subscriber.close()
        self.sink.close()
        self._context.term()


class InAFile:
    def __init__(self, folder) -> None:
        self.sink = DocumentsFile(folder)

    def taken(self, n: int) -> list[object]:
        self.sink.flush()
        return read_documents(self.sink.path)

    def end(self) -> None:
        self.sink.close()


class InAList:
    def __init__(self) -> None:
        self.sink = DocumentList()

    def taken(self, n: int) -> list[object]:
        return self.sink.documents

    def end(self) -> None:
        self.sink.close()


@pytest.fixture(params=["list", "file", "publisher"])
def kept(request, tmp_path):
    kinds = {"list": InAList, "file": lambda: InAFile(tmp_path), "publisher": Listening}
    kept = kinds[request.param]()
    yield kept
    kept.end()


def test_it_is_a_sink(kept):
    assert isinstance(kept.sink, DocumentSink)


def test_documents_arrive_in_order(kept):
    for document in DOCUMENTS:
        kept.sink.write(document)
    assert kept.taken(len(DOCUMENTS)) == DOCUMENTS


def test_traces_are_taken_without_complaint(kept):
    nothing = b""
    kept.sink.write(
        GazeTrace(first_us=0, interval_us=1.0, x_deg=nothing, y_deg=nothing, speed_deg_s=nothing)
    )


def test_after_the_end_nothing_is_taken(kept):
    kept.sink.close()
    kept.sink.close()
    with pytest.raises(ValueError, match="closed"):
        kept.sink.write(DOCUMENTS[0])
