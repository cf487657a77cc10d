"""The wire is closed to other users, and neither accidents nor forgeries disturb a run."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace

import pytest
import zmq
from zmq.utils.monitor import recv_monitor_message

from gazelive.gaze.documents import IntervalSettled, Notice, decode
from gazelive.live.engine.documents_file import read_documents
from gazelive.live.wire.chunks import WIRE_VERSION, ChunkEncoder, RunEnded, encode_end
from gazelive.live.wire.keys import ClientKeys
from gazelive.live.wire.runs import runs_folder
from gazelive.recordings.session.manifest import DOCUMENTS_NAME
from gazelive.recordings.session.reader import read_session

from ..support.streams import settled_live, settled_offline

pytestmark = pytest.mark.slow

DECIDED = (
    zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)
WAIT_MS = 120_000
PEERS = zmq.SUB, zmq.REQ, zmq.PUSH, zmq.REQ
"""Sockets that connect to the ports of a run: documents, requests, chunks, device."""

STRANGER = f"""
import json, os, sys, zmq
from zmq.utils.monitor import recv_monitor_message
path, base = sys.argv[1], int(sys.argv[2])
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    open(path).close()
    found = ["reads the run file"]
except PermissionError:
    found = []
context = zmq.Context()
for offset, kind in enumerate({tuple(map(int, PEERS))}):
    socket = context.socket(kind)
    monitor = socket.get_monitor_socket({DECIDED})
    socket.connect(f"tcp://127.0.0.1:{{base + offset}}")
    monitor.poll({WAIT_MS})
    if recv_monitor_message(monitor)["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
        found.append(f"connects to port {{offset}}")
    socket.disable_monitor()
    socket.close(0)
print(json.dumps(found))
"""
"""What another user tries; prints what succeeded."""


def lets_in(context, port: int, kind: int, keys: ClientKeys | None) -> bool:
    """Return whether the socket at a port accepts these keys."""
    socket = context.socket(kind)
    if keys is not None:
        keys.secure(socket)
    monitor = socket.get_monitor_socket(DECIDED)
    try:
        socket.connect(f"tcp://127.0.0.1:{port}")
        assert monitor.poll(WAIT_MS)
        return recv_monitor_message(monitor)["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED
    finally:
        socket.disable_monitor()
        monitor.close(0)
        socket.close(0)


@pytest.fixture
def context():
    with zmq.Context() as context:
        yield context


@pytest.fixture
def push(run, context):
    """Return what sends frames as if it owned the device."""
    socket = context.socket(zmq.PUSH)
    run.recording.secure(socket)
    socket.connect(run.addresses.chunks)
    yield socket.send_multipart
    socket.close(0)


@pytest.fixture
def run_file(run):
    (path,) = runs_folder().glob(f"*-{run.addresses.port}.json")
    return path


def test_every_socket_wants_the_key_of_the_run(start_owner, start_engine, run, context):
    start_owner()
    start_engine()
    public, secret = zmq.curve_keypair()
    stolen = ClientKeys(public, secret, run.server.public.encode())
    for port, kind in enumerate(PEERS, run.addresses.port):
        assert lets_in(context, port, kind, run.recording)
        assert not lets_in(context, port, kind, None)
        assert not lets_in(context, port, kind, stolen)


@pytest.mark.skipif(
    os.name == "nt", reason="Windows has no modes: the profile's access list counts"
)
def test_only_its_owner_can_read_a_run_file(run_file):
    assert stat.S_IMODE(run_file.stat().st_mode) == 0o600


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"
)
def test_another_user_can_neither_watch_nor_mark_nor_stop(start_owner, start_engine, run, run_file):
    owner, engine = start_owner(), start_engine()
    tried = subprocess.run(
        [sys.executable, "-c", STRANGER, str(run_file), str(run.addresses.port)],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        timeout=300,
    )
    assert json.loads(tried.stdout) == []
    owner.steps(1)
    assert not owner.control.is_stopped
    assert engine.wait_for(lambda status: True)["state"] != "finished"


def test_chunks_of_no_or_another_session_are_no_evidence(start_owner, start_engine, folder, push):
    """Even with the key of the run the session is analysed as if they had not come."""
    owner, engine = start_owner(), start_engine()
    owner.steps(300)
    chunk, stream = owner.last
    n_sent = chunk.number + 1
    engine.wait_for(lambda status: status["next_chunk"] == n_sent)
    mine, other = ChunkEncoder(owner.writer.manifest.id), ChunkEncoder("another")
    push(mine.frames(replace(chunk, number=2**40), stream))
    push(other.frames(replace(chunk, number=n_sent), stream))
    push(encode_end(RunEnded(WIRE_VERSION, "another", n_sent, "forged")))

    def has_noticed(_status) -> bool:
        documents = [decode(bytes(data)) for data in engine.ask("snapshot")["documents"]]
        return any(isinstance(d, Notice) and "another session" in d.text for d in documents)

    engine.wait_for(has_noticed)
    assert engine.ask("status")["next_chunk"] == n_sent
    while owner.steps(100):
        pass
    owner.finish()
    assert engine.end() == 0
    documents = read_documents(folder / DOCUMENTS_NAME)
    assert settled_live(documents) == settled_offline(read_session(folder))
    assert len([d for d in documents if isinstance(d, IntervalSettled)]) == 4


def test_an_engine_that_did_not_analyse_everything_fails(start_owner, start_engine, push):
    """Chunks that neither came nor are on disk, as after a disk that lies."""
    owner, engine = start_owner(), start_engine()
    owner.steps(100)
    session, n_more = owner.writer.manifest.id, owner.last[0].number + 5
    push(encode_end(RunEnded(WIRE_VERSION, session, n_more, "over")))
    assert engine.end() == 1


@pytest.mark.parametrize("how", ["stop", "forged end"])
def test_an_engine_that_ends_while_samples_come_fails(how, start_owner, start_engine, push):
    """Even if it has analysed all chunks so far."""
    owner, engine = start_owner(), start_engine()
    owner.steps(100)
    n_sent = owner.last[0].number + 1
    engine.wait_for(lambda status: status["next_chunk"] == n_sent)
    if how == "stop":
        engine.ask("stop")
    else:
        push(encode_end(RunEnded(WIRE_VERSION, owner.writer.manifest.id, n_sent, "over")))
    assert engine.end() == 1
