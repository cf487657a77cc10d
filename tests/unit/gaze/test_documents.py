import contextlib

import msgspec
import pytest
from hypothesis import given, strategies as st

from gazelive.errors import TransportError
from gazelive.gaze import documents
from gazelive.gaze.documents import Document
from gazelive.gaze.screen import ScreenGeometry
from gazelive.gaze.stream import StreamDescription

# Geometries that are refused are tested with the screen; here any valid one does.
st.register_type_strategy(
    ScreenGeometry,
    st.builds(
        ScreenGeometry,
        width_px=st.just(1920),
        height_px=st.just(1080),
        width_mm=st.just(535.0),
        height_mm=st.just(301.0),
        eye_distance_mm=st.floats(100, 2000),
    ),
)
finite = st.floats(allow_nan=False, allow_infinity=False)
st.register_type_strategy(float, finite)
st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))


def any_document() -> st.SearchStrategy[Document]:
    return st.one_of([st.from_type(kind) for kind in Document.__args__])


@given(any_document())
def test_documents_survive_the_wire(document):
    assert documents.decode(documents.encode(document)) == document


@given(any_document())
def test_documents_survive_the_disk_as_one_line(document):
    line = documents.encode_line(document)
    assert line.count(b"\n") == 1
    assert documents.decode_line(line) == document


@given(st.binary(max_size=200))
def test_garbage_on_the_wire_is_a_transport_error_or_a_document(data):
    with contextlib.suppress(TransportError):
        assert documents.decode(data) is not None


def test_an_unknown_document_is_refused():
    with pytest.raises(TransportError, match="not a document"):
        documents.decode_line(b'{"type":"Horoscope"}')


@pytest.mark.parametrize(
    "data",
    [b"\xa1\xff", b"\x91" * 2000, b"\x81\xa1a" * 2000],
    ids=["not UTF-8", "lists in lists", "maps in maps"],
)
def test_crafted_messages_are_refused(data):
    with pytest.raises(TransportError, match="not a document"):
        documents.decode(data)


@pytest.mark.parametrize(
    "line",
    [
        b'"\xff"',
        b'{"a":' * 2000,
        b'{"a":' + b"[" * 2000,
        b'{"type":"TrialStopped","trial":"a","tracker_time_us":' + b"9" * 40 + b"}",
    ],
    ids=["not UTF-8", "maps in maps", "lists in lists", "more than 64 bits"],
)
def test_crafted_lines_are_refused(line):
    with pytest.raises(TransportError, match="not a document"):
        documents.decode_line(line)


def test_a_document_with_an_impossible_screen_is_refused():
    screen = {"width_px": 0, "height_px": 1, "width_mm": 1, "height_mm": 1, "eye_distance_mm": 1}
    stream = {"device": "x", "sampling_rate_hz": 1000, "eyes": "L", "screen": screen}
    line = msgspec.json.encode({"type": "RunStarted", "session": "s", "stream": stream})
    with pytest.raises(TransportError, match="width_px"):
        documents.decode_line(line)


def test_a_stream_knows_its_sample_interval():
    stream = StreamDescription(device="x", sampling_rate_hz=2000, eyes="LR")
    assert stream.sample_interval_us == 500
