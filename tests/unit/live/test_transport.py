"""Sockets on this computer: delivery, no blocking, access only with keys."""

import contextlib
import stat
import sys
import time
from dataclasses import replace

import msgspec
import numpy as np
import pytest
import zmq
from hypothesis import given, strategies as st

from gazelive.errors import ConfigError, PeerLostError, TransportError, VersionMismatchError
from gazelive.gaze import documents
from gazelive.gaze.documents import Document, Notice, Posterior, Saccade, SaccadeOnset
from gazelive.gaze.samples import SAMPLE_DTYPE
from gazelive.gaze.stream import Chunk, Message
from gazelive.live.wire import chunks as wire, transport
from gazelive.live.wire.addresses import Addresses, free_addresses
from gazelive.live.wire.chunks import BlockEnded, ChunkDecoder, ChunkEncoder, RunEnded, WiredChunk
from gazelive.live.wire.control import ControlServer, request
from gazelive.live.wire.device_control import DeviceLink
from gazelive.live.wire.keys import (
    Doorkeeper,
    load_client_keys,
    load_server_keys,
    make_keys,
    require_keys,
)
from gazelive.live.wire.transport import (
    CHUNK_QUEUE,
    MOST_AT_ONCE,
    ChunkReceiver,
    ChunkSender,
    DocumentPublisher,
    DocumentSubscriber,
    Posteriors,
    _beginning,
)

from ...support.recordings import gaze_samples, make_stream

STREAM = make_stream()
PATIENCE_S = 20.0


@pytest.fixture
def context():
    context = zmq.Context()
    yield context
    context.destroy(linger=0)


@pytest.fixture
def addresses():
    return free_addresses()


def a_chunk(number=0, n=10):
    messages = (Message(5, "TRIALID ü"),) if number % 3 == 0 else ()
    return Chunk(number, 2, gaze_samples(number, 1.0, 0)[:n], messages, 0.25 * number)


def assert_same(found, expected):
    assert found.samples.tobytes() == expected.samples.tobytes()
    assert replace(found, samples=expected.samples) == expected


@pytest.mark.parametrize("n", [0, 1, 500])
def test_a_chunk_comes_back_bit_for_bit(n):
    encoder, decoder = ChunkEncoder(), ChunkDecoder()
    for stream in (STREAM, make_stream(eyes="LR"), STREAM):
        frames = [bytes(frame) for frame in encoder.frames(a_chunk(3, n), stream)]
        wired = decoder.read(frames)
        assert isinstance(wired, WiredChunk)
        assert_same(wired.chunk, a_chunk(3, n))
        assert wired.chunk.samples.dtype == SAMPLE_DTYPE
        assert wired.chunk.samples.flags.writeable
        assert wired.stream == stream


@given(st.lists(st.binary(max_size=60), max_size=4))
def test_garbage_is_a_transport_error(frames):
    with contextlib.suppress(TransportError):
        ChunkDecoder().read(frames)


def test_another_version_is_named():
    old = msgspec.msgpack.encode(BlockEnded(99, "s", 3))
    with pytest.raises(VersionMismatchError, match="version 99"):
        ChunkDecoder().read([old])


def receive(receiver):
    assert receiver.socket.poll(1000 * PATIENCE_S)
    return receiver.receive()


def test_chunks_and_signs_arrive_in_their_order(context, addresses):
    receiver, sender = (
        ChunkReceiver(context, addresses.chunks),
        ChunkSender(context, addresses.chunks, "s"),
    )
    for number in range(20):
        sender(a_chunk(number), STREAM)
    sender.end_block()
    sender.end_run("over")
    for number in range(20):
        assert_same(receive(receiver).chunk, a_chunk(number))
    assert receive(receiver) == BlockEnded(wire.WIRE_VERSION, "s", 20)
    assert receive(receiver) == RunEnded(wire.WIRE_VERSION, "s", 20, "over")
    assert receiver.receive() is None
    sender.close()
    receiver.close()


def test_a_sender_without_an_engine_never_waits(context, addresses):
    sender = ChunkSender(context, addresses.chunks)
    for number in range(3 * CHUNK_QUEUE):
        sender(a_chunk(number), STREAM)
    assert sender.n_unsent == 2 * CHUNK_QUEUE
    receiver = ChunkReceiver(context, addresses.chunks)  # it comes after all
    assert receive(receiver).chunk.number == 0
    sender.close()
    receiver.close()


