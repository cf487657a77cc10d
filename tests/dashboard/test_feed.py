"""The feed over real sockets, against an engine that comes, goes and comes back."""

import time

import pytest
import zmq

from gazelive.dashboard import feed as feed_module
from gazelive.dashboard.feed import DocumentFeed, ZmqFeed, snapshot_documents
from gazelive.errors import PeerLostError, TransportError
from gazelive.gaze.documents import Notice, RunStarted, encode
from gazelive.live.wire.addresses import free_addresses

from ..support.list_feed import ListFeed
from .sent import a_whole_run, model, posterior, run
from .small_engine import Engine

PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """An answer may take its time on a busy machine."""
    monkeypatch.setattr(feed_module, "REPLY_TIMEOUT_S", PATIENCE_S)


@pytest.fixture
def engine():
    where = free_addresses()
    engine = Engine(where.documents, where.control)
    yield engine
    engine.die()


@pytest.fixture
def feed(engine):
    feed = ZmqFeed(engine.documents_address, engine.control_address)
    yield feed
    feed.close()


def until(feed, condition):
    """Poll until the condition holds of everything that came; return it."""
    found = []
    deadline = time.monotonic() + PATIENCE_S
    while not condition(found):
        assert time.monotonic() < deadline, "nothing came"
        found += feed.poll()
    return found


def test_both_feeds_are_feeds(feed):
    assert isinstance(feed, DocumentFeed)
    assert isinstance(ListFeed(), DocumentFeed)


def test_documents_arrive_whole_and_in_order(engine, feed):
    engine.wait_for_subscriber()
    sent = a_whole_run()
    engine.send(*sent)
    assert until(feed, lambda found: len(found) >= len(sent)) == sent
    assert feed.poll() == []


def test_a_feed_is_connected_while_the_engine_lives_and_after_its_return(engine, feed):
    until(feed, lambda _: feed.connected)
    documents, control = engine.documents_address, engine.control_address
    engine.die()
    until(feed, lambda _: not feed.connected)
    again = Engine(documents, control)
    try:
        until(feed, lambda _: feed.connected)
        again.wait_for_subscriber()
        again.send(run())
        assert until(feed, lambda found: found) == [run()]
    finally:
        again.die()


def test_without_an_engine_it_waits_and_only_requests_fail(monkeypatch):
    monkeypatch.setattr(feed_module, "REPLY_TIMEOUT_S", 0.05)
    feed = ZmqFeed("tcp://127.0.0.1:9", "tcp://127.0.0.1:9")
    try:
        assert feed.poll() == []
        assert not feed.connected
        with pytest.raises(PeerLostError, match="no answer"):
            feed.request({"command": "snapshot"})
    finally:
        feed.close()
        feed.close()


def test_an_address_that_is_none_is_refused():
    with pytest.raises(TransportError, match="nonsense"):
        ZmqFeed("nonsense", "nonsense")


def test_an_invalid_document_becomes_a_notice(engine, feed):
    engine.wait_for_subscriber()
    engine.send(b"garbage", posterior())
    found = until(feed, lambda found: len(found) >= 2)
    assert isinstance(found[0], Notice)
    assert found[0].level == "error"
    assert found[1] == posterior()


def test_a_burst_is_taken_in_portions(engine, feed, monkeypatch):
    engine.wait_for_subscriber()
    monkeypatch.setattr(feed_module, "MOST_PER_POLL", 10)
    engine.send(*[posterior(n_saccades=i) for i in range(35)])
    sizes = []
    deadline = time.monotonic() + PATIENCE_S
    while sum(sizes) < 35 and time.monotonic() < deadline:
        sizes.append(len(feed.poll()))
    assert max(sizes) <= 10
    assert sum(sizes) == 35


def test_requests_are_answered(engine, feed):
    engine.replies["snapshot"] = {
        "ok": True,
        "documents": [encode(run()), encode(model())],
    }
    assert snapshot_documents(feed.request({"command": "snapshot"})) == [run(), model()]
    feed.request({"command": "speed", "speed": None})
    assert engine.heard == [{"command": "snapshot"}, {"command": "speed", "speed": None}]


def test_a_refused_request_raises_with_the_engines_message(engine, feed):
    engine.replies["pause"] = {"ok": False, "error": "a live tracker cannot be paused"}
    with pytest.raises(TransportError, match="cannot be paused"):
        feed.request({"command": "pause"})
    engine.replies["pause"] = b"\xc1"
    with pytest.raises(TransportError, match="gazelive of this version"):
        feed.request({"command": "pause"})


def test_a_request_after_the_end_is_an_error_not_a_crash(engine, feed):
    feed.close()
    with pytest.raises(TransportError):
        feed.request({"command": "status"})


def test_a_list_feed_returns_its_documents():
    feed = ListFeed([run()], answer=lambda command: {"ok": True, "heard": command["command"]})
    feed.put(model())
    assert [type(document) for document in feed.poll()] == [RunStarted, type(model())]
    assert feed.poll() == []
    assert feed.request({"command": "mark"}) == {"ok": True, "heard": "mark"}
    feed.close()
    with pytest.raises(PeerLostError):
        feed.request({"command": "mark"})


def test_keys_are_given_before_connecting(engine):
    secured = []
    feed = ZmqFeed(
        engine.documents_address,
        engine.control_address,
        prepare=lambda socket: secured.append(socket.type),
    )
    feed.request({"command": "status"})
    feed.close()
    assert secured == [zmq.SUB, zmq.REQ]
