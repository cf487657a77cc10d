"""What keeps an engine going: one that hangs is replaced; floods and odd paths are refused."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest
import zmq

from gazelive.errors import ModelError
from gazelive.live import session
from gazelive.live.engine import model
from gazelive.live.engine.model import check_model_file
from gazelive.live.session import LiveSession
from gazelive.live.settings import LiveSettings
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.control import MOST_REQUESTS, ControlServer
from gazelive.live.wire.keys import Context
from gazelive.observer import Observer


@pytest.fixture
def context() -> Iterator[Context]:
    with zmq.Context() as context:
        yield context


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows cannot stop a process")
def test_an_engine_that_hangs_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "HANG_S", 5.0)
    told = Observer()
    settings = LiveSettings(folder=tmp_path / "session", address=str(free_addresses()))
    before = {child.pid for child in psutil.Process().children()}
    with LiveSession(settings, told) as live:
        live.engine.wait_ready()
        (engine,) = (c for c in psutil.Process().children() if c.pid not in before)
        assert live.keep_alive()
        engine.suspend()
        while live.engine.n_starts == 1:
            assert live.keep_alive()
        assert not engine.is_running()
        live.engine.wait_ready()
    assert told.warnings == ["the engine hangs; a new one catches up from the session folder"]


def test_a_flood_of_requests_leaves_the_thread_its_time(context: Context) -> None:
    address = str(free_addresses())
    server = ControlServer(context, address)
    client = context.socket(zmq.DEALER)
    try:
        client.connect(address)
        for _ in range(3 * MOST_REQUESTS):
            client.send_multipart([b"", msgspec.msgpack.encode({"command": "status"})])
        n_answered = 0
        while n_answered < 3 * MOST_REQUESTS:
            assert server.socket.poll(60_000)
            answered = [server.answer(request) for request in server.requests()]
            assert len(answered) <= MOST_REQUESTS
            n_answered += len(answered)
    finally:
        client.close(0)
        server.close()


def test_a_request_loads_regular_files_of_bounded_size_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = tmp_path / "good.model"
    good.write_bytes(b"1234")
    assert check_model_file(good) == good
    with pytest.raises(ModelError, match="cannot be read"):
        check_model_file(tmp_path / "missing")
    with pytest.raises(ModelError, match="is not a regular file"):
        check_model_file(tmp_path)
    monkeypatch.setattr(model, "MOST_MODEL_BYTES", 3)
    with pytest.raises(ModelError, match="a model may have up to"):
        check_model_file(good)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes in the file system here")
def test_a_pipe_is_no_model(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match="is not a regular file"):
        check_model_file(tmp_path / "pipe")
