"""Latency and throughput of the live engine with real processes and sockets.

- From a sample to the publication of the saccade onset that it gives away, and from the last sample
  that a posterior needs to its publication, with 32 and with 10,000 enrolled viewers: 1000 Hz in
  real time from a simulated viewer, with lost, repeated and misdated samples, chunks of 4 ms.
- Processor time of the engine while that goes on.
- 2000 Hz, two eyes: samples that are missing in the end.
- A recording as fast as possible through device, disk, wire, engine and back: times real time, for
  the Markov model and for gazelive's own; the pipeline alone beside it.
- Memory of the engine over two hours of session time.

On a machine that is busy with other things, --realtime (Linux, as root) keeps those from being
measured: device, engine and listener then go before everything else.

    python tests/benchmarks/bench_engine.py [--seconds S] [--hours H] [--realtime] [--json OUT]
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import zmq

from gazelive.clock import MonotonicClock
from gazelive.devices.protocol import ImageStimulus
from gazelive.devices.recorder import Recorder
from gazelive.devices.replay import ReplayDevice
from gazelive.devices.simulated import SimulatedDevice
from gazelive.errors import PeerLostError
from gazelive.evaluation.tasks import of_size
from gazelive.features.stream import RETRACTABLE_MS
from gazelive.gaze.documents import Posterior, QualitySummary, Saccade, SaccadeOnset
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.live.engine.documents_file import read_documents
from gazelive.live.pipeline.pipeline import Pipeline
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.control import request
from gazelive.live.wire.runs import Run, hold_run
from gazelive.live.wire.transport import ChunkSender, DocumentSubscriber
from gazelive.recordings.geometry import FoundGeometry
from gazelive.recordings.recording import Block, Recording
from gazelive.recordings.session.conversion import manifest_of
from gazelive.recordings.session.manifest import DOCUMENTS_NAME, SessionManifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter
from gazelive.system.process import limit_to_one_thread, one_thread_environment

RATE_HZ = 1000.0
CHUNK_S = 0.004
TRIAL_S, PAUSE_S = 4.0, 0.5
TARGETS = {
    "onset_p99_ms": 5.0,
    "posterior_p99_ms": {32: 10.0, 10_000: 20.0},
    "cpu_fraction": 0.15,
    "times_real_time": 200.0,
    "memory_change": 0.05,
}


# models, made once


def make_models(folder: Path) -> dict[str, Path]:
    """Train gazelive's own and the paper's Markov method on 32 simulated viewers.

    Models that are in the folder already are taken as they are.
    """
    from gazelive import train
    from gazelive.cli.simulate import simulate

    models = {m: folder / f"{m}.model" for m in ("gazelive", "fisher-markov-dynamics")}
    if all(path.exists() for path in models.values()):
        return models
    corpus = folder / "corpus"
    simulate(corpus, viewers=32, images=4, pool=8, seconds=4.0, jobs=2, quiet=True)
    for method, path in models.items():
        train(corpus, method=method).save(path)
    return models


def run_engine(options: dict[str, Any]) -> None:
    """Be the engine's process; a model can be blown up to many viewers."""
    limit_to_one_thread()
    from gazelive.live.engine.model import EngineModel, load_engine_model
    from gazelive.live.engine.runner import Engine
    from gazelive.live.settings import LiveSettings

    def load(path: Path | None) -> EngineModel:
        model = load_engine_model(path)
        n = options.get("n_viewers")
        if model.running is None or n is None:
            return model
        many = of_size(model.running.identifier, n)
        return replace(model, running=replace(model.running, identifier=many))

    model = options.get("model")
    settings = LiveSettings(
        folder=Path(options["folder"]),
        address=options["address"],
        model=None if model is None else Path(model),
        stays=True,
    )
    Engine(settings, load=load).run()