def subscribed(publisher, *subscribers):
    """Publish until every subscription has reached the publisher, and read all of that."""
    for subscriber in subscribers:
        for _ in range(1000):
            publisher.write(Notice(level="info", text="?"))
            if subscriber.receive(0.02) is not None:
                break
        else:
            pytest.fail("nothing was ever received")
    last = Notice(level="info", text="now it begins")
    publisher.write(last)
    for subscriber in subscribers:
        while (document := subscriber.receive(PATIENCE_S)) != last:
            assert document is not None


SENT: list[Document] = [
    SaccadeOnset(eye="R", onset_us=1, detection_delay_ms=2.0),
    Saccade(
        eye="R",
        onset_us=1,
        offset_us=2,
        start_x_deg=0,
        start_y_deg=0,
        end_x_deg=1,
        end_y_deg=1,
        peak_velocity_deg_s=100,
    ),
    *(
        Posterior(
            tracker_time_us=k,
            leading=(0,),
            log_probabilities=(0.0,),
            n_saccades=k,
            n_images=1,
            seconds=1.0,
            settled=k > 1,
        )
        for k in range(4)
    ),
    Notice(level="info", text="!"),
]


def test_documents_reach_subscribers(context, addresses):
    publisher = DocumentPublisher(context, addresses.documents)
    everything = DocumentSubscriber(context, addresses.documents)
    some = DocumentSubscriber(context, addresses.documents, (Saccade, Notice))
    settled = Posteriors(context, addresses.documents)
    subscribed(publisher, everything, some)
    for document in SENT:
        publisher.write(document)
    received = [everything.receive(PATIENCE_S) for _ in SENT]
    assert received == SENT
    assert [some.receive(PATIENCE_S) for _ in range(2)] == [SENT[1], SENT[-1]]
    deadline_s = time.monotonic() + PATIENCE_S
    while settled.latest_settled() != SENT[5]:
        assert time.monotonic() < deadline_s
        publisher.write(SENT[5])
    assert settled.newest() == SENT[5]
    for part in (everything, some, settled, publisher, publisher):
        part.close()
    with pytest.raises(ValueError, match="closed"):
        publisher.write(SENT[0])


def test_posteriors_that_nobody_asks_for_do_not_wait(context, addresses, monkeypatch):
    monkeypatch.setattr(transport, "CATCH_UP_S", 0.0)
    publisher = DocumentPublisher(context, addresses.documents)
    posteriors = Posteriors(context, addresses.documents)
    deadline_s = time.monotonic() + PATIENCE_S
    while posteriors.newest() is None:
        assert time.monotonic() < deadline_s
        publisher.write(SENT[5])
    last = msgspec.structs.replace(SENT[2], tracker_time_us=1_000_000)
    for _ in range(3 * MOST_AT_ONCE):
        publisher.write(SENT[2])
    publisher.write(last)
    while posteriors._newest != last:
        assert time.monotonic() < deadline_s
        posteriors.catch_up()
    assert posteriors._subscriber.receive() is None
    assert posteriors.latest_settled() == SENT[5]
    posteriors.close()
    publisher.close()


@pytest.mark.parametrize("kind", Document.__args__)
def test_every_kind_of_document_has_a_beginning_of_its_own(kind):
    beginnings = [_beginning(other) for other in Document.__args__]
    assert sum(b.startswith(_beginning(kind)) for b in beginnings) == 1
    for document in SENT:
        if type(document) is kind:
            assert documents.encode(document).startswith(_beginning(kind))


def test_requests_are_answered(context, addresses):
    server = ControlServer(context, addresses.control)
    asker = context.socket(zmq.DEALER)
    asker.connect(addresses.control)

    def ask(payload):
        asker.send_multipart([b"", payload])
        assert server.socket.poll(1000 * PATIENCE_S)
        found = next(server.requests(), None)
        if found is not None:
            server.answer(found, got=found.arguments)
        assert asker.poll(1000 * PATIENCE_S)
        return found, msgspec.msgpack.decode(asker.recv_multipart()[-1])

    found, answer = ask(msgspec.msgpack.encode({"command": "speed", "speed": 2.0}))
    assert (found.command, answer) == ("speed", {"ok": True, "got": {"speed": 2.0}})
    for garbage in (b"", b"\xff", msgspec.msgpack.encode({"speed": 1}), b"\x81\xa7command\x01"):
        found, answer = ask(garbage)
        assert found is None
        assert not answer["ok"]
    asker.close(0)
    server.close()


