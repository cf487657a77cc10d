"""Helpers for tests of session folders."""

from pathlib import Path

from gazelive.gaze.samples import Samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.manifest import SessionManifest

from ...support.recordings import numbered_samples

MANIFEST = SessionManifest(
    viewer="anna",
    session="2",
    device="simulated",
    mode="enrol",
    started_at="2024-05-06T07:08:09+02:00",
    screen=PAPER_SCREEN,
    sampling_rate_hz=1000.0,
    config={"trials": {"seconds": 8}},
)
STREAM = StreamDescription(device="simulated", sampling_rate_hz=1000.0, eyes="L")


def make_samples(n: int, start_ms: int = 0, seed: int = 0) -> Samples:
    return numbered_samples(1000 * start_ms, n, eyes="L", first_value=1000 * seed)


def make_chunk(number: int, n_samples: int = 10, block: int = 0) -> Chunk:
    samples = make_samples(n_samples, start_ms=n_samples * number, seed=number)
    messages = (Message(10_000 * number, f"MARK {number}"),) if number % 2 else ()
    return Chunk(number, block, samples, messages, arrival_s=float(number))


def bytes_of(blocks) -> bytes:
    return b"".join(block.samples.tobytes() for block in blocks)


def texts(recording: Recording) -> list[str]:
    return [problem.text for problem in recording.problems]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def replace_rate(stream: StreamDescription, rate_hz: float) -> StreamDescription:
    return StreamDescription(device=stream.device, sampling_rate_hz=rate_hz, eyes=stream.eyes)