class EngineProcess:
    """The engine, and how to ask it."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self._holder = hold_run(free_addresses(), folder)
        self.run = self._holder.run
        self.addresses = self.run.addresses
        self._context = zmq.Context()
        told = {"folder": str(folder), "address": str(self.addresses), **options}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--engine", json.dumps(told)], env=one_thread_environment()
        )
        self.usage = psutil.Process(self._process.pid)
        self.wait_for(lambda _status: True)

    def ask(self, command: str) -> dict[str, Any]:
        return request(
            self._context,
            self.addresses.control,
            command,
            prepare=self.run.watching.secure,
            timeout_s=2.0,
        )

    def wait_for(self, is_true: Callable[[dict[str, Any]], bool]) -> None:
        while True:
            assert self._process.poll() is None
            try:
                if is_true(self.ask("status")):
                    return
            except PeerLostError:
                continue
            time.sleep(0.002)

    def cpu_s(self) -> float:
        times = self.usage.cpu_times()
        return float(times.user + times.system)

    def memory_mb(self) -> float:
        return float(self.usage.memory_info().rss) / 1e6

    def stop(self) -> None:
        self.ask("stop")
        self._process.wait(30)
        self._context.destroy(linger=0)
        self._holder.close()


# latency, in real time


Heard = SaccadeOnset | Saccade | Posterior


def listen(run: Run, is_over: Any, heard: Any) -> None:
    """Note when documents are received, until it is over, and hand them over then."""
    context = zmq.Context()
    kinds = (SaccadeOnset, Saccade, Posterior)
    subscriber = DocumentSubscriber(
        context, run.addresses.documents, kinds, prepare=run.watching.secure
    )
    received: list[tuple[float, Heard]] = []
    while not is_over.is_set():
        document = subscriber.receive(0.05)
        if isinstance(document, Heard):
            received.append((time.perf_counter(), document))
    subscriber.close()
    context.term()
    heard.put(received)


class Listener:
    """Listens in a process of its own, as a dashboard does.

    A thread would wait for its turn behind the device, which is simulated in this process. Both
    processes read the machine's one clock.
    """

    def __init__(self, run: Run) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._is_over, self._heard = spawn.Event(), spawn.Queue()
        self._process = spawn.Process(
            target=listen, args=(run, self._is_over, self._heard), daemon=True
        )
        self._process.start()

    def stop(self) -> list[tuple[float, Heard]]:
        """Return received documents and their times."""
        self._is_over.set()
        received: list[tuple[float, Heard]] = self._heard.get()
        self._process.join()
        return received


@dataclass
class Arrivals:
    """Arrival times of a stream's samples, kept for later; a `ChunkSink`."""

    last_us: list[int]
    arrival_s: list[float]

    def __call__(self, chunk: Chunk, _stream: StreamDescription) -> None:
        if len(chunk.samples):
            self.last_us.append(int(chunk.samples["tracker_time_us"].max()))
            self.arrival_s.append(chunk.arrival_s)

    def of(self, time_us: float) -> float:
        """Return when the first sample at or after a time was in hand."""
        at = int(np.searchsorted(np.maximum.accumulate(self.last_us), time_us))
        return self.arrival_s[min(at, len(self.arrival_s) - 1)]


@functools.cache
def image(name: str) -> Any:
    """Return where people look in an image; made beforehand, since the device waits for it."""
    from gazelive.devices.simulated import generated_image

    return generated_image(name)


def sender_of(context: Any, run: Run) -> ChunkSender:
    return ChunkSender(context, run.addresses.chunks, prepare=run.recording.secure)