def test_nobody_answers(context, addresses):
    with pytest.raises(PeerLostError, match="no answer"):
        request(context, addresses.control, "status", timeout_s=0.05)


def test_a_port_that_is_taken_is_named(context, addresses):
    server = ControlServer(context, addresses.control)
    with pytest.raises(TransportError, match="another engine"):
        ControlServer(context, addresses.control)
    server.close()


def test_requests_are_passed_on_to_the_owner_of_the_device(context, addresses):
    front = ControlServer(context, addresses.control)
    link = DeviceLink(context, addresses.device)
    asker = context.socket(zmq.REQ)
    asker.connect(addresses.control)
    asker.send(msgspec.msgpack.encode({"command": "pause"}))
    assert front.socket.poll(1000 * PATIENCE_S)
    asked = next(front.requests())
    link.ask(asked)
    ((unanswered, answer),) = link.step(0.0)  # nobody is there, and that is told at once
    assert unanswered is asked
    assert "does not answer" in answer["error"]

    owner = ControlServer(context, addresses.device)
    answers, n_asked, now_s = [], 0, 200.0
    while not any(answer["ok"] for answer in answers) and now_s < 300:
        if len(answers) == n_asked:
            link.ask(asked)
            n_asked += 1
        now_s += 0.01
        answers += [answer for _, answer in link.step(now_s)]
        owner.socket.poll(5)
        for asked_now in owner.requests():
            owner.answer(asked_now, playback={"paused": asked_now.command == "pause"})
    assert answers[-1] == {"ok": True, "playback": {"paused": True}}
    assert link.status["playback"] == {"paused": True}
    asker.close(0)
    for part in (front, link, owner):
        part.close()


NO_MAPS = {
    "nothing": b"",
    "garbage": b"\xc1\xff\x00",
    "a list": msgspec.msgpack.encode([1, 2]),
    "numbers as keys": msgspec.msgpack.encode({1: 2}),
    "letters that are none": b"\x81\xa7command\xa2\xff\xfe",
    "without an end": b"\x81\xa1a" + b"\x91" * 100_000,
    "torn": msgspec.msgpack.encode({"command": "status"})[:-2],
}


@pytest.mark.parametrize("payload", NO_MAPS.values(), ids=NO_MAPS)
def test_an_invalid_request_is_refused(context, addresses, payload):
    server = ControlServer(context, addresses.control)
    with context.socket(zmq.REQ) as asker:
        asker.linger = 0
        asker.connect(addresses.control)
        asker.send(payload)
        assert server.socket.poll(1000 * PATIENCE_S)
        assert next(server.requests(), None) is None
        assert asker.poll(1000 * PATIENCE_S)
        answer = msgspec.msgpack.decode(asker.recv())
    assert answer == {"ok": False, "error": "not a request of this version"}
    server.close()


def test_an_invalid_answer_of_the_device_is_ignored(context, addresses):
    """A refusal does not count as a lost device."""
    link = DeviceLink(context, addresses.device)
    owner = context.socket(zmq.ROUTER)
    owner.linger = 0
    owner.bind(addresses.device)
    now_s = 0.0
    while link._asked is None:  # until it is connected; an answer to an older question is ignored
        now_s += 2.0
        link.step(now_s)
        owner.poll(5)
    assert owner.poll(1000 * PATIENCE_S)
    sender, number, empty, _asked = owner.recv_multipart()
    for frames in ([b""], [number], *([number, empty, payload] for payload in NO_MAPS.values())):
        owner.send_multipart([sender, *frames])
    for answer in ({"ok": True, "playback": {"paused": False}}, {"ok": False, "error": "no"}):
        owner.send_multipart([sender, number, empty, msgspec.msgpack.encode(answer)])
    while not link.status:
        assert link.socket.poll(1000 * PATIENCE_S)
        assert link.step(now_s) == []
    assert link.status["playback"] == {"paused": False}
    link.close()
    owner.close()


# other computers


@pytest.fixture
def keys(tmp_path):
    make_keys(tmp_path / "keys", "lab-2")
    return tmp_path / "keys"


