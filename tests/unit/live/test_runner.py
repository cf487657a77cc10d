"""The engine's loop in this process: requests while a session runs, and being left alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zmq

from gazelive.errors import (
    IncompatibleModelError,
    IncompleteError,
    ModelError,
    ModelFormatError,
    TransportError,
)
from gazelive.live.engine.model import EngineModel, load_engine_model
from gazelive.live.engine.runner import Engine
from gazelive.live.settings import LiveSettings
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.chunks import ChunkEncoder
from gazelive.live.wire.control import request
from gazelive.recordings.session.writer import SessionWriter

from ...support.crafted_models import Source
from ...support.streams import MODEL
from .test_session_run import MANIFEST, WIRED

N_WIRED = 20


def only_250_hz(sampling_rate_hz: float) -> None:
    if sampling_rate_hz != 250:
        raise IncompatibleModelError(f"made for 250 Hz, and this is {sampling_rate_hz:g} Hz")


def load(path: Path | None) -> EngineModel:
    """Return models by their names, as files would be read."""
    if path is None:
        return EngineModel()
    if path.name == "missing":
        raise ModelError(f"{path}: there is no such model")
    if path.name == "slow":
        return EngineModel(replace(MODEL, name="slow", check_rate=only_250_hz))
    return EngineModel(replace(MODEL, name=path.name))


@pytest.fixture
def writer(tmp_path):
    """A session that is being recorded."""
    with SessionWriter.create(tmp_path / "session", MANIFEST) as writer:
        writer.start_block(WIRED[0].stream)
        for one in WIRED[:N_WIRED]:
            writer.append(one.chunk)
        yield writer


@pytest.fixture
def make_engine(tmp_path):
    """Return what makes an engine of the session with the model `first`."""
    said: list[str] = []

    def make(model: str = "first", **options: Any) -> tuple[Engine, LiveSettings, list[str]]:
        settings = LiveSettings(
            folder=tmp_path / "session", address=str(free_addresses()), model=Path(model)
        )
        options = {"check_model": lambda path: path, "load": load, **options}
        return Engine(settings, say=said.append, **options), settings, said

    return make


def asked(engine: Engine, settings: LiveSettings, command: str, **arguments: Any) -> Any:
    """Ask in a thread of its own while the engine works."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(
            request,
            context,
            settings.addresses.control,
            command,
            prepare=engine.run_info.watching.secure,
            **arguments,
        )
        while not answer.done():
            engine.step(5)
    context.term()
    return answer.result()


def test_a_model_that_does_not_fit_changes_nothing(writer, make_engine):
    engine, settings, _said = make_engine()
    while engine.state != "live":
        engine.step(5)
    for path, why in (("slow", "250 Hz"), ("missing", "no such model"), ("a\0b", "the path")):
        with pytest.raises(TransportError, match=why):
            asked(engine, settings, "load model", model=path)
    with pytest.raises(TransportError, match="path of a model"):
        asked(engine, settings, "load model")
    status = asked(engine, settings, "status")
    assert (status["model"], status["state"], status["next_chunk"]) == ("first", "live", N_WIRED)
    asked(engine, settings, "load model", model="second")
    assert asked(engine, settings, "status")["model"] == "second"
    writer.close()
    asked(engine, settings, "stop")
    assert engine.run() == "stopped on request"


def test_a_crafted_model_is_refused_and_the_engine_goes_on(writer, make_engine, tmp_path):
    path = crafted_model(tmp_path / "crafted.model")

    def first_or_file(path: Path | None) -> EngineModel:
        return load(path) if path == Path("first") else load_engine_model(path)

    with pytest.raises(ModelFormatError, match=r"crafted\.model"):
        make_engine(str(path), load=first_or_file)
    engine, settings, _said = make_engine(load=first_or_file)
    while engine.state != "live":
        engine.step(5)
    with pytest.raises(TransportError, match=r"crafted\.model: is inconsistent \(array .* shape"):
        asked(engine, settings, "load model", model=str(path))
    assert asked(engine, settings, "status")["state"] == "live"
    writer.close()
    asked(engine, settings, "stop")
    engine.run()


def crafted_model(path: Path) -> Path:
    """Write a model whose checksum is right and whose weights are for other features."""
    [of_0_1] = (Path(__file__).parents[2] / "golden/v0_1/models").glob("markov.model")
    source = Source.read(of_0_1)
    source.with_array("identifier/weights0_values", "narrower").write(path)
    return path


def test_errors_reach_the_starting_process(writer, make_engine):
    engine, settings, said = make_engine("slow")
    while engine.state != "live":
        engine.step(5)
    assert any(text.startswith("error: made for 250 Hz") for text in said)
    writer.close()
    asked(engine, settings, "stop")
    engine.run()


def test_an_orphaned_engine_stays_while_the_session_is_recorded(writer, make_engine):
    alone = iter([False, True, True, True])

    def is_left_alone() -> bool:
        if next(alone, None) is None:
            writer.close()
        return True

    engine, _settings, _said = make_engine(is_left_alone=is_left_alone)
    assert engine.run() == "the process that started the engine is gone"
    assert next(alone, None) is None


def test_left_alone_before_there_is_a_session_it_ends(make_engine):
    engine, _settings, _said = make_engine(is_left_alone=lambda: True)
    assert engine.run() == "the process that started the engine is gone"


def test_an_engine_that_is_stopped_while_samples_come_says_so(writer, make_engine):
    """It has analysed all that there are, but there will be more."""
    engine, settings, _said = make_engine()
    while engine.state != "live":
        engine.step(5)
    asked(engine, settings, "stop")
    with pytest.raises(IncompleteError, match="stopped on request"):
        engine.run()


def test_a_thousand_damaged_chunks_are_one_notice(writer, make_engine):
    engine, settings, said = make_engine()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.PUSH)
    engine.run_info.recording.secure(socket)
    socket.connect(settings.addresses.chunks)
    for _ in range(1000):
        socket.send(b"x" * 50)
    socket.send_multipart(ChunkEncoder("another").frames(WIRED[0].chunk, WIRED[0].stream))
    while not any("another session" in text for text in said):
        engine.step(5)
    assert sum("not a chunk" in text for text in said) == 1
    writer.close()
    asked(engine, settings, "stop")
    engine.run()
    socket.close(0)
    context.term()
