"""The engine process: killed, late, overrun or with faulty data, it loses and repeats nothing."""

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zmq

from gazelive.devices.replay import ReplayDevice
from gazelive.errors import TransportError
from gazelive.gaze.documents import (
    IntervalSettled,
    Posterior,
    Quality,
    RunStarted,
    RunStopped,
    decode,
)
from gazelive.live.engine.documents_file import read_documents
from gazelive.live.engine.model import EngineModel
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.runs import hold_run
from gazelive.live.wire.transport import DocumentSubscriber
from gazelive.recordings.session.manifest import DOCUMENTS_NAME
from gazelive.recordings.session.reader import read_session

from ..support.faults import BackwardTimes, FaultyDevice, Jitter, LostSamples, RepeatedTimes, Stalls
from ..support.manual_clock import ManualClock
from ..support.streams import MODEL, settled_live, settled_offline
from ..support.undisturbed import comparable, undisturbed_documents
from .owner import recorded

pytestmark = pytest.mark.slow


def expected_documents(folder: Path, tmp_path: Path) -> list:
    return undisturbed_documents(folder, tmp_path / "copy", EngineModel(MODEL))


def test_killed_again_and_again(start_owner, start_engine, folder, tmp_path):
    moments = random.Random(2020)
    owner, engine = start_owner(), start_engine()
    for _ in range(3):
        assert owner.steps(moments.randint(100, 400))
        engine.wait_for(lambda s: s["next_chunk"] > moments.randint(1, 100))
        engine.kill()
        assert owner.steps(moments.randint(1, 30))  # while nobody is there
        engine = start_engine()
    while owner.steps(50):
        pass
    owner.finish()
    assert engine.end() == 0
    documents = read_documents(folder / DOCUMENTS_NAME)
    assert comparable(documents) == expected_documents(folder, tmp_path)
    assert settled_live(documents) == settled_offline(read_session(folder))
    assert len([d for d in documents if isinstance(d, IntervalSettled)]) == 4
    assert not list(folder.glob("events.*.jsonl"))


def test_started_first_then_overrun_with_a_listener_that_never_listens(
    start_owner, start_engine, folder, run, tmp_path
):
    """Started before the session; half of the chunks never sent; a subscriber that is stuck."""
    engine = start_engine()
    assert engine.wait_for(lambda s: True)["state"] == "waiting"
    context = zmq.Context()
    stuck = context.socket(zmq.SUB)
    stuck.rcvhwm = 1
    stuck.subscribe(b"")
    run.watching.secure(stuck)
    stuck.connect(run.addresses.documents)
    owner = start_owner()
    owner.keep_from_wire = lambda number: number % 7 < 3
    while owner.steps(50):
        pass
    owner.finish()
    assert engine.end() == 0
    assert comparable(read_documents(folder / DOCUMENTS_NAME)) == expected_documents(
        folder, tmp_path
    )
    context.destroy(linger=0)


def test_a_bad_line_and_a_stalling_device(start_owner, start_engine, folder, tmp_path):
    clock = ManualClock()
    device = FaultyDevice(
        ReplayDevice(recorded(), clock=clock),
        [
            LostSamples(every_n=700, length=4),
            RepeatedTimes(every_n=900),
            BackwardTimes(every_n=1100),
            Jitter(max_s=0.02),
            Stalls(every_s=2.0, length_s=0.3),
        ],
        clock=clock,
        seed=3,
    )
    owner = start_owner(device=device, clock=clock)
    engine = start_engine()
    while owner.steps(50):
        pass
    owner.finish()
    assert engine.end() == 0
    documents = read_documents(folder / DOCUMENTS_NAME)
    assert comparable(documents) == expected_documents(folder, tmp_path)
    assert settled_live(documents) == settled_offline(read_session(folder))
    kinds = {d.kind for d in documents if isinstance(d, Quality)}
    assert kinds >= {"time_gap", "time_order", "duplicate"}
    assert isinstance(documents[-1], RunStopped)


def test_requests(start_owner, start_engine, folder, run):
    clock = ManualClock()
    device = ReplayDevice(recorded(), clock=clock, loop=True)
    owner = start_owner(device=device, clock=clock)
    engine = start_engine(stays=True)
    context = zmq.Context()
    listener = DocumentSubscriber(
        context, run.addresses.documents, (IntervalSettled,), prepare=run.watching.secure
    )

    def ask(command, **arguments):
        """Ask in a thread of its own while the owner goes on."""
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(engine.ask, command, **arguments)
            while not asked.done():
                owner.steps(1)
            return asked.result()

    owner.steps(300)
    status = engine.wait_for(lambda s: s["state"] == "live" and s["next_chunk"] > 250)
    assert status["session"] == "s1"
    assert status["model"] == "test"
    answer = ask("pause")
    assert answer["playback"]["paused"] is True
    assert ask("resume")["playback"]["paused"] is False
    assert ask("speed", speed=8.0)["playback"]["speed"] == 8.0
    ask("mark", text="here it was")
    while listener.receive(0.05) is None:
        owner.steps(20)
    n_played = owner.writer.next_chunk
    # the owner takes its time from here, until the engine has come as far (a chunk that got lost
    # on the way is missed when the next one comes)
    engine.wait_for(lambda s: owner.steps(1) and s["next_chunk"] >= n_played)
    found = [decode(data) for data in engine.ask("snapshot")["documents"]]
    assert isinstance(found[0], RunStarted)
    last = [document for document in found if isinstance(document, IntervalSettled)][-1]
    while (settled := listener.receive(60.0)) != last:
        assert settled is not None, "what the snapshot tells was sent to listeners too"
    assert any(isinstance(document, Posterior) for document in found)
    with pytest.raises(TransportError, match="unknown request"):
        engine.ask("dance")
    n_before = engine.ask("status")["next_chunk"]
    engine.ask("load model", model=None)
    engine.wait_for(lambda s: s["next_chunk"] >= n_before)
    owner.finish()
    engine.wait_for(lambda s: s["state"] == "finished")
    with pytest.raises(TransportError, match="over"):
        engine.ask("load model", model=None)
    engine.ask("stop")
    assert engine.end() == 0
    messages = [message.text for message in read_session(folder).messages]
    assert "MARK here it was" in messages
    listener.close()
    context.term()


def test_no_two_engines_of_one_session(start_owner, start_engine, folder):
    owner, engine = start_owner(), start_engine()
    owner.steps(10)
    engine.wait_for(lambda s: s["next_chunk"] >= 10)
    with hold_run(free_addresses(), folder) as other:
        assert start_engine(other.run, waits=False).end() == 1
    owner.steps(10)
    engine.wait_for(lambda s: s["next_chunk"] >= 20)
    owner.finish()
    assert engine.end() == 0


def test_nothing_is_compiled_once_it_is_warm():
    main = Path(__file__).with_name("warm_main.py")
    ended = subprocess.run(
        [sys.executable, str(main)], capture_output=True, text=True, timeout=280, check=True
    )
    assert ended.stdout == ""