def record_live(
    folder: Path, run: Run, seconds: float, *, rate_hz: float, eyes: Any, faulty: bool
) -> tuple[Arrivals, Callable[[float], float], SessionWriter]:
    """Record a simulated viewer in real time; also return what turns tracker into host time."""
    clock = MonotonicClock()
    simulated = SimulatedDevice(
        "v001",
        seed=0,
        session=9,
        clock=clock,
        sampling_rate_hz=rate_hz,
        eyes=eyes,
        drift_ppm=0.0,
        chunk_s=CHUNK_S,
        saliency_of=image,
    )
    device: Any = simulated
    if faulty:
        sys.path.insert(0, str(Path(__file__).parents[2]))
        from tests.support.faults import BackwardTimes, FaultyDevice, LostSamples, RepeatedTimes

        faults = [
            LostSamples(every_n=1500, length=2),
            RepeatedTimes(every_n=1100),
            BackwardTimes(every_n=1700),
        ]
        device = FaultyDevice(simulated, faults, clock=clock, seed=1)
    manifest = SessionManifest(
        session="bench", device="simulated", mode="identify", started_at="", screen=PAPER_SCREEN
    )
    writer = SessionWriter.create(folder, manifest)
    context = zmq.Context()
    sender, arrivals = sender_of(context, run), Arrivals([], [])
    recorder = Recorder(device, writer, [sender, arrivals], clock=clock)
    origin_s = clock.now_s() - simulated.tracker_time_us() / 1e6
    n_trials = max(1, round(seconds / (TRIAL_S + PAUSE_S)))
    for trial in range(n_trials):
        image(f"image{trial}")
    device.start()
    started_s = clock.now_s()
    for trial in range(n_trials):
        device.send_message(f"TRIALID {trial}")
        until_s = started_s + trial * (TRIAL_S + PAUSE_S) + PAUSE_S
        while clock.now_s() < until_s:
            recorder.step(0.05)
        name = f"image{trial}"
        device.show(ImageStimulus(name=name, left_px=210, top_px=40, width_px=1500, height_px=1000))
        device.send_message("image_onset")
        device.send_message(f"!V IMGLOAD CENTER {name} 960 540 1500 1000")
        while clock.now_s() < until_s + TRIAL_S:
            recorder.step(0.05)
        device.send_message("image_offset")
        device.hide()
    device.stop()
    recorder.drain()
    sender.end_block()
    recorder.finish("over")
    sender.end_run("over")
    sender.close()
    context.term()
    return arrivals, lambda time_us: origin_s + time_us / 1e6, writer


def quantiles_ms(values_s: list[float]) -> dict[str, float]:
    p50, p99, worst = (1000 * float(q) for q in np.percentile(values_s, [50, 99, 100]))
    return {"n": len(values_s), "p50_ms": p50, "p99_ms": p99, "worst_ms": worst}


def bench_latency(folder: Path, model: Path, n_viewers: int, seconds: float) -> dict[str, Any]:
    engine = EngineProcess(folder, model=str(model), n_viewers=n_viewers)
    listener = Listener(engine.run)
    time.sleep(5.0)  # it imports, and the subscription is on its way
    cpu_s, started_s = engine.cpu_s(), time.perf_counter()
    arrivals, host_s, _ = record_live(
        folder, engine.run, seconds, rate_hz=RATE_HZ, eyes="R", faulty=True
    )
    cpu = (engine.cpu_s() - cpu_s) / (time.perf_counter() - started_s)
    engine.wait_for(lambda status: status["state"] == "finished")
    time.sleep(0.3)
    received = listener.stop()
    engine.stop()
    found = document_latencies(received, arrivals, host_s)
    return {
        "n_viewers": n_viewers,
        **found,
        "cpu_fraction": cpu,
        "chunks_per_s": 1 / CHUNK_S,
    }


def document_latencies(
    received: list[tuple[float, Heard]],
    arrivals: Arrivals,
    host_s: Callable[[float], float] | None = None,
) -> dict[str, dict[str, float]]:
    """Return the times from the sample that a document needs to its receipt.

    `host_s` turns the tracker's time into the host's, for the time since the sample was taken.
    """
    onsets, from_sample, running, settled = [], [], [], []
    decided_us = {}  # when a saccade was known to be one, by its offset
    for received_s, document in received:
        if isinstance(document, SaccadeOnset):
            triggered_us = document.onset_us + 1000 * document.detection_delay_ms
            onsets.append(received_s - arrivals.of(triggered_us))
            if host_s is not None:
                from_sample.append(received_s - host_s(triggered_us))
        elif isinstance(document, Saccade):
            delay_us = 1000 * document.detection_delay_ms
            decided_us[document.offset_us] = document.offset_us + delay_us
        elif document.settled:
            settled.append(received_s - arrivals.of(document.tracker_time_us))
        else:
            offset_us = document.tracker_time_us
            needed_us = max(offset_us + 1000 * RETRACTABLE_MS, decided_us[offset_us])
            running.append(received_s - arrivals.of(needed_us))
    latencies = {
        "onset_from_sample": from_sample,
        "onset_from_arrival": onsets,
        "running_posterior": running,
        "settled_posterior": settled,
    }
    return {name: quantiles_ms(values) for name, values in latencies.items() if values}


