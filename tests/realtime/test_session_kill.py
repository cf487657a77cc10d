"""kill -9 at random moments of writing: nothing acknowledged is lost, and the session goes on."""

import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gazelive.gaze.samples import SAMPLE_DTYPE
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.session.journal_reader import JournalFollower, find_end
from gazelive.recordings.session.manifest import JOURNAL_NAME, SessionManifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform == "win32", reason="the writers are forked, to have 200 of them in seconds"
    ),
]
N_KILLS = 200
STREAM = StreamDescription(device="test", sampling_rate_hz=1000.0, eyes="LR")
CHUNKS_PER_BLOCK = 40
_MOST_SAMPLES = 5_000
_POOL = np.frombuffer(
    np.random.default_rng(0).bytes(2 * _MOST_SAMPLES * SAMPLE_DTYPE.itemsize), SAMPLE_DTYPE
)


def make_chunk(seed: int, number: int) -> Chunk:
    """Return always the same chunk: mostly short, some long enough to be torn in the writing."""
    n_samples = _MOST_SAMPLES if (seed + number) % 5 == 0 else (7 * number + seed) % 50
    start = (131 * number + 17 * seed) % _MOST_SAMPLES
    messages = (Message(number, f"TRIALID {number}"),) if number % 3 == 0 else ()
    samples = _POOL[start : start + n_samples].copy()
    samples["tracker_time_us"] = number * 10_000_000 + 1000 * np.arange(n_samples)
    return Chunk(
        number=number,
        block=number // CHUNKS_PER_BLOCK,
        samples=samples,
        messages=messages,
        arrival_s=number / 100,
    )


class KillServer:
    """Starts a writer, kills it, and says what it had acknowledged."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def write_and_kill(self, folder: Path, seed: int, n_acks: int, spin_s: float) -> int:
        """Kill `spin_s` after the acknowledgement `n_acks`; return the last chunk acknowledged."""
        self._process.stdin.write(f"{seed} {folder}\n".encode())
        process_number = self._receive()
        acknowledged = -1
        for _ in range(n_acks):
            acknowledged = self._receive()
            assert acknowledged >= 0, "the writer ended by itself"
        deadline_s = time.perf_counter() + spin_s
        while time.perf_counter() < deadline_s:
            pass  # the moment is to be random, and sleep is too coarse for that
        os.kill(process_number, signal.SIGKILL)
        while (number := self._receive()) >= 0:
            acknowledged = number
        return acknowledged

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(timeout=60) == 0

    def _receive(self) -> int:
        content = b""
        while len(content) < 8:
            part = self._process.stdout.read(8 - len(content))
            assert part, "the server died"
            content += part
        return int.from_bytes(content, "little", signed=True)


@pytest.fixture(scope="module")
def server():
    server = KillServer()
    yield server
    server.close()


def assert_same(found: Chunk, expected: Chunk) -> None:
    assert found.samples.tobytes() == expected.samples.tobytes()
    assert replace(found, samples=expected.samples) == expected


def check_and_resume(folder: Path, seed: int, acknowledged: int) -> None:
    """Check what a killed writer left, and go on with it."""
    chunks = [
        item for item in JournalFollower(folder / JOURNAL_NAME).poll() if isinstance(item, Chunk)
    ]
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert len(chunks) > acknowledged
    for chunk in chunks:
        assert_same(chunk, make_chunk(seed, chunk.number))
    end = find_end(folder / JOURNAL_NAME)

    recording = read_session(folder)
    samples = b"".join(chunk.samples.tobytes() for chunk in chunks)
    assert b"".join(block.samples.tobytes() for block in recording.blocks) == samples
    assert recording.messages == tuple(message for chunk in chunks for message in chunk.messages)
    *torn, unfinished = [problem.text for problem in recording.problems]
    assert "has no end" in unfinished
    assert len(torn) == (end.torn_bytes > 0)
    assert all(f"the last {end.torn_bytes} bytes" in text for text in torn)

    with SessionWriter.resume(folder) as writer:
        more = Chunk(writer.next_chunk, writer.start_block(STREAM), make_chunk(seed, 5).samples)
        assert more.number == len(chunks)
        writer.append(more)
    resumed = read_session(folder)
    assert b"".join(b.samples.tobytes() for b in resumed.blocks) == samples + more.samples.tobytes()
    assert [re.findall(r"\d+", problem.text) for problem in resumed.problems] == (
        [[str(end.torn_bytes), str(len(chunks))]] if end.torn_bytes else []
    )
    assert len(list(folder.iterdir())) == 2


def test_200_kills_lose_nothing_that_was_acknowledged(tmp_path, server):
    moments = random.Random(2020)
    for seed in range(N_KILLS):
        folder = tmp_path / str(seed)
        n_acks = 1 + int(moments.expovariate(1 / 15))
        acknowledged = server.write_and_kill(folder, seed, n_acks, moments.uniform(0, 1e-3))
        assert acknowledged >= n_acks - 1
        check_and_resume(folder, seed, acknowledged)
        shutil.rmtree(folder)


def _write_until_killed(seed: int, folder: Path) -> None:
    _send(os.getpid())
    manifest = SessionManifest(session="1", device="test", mode="identify", started_at="")
    writer = SessionWriter.create(folder, manifest, sync_interval_s=0.001)
    for number in itertools.count():
        if number % CHUNKS_PER_BLOCK == 0:
            writer.start_block(STREAM)
            writer.update(config={"chunks": number})
        writer.append(make_chunk(seed, number))
        _send(number)


def _send(number: int) -> None:
    os.write(1, number.to_bytes(8, "little", signed=True))


def serve() -> None:
    """Fork writers on request until stdin ends, so that 200 of them need not import numpy.

    Reads lines "SEED FOLDER". Each writer sends its process number and then the number of each
    chunk that was acknowledged, as 8 bytes, until it is killed; then -1 is sent.
    """
    for line in sys.stdin:
        seed, folder = line.rstrip("\n").split(" ", 1)
        child = os.fork()
        if child == 0:
            _write_until_killed(int(seed), Path(folder))
        os.waitpid(child, 0)
        _send(-1)


if __name__ == "__main__":
    serve()