def test_keys_are_made_once_and_kept_private(keys):
    with pytest.raises(ConfigError, match="already"):
        make_keys(keys, "lab-2")
    server = load_server_keys(keys)
    make_keys(keys, "lab-3")
    assert load_server_keys(keys).secret == server.secret
    assert load_server_keys(keys).allowed > server.allowed
    assert load_client_keys(keys / "lab-3").server_public == server.public
    assert load_client_keys(keys / "lab-2") != load_client_keys(keys / "lab-3")
    assert sorted(path.name for path in (keys / "allowed").iterdir()) == ["lab-2.key", "lab-3.key"]
    if sys.platform != "win32":
        for secret in keys.rglob("*.key_secret"):
            assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    for wrong in ("", "../x", "a/b", "server", "allowed"):
        with pytest.raises(ConfigError, match="no name"):
            make_keys(keys, wrong)


def test_missing_keys_are_named(tmp_path):
    with pytest.raises(ConfigError, match="gazelive keys"):
        load_server_keys(tmp_path)
    with pytest.raises(ConfigError, match="gazelive keys"):
        load_client_keys(tmp_path / "nowhere")


def test_only_authorised_keys_receive_documents(keys, tmp_path, addresses):
    """The same address, the same documents: with the right keys, with others, with none."""
    make_keys(tmp_path / "others", "stranger")
    stranger = load_client_keys(tmp_path / "others" / "stranger")
    server, friend = load_server_keys(keys), load_client_keys(keys / "lab-2")
    stranger = replace(stranger, server_public=server.public)  # that is no secret
    serving, asking = zmq.Context(), zmq.Context()
    with contextlib.closing(Doorkeeper(serving, server)):
        publisher = DocumentPublisher(serving, addresses.documents, prepare=server.secure)
        control = ControlServer(serving, addresses.control, prepare=server.secure)
        subscribers = [
            DocumentSubscriber(asking, addresses.documents, prepare=prepare)
            for prepare in (friend.secure, stranger.secure, None)
        ]
        subscribed(publisher, subscribers[0])
        publisher.write(SENT[0])
        assert subscribers[0].receive(PATIENCE_S) == SENT[0]
        for subscriber in subscribers[1:]:
            assert subscriber.receive(0.2) is None
        for prepare in (stranger.secure, None):
            with pytest.raises(PeerLostError):
                request(asking, addresses.control, "status", prepare=prepare, timeout_s=0.2)
            assert next(control.requests(), None) is None
        for part in (*subscribers, publisher, control):
            part.close()
    serving.destroy(linger=0)
    asking.destroy(linger=0)


@pytest.mark.parametrize(
    ("text", "host", "port", "is_loopback"),
    [
        ("tcp://127.0.0.1:5870", "127.0.0.1", 5870, True),
        ("localhost", "localhost", 5870, True),
        ("[::1]:99", "[::1]", 99, True),
        ("lab-pc.local:6000", "lab-pc.local", 6000, False),
        ("0.0.0.0:6000", "0.0.0.0", 6000, False),
        ("*:6000", "*", 6000, False),
        ("192.168.1.4", "192.168.1.4", 5870, False),
    ],
)
def test_addresses(text, host, port, is_loopback):
    addresses = Addresses.parse(text)
    assert (addresses.host, addresses.port, addresses.is_loopback) == (host, port, is_loopback)
    assert Addresses.parse(str(addresses)) == addresses
    assert addresses.control == f"tcp://{host}:{port + 1}"
    assert addresses.chunks.startswith("tcp://127.0.0.1:")


@pytest.mark.parametrize("text", ["", "tcp://", "http://x", "a b", "host:0", "host:65535", "h:x"])
def test_wrong_addresses(text):
    with pytest.raises(ConfigError):
        Addresses.parse(text)


def test_other_computers_take_keys():
    require_keys("here", is_loopback=True, has_keys=False)
    require_keys("there", is_loopback=False, has_keys=True)
    with pytest.raises(TransportError, match="gazelive keys"):
        require_keys("there", is_loopback=False, has_keys=False)


def test_samples_of_the_wire_are_the_bytes_of_the_array():
    samples = gaze_samples(0, 1.0, 0)[::2]  # not contiguous
    frames = ChunkEncoder().frames(Chunk(0, 0, samples), STREAM)
    np.testing.assert_array_equal(
        np.frombuffer(frames[2], np.uint8), np.ascontiguousarray(samples).view(np.uint8)
    )