def bench_loss(folder: Path, seconds: float) -> dict[str, Any]:
    engine = EngineProcess(folder)
    _, _, writer = record_live(folder, engine.run, seconds, rate_hz=2000.0, eyes="LR", faulty=False)
    engine.wait_for(lambda status: status["state"] == "finished")
    next_chunk = engine.ask("status")["next_chunk"]
    engine.stop()
    samples = read_session(folder).blocks[0].samples
    span_us = int(samples["tracker_time_us"][-1] - samples["tracker_time_us"][0])
    summaries = [
        d for d in read_documents(folder / DOCUMENTS_NAME) if isinstance(d, QualitySummary)
    ]
    return {
        "samples": len(samples),
        "missing_on_disk": round(span_us / 500) + 1 - len(samples),
        "chunks_not_analysed": writer.next_chunk - next_chunk,
        "missing_for_the_engine": summaries[-1].n_lost_samples,
    }


# as fast as possible


def a_recording(minutes: float) -> Recording:
    """Return a simulated session, repeated until it is long enough."""
    from gazelive.simulation.lab_session import TrialImage, simulate_session
    from gazelive.stimuli.saliency import generated_saliency

    names = [f"generated_{k:04}" for k in range(10)]
    once = simulate_session(
        "v003",
        seed=0,
        session=3,
        images=[TrialImage(name, generated_saliency(name, 0)) for name in names],
        seconds=8.0,
        sampling_rate_hz=RATE_HZ,
        eyes="R",
        path=Path("bench"),
    ).recording
    begin_us = once.messages[0].tracker_time_us
    lap_us = once.blocks[-1].end_us + 500_000 - begin_us
    blocks: list[Block] = []
    messages: list[Message] = []
    while sum(block.duration_s for block in blocks) < 60 * minutes:
        shift_us = lap_us * (len(blocks) // len(once.blocks))
        for block in once.blocks:
            samples = block.samples.copy()
            samples["tracker_time_us"] += shift_us
            blocks.append(
                Block(block.stream, samples, block.start_us + shift_us, block.end_us + shift_us)
            )
        messages += [Message(m.tracker_time_us + shift_us, m.text) for m in once.messages]
    return replace(once, blocks=tuple(blocks), messages=tuple(messages), tracker_events=())


def play_at_once(recording: Recording, folder: Path, engine: EngineProcess) -> None:
    """Play a recording as fast as possible and wait until everything is analysed."""
    clock = MonotonicClock()
    device = ReplayDevice(recording, clock=clock, speed=None)
    writer = SessionWriter.create(folder, manifest_of(recording, started_at=""))
    context = zmq.Context()
    sender = sender_of(context, engine.run)
    recorder = Recorder(device, writer, [sender], clock=clock)
    device.start()
    while not device.finished:
        recorder.step(0.0)
    recorder.finish("over")
    sender.end_run("over")
    engine.wait_for(lambda status: status["state"] == "finished")
    sender.close()
    context.term()


def bench_speed(folder: Path, model: Path, recording: Recording) -> dict[str, float]:
    engine = EngineProcess(folder, model=str(model))
    started_s, cpu_s = time.perf_counter(), engine.cpu_s()
    play_at_once(recording, folder, engine)
    elapsed_s, engine_s = time.perf_counter() - started_s, engine.cpu_s() - cpu_s
    engine.stop()
    return {
        "times_real_time": recording.duration_s / elapsed_s,
        "times_real_time_of_engine_cpu": recording.duration_s / engine_s,
        "pipeline_alone": pipeline_speed(model, recording),
    }


def pipeline_speed(model: Path, recording: Recording) -> float:
    """Return the seconds of recording per second of processor time of the pipeline alone."""
    from gazelive.live.engine.model import load_engine_model, warm_up

    loaded = load_engine_model(model)
    warm_up(loaded)
    pipeline = Pipeline(
        lambda _stream: FoundGeometry(PAPER_SCREEN, "recording"),
        model=loaded.running,
        method=loaded.method,
        parameters=loaded.parameters,
    )
    device = ReplayDevice(recording, clock=MonotonicClock(), speed=None)
    device.start()
    chunks = []
    while not device.finished:
        chunk = device.read_chunk(0.0)
        assert chunk is not None
        chunks.append((chunk, device.describe()))
    started_s = time.process_time()
    for chunk, stream in chunks:
        pipeline.push(chunk, stream)
    pipeline.finish("over")
    return recording.duration_s / (time.process_time() - started_s)


def bench_memory(folder: Path, model: Path, recording: Recording, hours: float) -> dict[str, Any]:
    """Play a recording again and again, and watch the engine's memory."""
    engine = EngineProcess(folder, model=str(model))
    clock = MonotonicClock()
    device = ReplayDevice(recording, clock=clock, speed=None, loop=True)
    writer = SessionWriter.create(folder, manifest_of(recording, started_at=""))
    context = zmq.Context()
    sender = sender_of(context, engine.run)
    recorder = Recorder(device, writer, [sender], clock=clock)
    device.start()
    n_samples, rows = 0, []
    marks = iter(np.linspace(0.1, 1.0, 19) * hours * 3600)
    mark_s = next(marks)
    while mark_s is not None:
        chunk = recorder.step(0.0)
        n_samples += 0 if chunk is None else len(chunk.samples)
        if n_samples / RATE_HZ >= mark_s:
            n_written = writer.next_chunk
            engine.wait_for(lambda status, n=n_written: status["next_chunk"] >= n)
            rows.append({"hours": n_samples / RATE_HZ / 3600, "mb": engine.memory_mb()})
            mark_s = next(marks, None)
    recorder.finish("over")
    engine.wait_for(lambda status: status["state"] == "finished")
    engine.stop()
    sender.close()
    context.destroy(linger=0)
    memory = np.array([row["mb"] for row in rows])
    return {
        "rows": rows,
        "first_mb": float(memory[0]),
        "last_mb": float(memory[-1]),
        "change": float(memory[-1] / memory[0] - 1),
        "largest_change": float(np.abs(memory / np.median(memory) - 1).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=45.0, help="of each run in real time")
    parser.add_argument("--minutes", type=float, default=10.0, help="of what is played at once")
    parser.add_argument("--hours", type=float, default=2.0, help="of the session for memory")
    parser.add_argument("--realtime", action="store_true")
    parser.add_argument("--json", type=Path, default=Path("bench-results/engine.json"))
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.engine is not None:
        run_engine(json.loads(arguments.engine))
        return
    limit_to_one_thread()
    if arguments.realtime:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))  # children inherit it
    folder = Path(tempfile.mkdtemp())
    try:
        result = measure(folder, arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"written to {arguments.json}")


