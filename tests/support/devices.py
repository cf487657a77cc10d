"""Reading and recording a device in tests."""

from collections.abc import Callable, Sequence

from gazelive.clock import Clock
from gazelive.devices.protocol import GazeDevice
from gazelive.devices.recorder import PATIENCE_S, ChunkSink, Recorder
from gazelive.gaze.quality_messages import quality_from_message
from gazelive.recordings.session.writer import SessionWriter


def read_for(device, clock, seconds):
    chunks, until_s = [], clock.now_s() + seconds
    while clock.now_s() < until_s - 1e-9:
        chunk = device.read_chunk(min(0.05, until_s - clock.now_s()))
        if chunk is not None:
            chunks.append(chunk)
    return chunks


def drained(device):
    chunks = []
    while (chunk := device.read_chunk(0.0)) is not None:
        chunks.append(chunk)
    return chunks


def quality_of(chunks):
    messages = [message for chunk in chunks for message in chunk.messages]
    return [(q.kind, q.text) for m in messages if (q := quality_from_message(m)) is not None]


def calls_to(pylink):
    return [name for name, _ in pylink.calls.log]


def record(
    device: GazeDevice,
    writer: SessionWriter,
    sinks: Sequence[ChunkSink] = (),
    *,
    clock: Clock,
    should_stop: Callable[[], bool] = lambda: False,
) -> str:
    """Record one run until the device has no more or `should_stop`; return why it ended.

    The device is stopped and the session closed with the reason, also when something fails:
    then with that failure as the reason, which is raised.
    """
    recorder = Recorder(device, writer, sinks, clock=clock)
    with writer:
        try:
            device.start()
            while not (device.finished or should_stop()):
                recorder.step(PATIENCE_S)
            reason = "end of the recording" if device.finished else "stopped"
            device.stop()
            recorder.drain()
        except BaseException:
            recorder.rescue()
            raise
        recorder.finish(reason)
    return reason
