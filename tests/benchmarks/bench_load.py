"""Load: many subscribers of one engine, many enrolled viewers, a corpus of many recordings.

- subscribers: `gazelive.Tracker` with a simulated viewer at 1000 Hz, the engine, 5 readers of LSL,
  a thread for each kind of trigger, and 0, 5, 10 or 20 subscribers: two are `gazelive dashboard`
  (without a display), the others `gazelive.live.subscribe()`, six to a process.
- gallery: 32 trained viewers, repeated until there are 100 to 50,000. Sizes and times of the model,
  of a posterior (processor time), of the dashboard's state, and of commands.
- corpus: the first 10, 100 and 1000 recordings of a simulated corpus (12 s at 500 Hz, two sessions
  of each viewer). Time and largest memory of commands.

An exponent of 1 is growth in proportion to the size. For Linux.

    python tests/benchmarks/bench_load.py [--only subscribers|gallery|corpus] [--corpus FOLDER]
        [--models FOLDER] [--json OUT]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parent))
import bench_engine
import bench_identification

from gazelive.features import Scanpath
from gazelive.gaze import Floats
from gazelive.identification import Identifier, TrainedModel, TrainingSet
from gazelive.triggers import Circle, Triggers, Watch

COMMAND = str(Path(sys.executable).with_name("gazelive"))
STIMULI = Path(__file__).parents[2] / "stimuli"
SUBSCRIBERS = (0, 5, 10, 20)
DASHBOARDS, PER_PROCESS, LSL_READERS = 2, 6, 5
GALLERIES = (100, 1000, 5000, 50_000)
RECORDINGS = (10, 100, 1000)
TRIAL_S = 4.0
_START = """
import json, os, sys, time
started_s = time.perf_counter()
_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
figures = {
    "s": time.perf_counter() - started_s,
    "cpu_s": usage.ru_utime + usage.ru_stime,
    "peak_mb": usage.ru_maxrss / 1000,
}
print(json.dumps(figures), file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return k of values ~ size^k, fitted to the logarithms; NaN without three values above 0."""
    if len(sizes) < 3 or min(values) <= 0:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def show(title: str, rows: list[dict[str, Any]], size: str) -> dict[str, Any]:
    """Print rows as a table, one row per figure, and how each figure grows."""
    print(f"\n{title:44}" + "".join(f"{row[size]:>11}" for row in rows) + "   exponent")
    grown: dict[str, float] = {}
    sized = [row for row in rows if row[size]]
    for name in rows[-1]:
        values = [row.get(name) for row in rows]
        if name == size or not all(isinstance(value, int | float) for value in values):
            continue
        sizes = [row[size] for row in sized]
        grown[name] = exponent(sizes, [row[name] for row in sized])
        print(f"{name:44}" + "".join(f"{v:11.4g}" for v in values) + f"{grown[name]:11.2f}")
    return {"rows": rows, "exponents": grown}


def measured(*command: object) -> dict[str, float]:
    """Run a command; return its time, processor time, largest memory and size of the output.

    Processes that it starts count: time in the sum, memory if theirs is the largest. A small
    process starts it: Linux counts the memory of the one that forks, too.
    """
    with tempfile.TemporaryFile() as output:
        starter = [sys.executable, "-I", "-S", "-c", _START, *map(str, command)]
        answer = subprocess.run(starter, stdout=output, stderr=subprocess.PIPE, check=False)
        lines = answer.stderr.decode().splitlines()
        assert answer.returncode == 0, lines[-20:]
        return {**json.loads(lines[-1]), "output_kb": output.seek(0, os.SEEK_END) / 1000}


def named(name: str, figures: dict[str, float], *kept: str) -> dict[str, float]:
    return {f"{name}: {key}": figures[key] for key in kept}


# subscribers


class Received(msgspec.Struct):
    """What the subscriptions of a process received."""

    counts: list[dict[str, int]]
    """Documents of each type, for each subscription."""
    heard: list[tuple[float, bytes]]
    """When the first subscription received an event or a posterior."""


def subscribe_many(folder: str, n: int) -> None:
    """Subscribe `n` times, each in a thread; print what was received as JSON."""
    import gazelive
    from gazelive.gaze import Posterior, RunStopped, Saccade, SaccadeOnset, encode

    counts: list[Counter[str]] = [Counter() for _ in range(n)]
    heard: list[tuple[float, bytes]] = []
    last = [""] * n

    def listen(number: int) -> None:
        with gazelive.live.subscribe(folder) as documents:
            documents.ask("status")
            print("subscribed", flush=True)
            for document in documents:
                counts[number][type(document).__name__] += 1
                last[number] = type(document).__name__
                if number == 0 and isinstance(document, SaccadeOnset | Saccade | Posterior):
                    heard.append((time.perf_counter(), encode(document)))

    threads = [threading.Thread(target=listen, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(last) == {RunStopped.__name__}, last
    print(msgspec.json.encode(Received([dict(c) for c in counts], heard)).decode(), flush=True)


def read_lsl(session: str) -> None:
    """Read the stream of gaze until it ends; print the horizontal positions as JSON."""
    import pylsl
    from pylsl.util import LostError

    found = pylsl.resolve_byprop("source_id", f"gazelive-gaze-{session}", timeout=600)
    inlet = pylsl.StreamInlet(found[0], recover=False)
    x_px: list[float] = []
    print("subscribed", flush=True)
    try:
        while True:
            samples, _ = inlet.pull_chunk(timeout=0.1)
            x_px += [sample[0] for sample in samples]
    except LostError:
        pass
    print(json.dumps(x_px), flush=True)


def child(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    """Start this file as another process."""
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


def watch_triggers(made: Triggers, delays_ms: list[float]) -> list[Watch]:
    """Wait for each kind of trigger in a thread of its own, until its watch is closed."""
    watches = [
        made.saccade_onset(),
        made.saccade_end(),
        made.fixation(100),
        made.enter(Circle(0, 0, 5)),
        made.leave(Circle(0, 0, 5)),
        made.blink(),
    ]

    def wait(watch: Watch) -> None:
        while (trigger := watch.wait()) is not None:
            delays_ms.append(trigger.delay_ms)

    for watch in watches:
        threading.Thread(target=wait, args=(watch,), daemon=True).start()
    return watches


def bench_subscribers(folder: Path, model: Path, n: int, seconds: float) -> dict[str, Any]:
    """Return the figures of one session with `n` subscribers."""
    import gazelive
    from gazelive.gaze import PAPER_SCREEN, decode
    from gazelive.live.engine.documents_file import read_documents
    from gazelive.recordings.session.manifest import DOCUMENTS_NAME
    from gazelive.recordings.session.reader import read_session

    pictures = sorted(STIMULI.glob("*.jpg"))[:3]
    delays_ms: list[float] = []
    readers, memory_mb = [], []
    with gazelive.Tracker(
        "simulated", screen=PAPER_SCREEN, out=folder, model=model, lsl=True, quiet=True
    ) as tracker:
        n_dashboards = min(DASHBOARDS, n)
        sizes = [PER_PROCESS] * ((n - n_dashboards) // PER_PROCESS)
        sizes += [n - n_dashboards - sum(sizes)] if n - n_dashboards > sum(sizes) else []
        clients = [child("--subscribe", tracker.folder, size) for size in (1, *sizes)]
        for client, size in zip(clients, (1, *sizes), strict=True):
            for _ in range(size):
                assert client.stdout is not None
                assert client.stdout.readline() == "subscribed\n"
        offscreen = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        dashboards = [
            subprocess.Popen(
                [
                    *(COMMAND, "dashboard", "--connect", tracker.folder),
                    *("--save", folder / f"dashboard{number}.png"),
                ],
                env=offscreen,
                stdout=subprocess.DEVNULL,
            )
            for number in range(n_dashboards)
        ]
        with gazelive.live.subscribe(tracker.folder) as way:
            status = way.ask("status")
        engine = psutil.Process(status["process"])
        image = {"image": pictures[0]}
        with tracker.trial("0", **image):  # the streams of LSL begin with the first samples
            readers = [child("--read-lsl", tracker.folder.name) for _ in range(LSL_READERS)]
            for reader in readers:
                assert reader.stdout is not None
                assert reader.stdout.readline() == "subscribed\n"
            time.sleep(8.0 if n_dashboards else 1.0)  # the dashboards open
        watches = watch_triggers(tracker._triggers, delays_ms)
        cpu_s, started_s = sum(engine.cpu_times()[:2]), time.perf_counter()
        for number in range(max(1, round(seconds / (TRIAL_S + 0.5)))):
            with tracker.trial(str(number + 1), image=pictures[number % len(pictures)]) as trial:
                time.sleep(0.5)
                trial.shown()
                time.sleep(TRIAL_S)
                trial.hidden()
            memory_mb.append(engine.memory_info().rss / 1e6)
        cpu = (sum(engine.cpu_times()[:2]) - cpu_s) / (time.perf_counter() - started_s)
        for watch in watches:
            watch.close()
    stopped_s = time.perf_counter()
    answers = [msgspec.json.decode(c.communicate(timeout=60)[0], type=Received) for c in clients]
    assert [dashboard.wait(60) for dashboard in dashboards] == [0] * n_dashboards
    ended_s = time.perf_counter() - stopped_s
    recording = read_session(tracker.folder)
    assert recording.blocks
    arrivals = arrivals_of(tracker.folder)
    x_px = np.concatenate([block.samples["right_x"] for block in recording.blocks])
    read_px = [json.loads(reader.communicate(timeout=60)[0]) for reader in readers]
    written = Counter(
        type(document).__name__ for document in read_documents(tracker.folder / DOCUMENTS_NAME)
    )
    counts = [of_one for answer in answers for of_one in answer.counts]
    expected = {**written, "GazeTrace": max(of_one["GazeTrace"] for of_one in counts)}
    lost = sum(max(0, n - o.get(kind, 0)) for o in counts for kind, n in expected.items())
    received = [(at_s, decode(data)) for at_s, data in answers[0].heard]
    found = bench_engine.document_latencies(received, arrivals)
    return {
        "subscribers": n,
        "onset p50 ms": found["onset_from_arrival"]["p50_ms"],
        "onset p99 ms": found["onset_from_arrival"]["p99_ms"],
        "running posterior p50 ms": found["running_posterior"]["p50_ms"],
        "running posterior p99 ms": found["running_posterior"]["p99_ms"],
        "settled posterior p50 ms": found["settled_posterior"]["p50_ms"],
        "settled posterior worst ms": found["settled_posterior"]["worst_ms"],
        "trigger p50 ms": float(np.percentile(delays_ms, 50)),
        "trigger p99 ms": float(np.percentile(delays_ms, 99)),
        "engine % of a core": 100 * cpu,
        "engine MB": max(memory_mb),
        "lost documents": lost,
        "lost LSL samples": sum(n_lost(np.array(px, np.float32), x_px) for px in read_px),
        "end to last subscriber s": ended_s,
        "load average": os.getloadavg()[0],
        "n": {name: found[name]["n"] for name in found} | {"triggers": len(delays_ms)},
        "documents": sum(written.values()),
    }


def n_lost(received: Floats, sent: Floats) -> int:
    """Return how many numbers are missing between the first and the last that were received."""
    known = np.flatnonzero(np.isfinite(received))[:20]
    for start in np.flatnonzero(sent == received[known[0]]) - known[0]:
        if start >= 0 and (sent[start + known] == received[known]).all():
            break
    same = sent[start : start + len(received)]
    assert np.array_equal(same, received, equal_nan=True)
    return int(len(sent) - start - len(received))


def arrivals_of(folder: Path) -> Any:
    """Return when the samples of a session were in hand, from its journal."""
    from gazelive.gaze import Chunk
    from gazelive.recordings import JOURNAL_NAME, JournalFollower

    arrivals = bench_engine.Arrivals([], [])
    stream: Any = None
    for item in JournalFollower(folder / JOURNAL_NAME).poll():
        if isinstance(item, Chunk):
            arrivals(item, stream)
        else:
            stream = item
    return arrivals


# gallery


def repeated(model: TrainedModel, n_viewers: int) -> TrainedModel:
    """Return the model with its viewers and their scanpaths repeated until there are enough."""
    identifier, training = model.identifier, model.training
    n = len(identifier.viewer_ids)
    state = identifier.state()
    while n < n_viewers:
        state = state.append(n, state.viewers())
        n *= 2
    state = state.select(np.arange(n_viewers))
    names = tuple(f"viewer {number:05}" for number in range(n_viewers))
    own = [np.flatnonzero(training.viewers == v) for v in range(training.n_viewers)]
    where = [own[number % len(own)] for number in range(n_viewers)]
    paths = np.concatenate(where)
    made = type(identifier).from_state(identifier.method, names, state)
    return replace(
        model,
        fitted=replace(model.fitted, identifier=made),
        training=TrainingSet(
            training.kind,
            names,
            tuple(training.scanpaths[i] for i in paths),
            np.repeat(np.arange(n_viewers), [len(each) for each in where]),
            tuple(training.sessions[i] for i in paths),
        ),
        expectation=None,
    )


def update(identifier: Identifier, scanpath: Scanpath) -> None:
    """Give a scanpath to a probe saccade by saccade, each with a posterior."""
    probe = identifier.probe()
    probe.begin(None)
    for row in scanpath.saccades:
        probe.add_saccade(row)
        probe.complete_saccade(row)
        probe.estimate()


def cpu_ms(action: Callable[[], object], n: int = 5) -> float:
    """Return the processor time of a call; the first one compiles."""
    action()
    started_s = time.process_time()
    for _ in range(n):
        action()
    return 1000 * (time.process_time() - started_s) / n


def time_gallery(path: Path) -> None:
    """Load a model, use it as an engine and a dashboard do; print figures as JSON."""
    from gazelive.dashboard.state.state import DashboardState
    from gazelive.gaze import ModelLoaded, encode
    from gazelive.live.engine.model import load_engine_model
    from gazelive.live.pipeline.evidence import Evidence

    scanpath = bench_identification.made_up_training().scanpaths[0]
    started_s = time.perf_counter()
    running = load_engine_model(path).running
    load_s = time.perf_counter() - started_s
    assert running is not None
    identifier: Identifier = running.identifier
    evidence = Evidence(identifier)
    posterior = evidence.settle(scanpath, 1_000_000)[-1]
    loaded = ModelLoaded(model="m", method=identifier.method, viewer_ids=identifier.viewer_ids)
    state = DashboardState()
    started_s = time.perf_counter()
    state.apply_all([loaded, posterior])
    ranking = state.ranking
    dashboard_s = time.perf_counter() - started_s
    figures = {
        "load s": load_s,
        "memory MB": psutil.Process().memory_info().rss / 1e6,
        "update CPU ms": cpu_ms(partial(update, identifier, scanpath)) / scanpath.n_saccades,
        "settled posterior CPU ms": cpu_ms(
            partial(bench_identification.compared, identifier, scanpath)
        ),
        "Posterior bytes": len(encode(posterior)),
        "ModelLoaded bytes": len(encode(loaded)),
        "dashboard state ms": 1000 * dashboard_s,
        "dashboard rows": 0 if ranking is None else len(ranking.candidates),
    }
    print(json.dumps(figures), flush=True)


def bench_gallery(base: Path, folder: Path, corpus: Path, n_viewers: int) -> dict[str, Any]:
    from gazelive.identification import load_model, save_model

    folder.mkdir()
    path = folder / "lab.model"
    save_model(repeated(load_model(base), n_viewers), path)
    answer = subprocess.run(
        [sys.executable, __file__, "--gallery", str(path)], stdout=subprocess.PIPE, check=True
    )
    row = {"viewers": n_viewers, "file MB": path.stat().st_size / 1e6}
    row |= json.loads(answer.stdout)
    recording = corpus / "v001_s1"
    for name, arguments in (
        ("show", ("model", "show", path)),
        ("identify", ("identify", path, recording)),
        ("identify --json", ("identify", path, recording, "--json")),
        ("enrol one", ("model", "enrol", path, one_viewer(corpus), "-o", folder / "more.model")),
        ("forget one", ("model", "forget", path, "viewer 00007", "-o", folder / "less.model")),
        ("merge", ("model", "merge", path, folder / "more.model", "-o", folder / "both.model")),
        (
            "replay",
            (
                *("replay", recording, "--model", path, "--speed", "max", "--no-dashboard"),
                *("--json", "--out", folder / "replay"),
            ),
        ),
    ):
        figures = measured(COMMAND, *arguments)
        row |= named(name, figures, "cpu_s", "peak_mb", "output_kb")
    shutil.rmtree(folder)
    return row


def one_viewer(corpus: Path) -> Path:
    """Return a corpus of the first viewer only."""
    return first_recordings(corpus, 2)


# corpus


def first_recordings(corpus: Path, n: int) -> Path:
    """Return a corpus of the first recordings of another."""
    folder = corpus.parent / f"first{n}-of-{corpus.name}"
    folder.mkdir(exist_ok=True)
    with (corpus / "corpus.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    with (folder / "corpus.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows([str(corpus.absolute() / row[0]), *row[1:]] for row in rows[:n])
    return folder


def simulated_corpus(folder: Path, n_recordings: int) -> Path:
    """Simulate recordings of 12 s at 500 Hz, two sessions of each viewer."""
    subprocess.run(
        [
            *(COMMAND, "simulate", folder, "--viewers", str(n_recordings // 2), "--sessions", "2"),
            *("--images", "2", "--pool", "3", "--seconds", "6", "--rate", "500", "-q"),
        ],
        check=True,
    )
    return folder


def bench_corpus(corpus: Path, folder: Path, n: int) -> dict[str, Any]:
    part, model = first_recordings(corpus, n), folder / f"{n}.model"
    with (part / "corpus.csv").open(newline="", encoding="utf-8") as file:
        recordings = [row["recording"] for row in csv.DictReader(file)]
    row: dict[str, Any] = {"recordings": n}
    for name, arguments in (
        ("info", ("info", part)),
        ("detect", ("detect", *recordings, "-o", folder / f"tables{n}", "-q")),
        ("train", ("train", part, "-o", model, "--force", "-q")),
        ("identify", ("identify", model, part, "-q")),
        ("identify --json", ("identify", model, part, "-q", "--json")),
    ):
        row |= named(name, measured(COMMAND, *arguments), "s", "cpu_s", "peak_mb", "output_kb")
    return row


# all of it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("subscribers", "gallery", "corpus"))
    parser.add_argument("--seconds", type=float, default=30.0, help="of each session")
    parser.add_argument("--models", type=Path, help="folder of models made before, or to make")
    parser.add_argument("--corpus", type=Path, help="folder of a corpus made before, or to make")
    parser.add_argument("--most", type=int, default=10**9, help="leave out larger sizes")
    parser.add_argument("--json", type=Path, default=Path("bench-results/load.json"))
    parser.add_argument("--subscribe", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--read-lsl", help=argparse.SUPPRESS)
    parser.add_argument("--gallery", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.subscribe is not None:
        subscribe_many(arguments.subscribe[0], int(arguments.subscribe[1]))
    elif arguments.read_lsl is not None:
        read_lsl(arguments.read_lsl)
    elif arguments.gallery is not None:
        time_gallery(arguments.gallery)
    else:
        with tempfile.TemporaryDirectory() as name:
            measure(Path(name), arguments)


def measure(folder: Path, arguments: argparse.Namespace) -> None:
    wanted = ("subscribers", "gallery", "corpus") if not arguments.only else (arguments.only,)
    result: dict[str, Any] = {"processors": os.cpu_count()}
    place, corpus = arguments.models or folder / "models", arguments.corpus or folder / "corpus"
    sizes = {
        "subscribers": SUBSCRIBERS,
        "gallery": [n for n in GALLERIES if n <= arguments.most],
        "corpus": [n for n in RECORDINGS if n <= arguments.most],
    }
    models = {}
    if wanted != ("corpus",):
        place.mkdir(parents=True, exist_ok=True)
        models = bench_engine.make_models(place)
    if wanted != ("subscribers",) and not corpus.exists():
        simulated_corpus(corpus, max(sizes["corpus"]))
    if "subscribers" in wanted:
        rows = [
            bench_subscribers(folder / f"run{n}", models["gazelive"], n, arguments.seconds)
            for n in sizes["subscribers"]
        ]
        result["subscribers"] = show("subscribers", rows, "subscribers")
    for method in models if "gallery" in wanted else ():
        rows = [
            bench_gallery(models[method], folder / "gallery", corpus, n) for n in sizes["gallery"]
        ]
        result[f"gallery, {method}"] = show(f"gallery, {method}", rows, "viewers")
    if "corpus" in wanted:
        rows = [bench_corpus(corpus, folder, n) for n in sizes["corpus"]]
        result["corpus"] = show("corpus", rows, "recordings")
    result["load_average"] = os.getloadavg()
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"written to {arguments.json}")


if __name__ == "__main__":
    main()
