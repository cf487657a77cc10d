"""Depth of calls from the engine to the detector's kernel."""

import sys
from pathlib import Path

import pytest

import gazelive
from gazelive.detection.online import detector as online
from gazelive.live.engine.model import EngineModel
from gazelive.live.engine.runner import Engine
from gazelive.live.settings import LiveSettings
from gazelive.live.wire.addresses import free_addresses
from gazelive.recordings.session.writer import SessionWriter

from ...support.streams import MODEL
from .test_session_run import MANIFEST, WIRED

PACKAGE = str(Path(gazelive.__file__).parent)


@pytest.fixture
def stacks(monkeypatch):
    """The functions of the package that are running whenever the kernel is called."""
    found = set()
    kernel = online.compiled_push()

    def push(*arguments):
        names, frame = [], sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.startswith(PACKAGE):
                names.append(frame.f_code.co_qualname)
            frame = frame.f_back
        found.add(tuple(reversed(names)))
        return kernel(*arguments)

    monkeypatch.setattr(online, "compiled_push", lambda: push)
    return found


def test_few_calls_lead_from_the_engine_to_the_kernel(tmp_path, stacks):
    with SessionWriter.create(tmp_path / "session", MANIFEST) as writer:
        writer.start_block(WIRED[0].stream)
        for one in WIRED[:20]:
            writer.append(one.chunk)
    settings = LiveSettings(folder=tmp_path / "session", address=str(free_addresses()))
    engine = Engine(settings, load=lambda _path: EngineModel(MODEL), is_left_alone=lambda: True)
    stacks.clear()  # of the warm-up
    engine.run()
    (stack,) = stacks
    assert stack[0] == "Engine.run"
    assert len(stack) <= 8
    assert stack[-3:] == ("Pipeline.push", "LiveGaze.push", "OnlineDetector.push")