def measure(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    print("training models of 32 simulated viewers …", flush=True)
    models = make_models(folder)
    latencies = []
    for n_viewers in (32, 10_000):
        row = bench_latency(
            folder / f"live{n_viewers}", models["gazelive"], n_viewers, arguments.seconds
        )
        latencies.append(row)
        print(f"{n_viewers} viewers, 1000 Hz with faults, chunks of {1000 * CHUNK_S:g} ms:")
        for name, what in (
            ("onset_from_sample", "sample taken → onset received, p99"),
            ("onset_from_arrival", "sample arrived → onset received, p99"),
            ("running_posterior", "last sample arrived → running posterior received, p99"),
            ("settled_posterior", "first sample after the image → settled posterior, p99"),
        ):
            print(f"  {what:58} {row[name]['p99_ms']:6.2f} ms  (n = {row[name]['n']})")
        print(f"  {'processor time of the engine':58} {row['cpu_fraction']:6.1%} of a core")
    loss = bench_loss(folder / "fast", min(arguments.seconds, 30.0))
    print(
        f"2000 Hz, two eyes: {loss['samples']} samples, missing on disk {loss['missing_on_disk']}, "
        f"for the engine {loss['missing_for_the_engine']}"
    )
    recording = a_recording(arguments.minutes)
    speeds = {}
    for method, model in models.items():
        speeds[method] = bench_speed(folder / f"speed-{method}", model, recording)
        print(
            f"{method}: {recording.duration_s / 60:.0f} min at once, end to end: "
            f"{speeds[method]['times_real_time']:.0f} times real time "
            f"(pipeline alone, of processor time: {speeds[method]['pipeline_alone']:.0f})"
        )
    memory = bench_memory(folder / "long", models["gazelive"], recording, arguments.hours)
    print(
        f"memory over {arguments.hours:g} h: {memory['first_mb']:.0f} → {memory['last_mb']:.0f} MB "
        f"({memory['change']:+.1%})"
    )
    return {
        "targets": TARGETS,
        "latency": latencies,
        "loss": loss,
        "speed": speeds,
        "memory": memory,
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "processors": os.cpu_count(),
        "realtime": arguments.realtime,
    }


if __name__ == "__main__":
    main()
