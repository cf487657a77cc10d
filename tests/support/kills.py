"""Sessions of `gazelive record` whose processes are killed (SIGKILL) at random moments.

A session has four processes: `parent`, the command that starts the others, `experiment`, `engine`
and `dashboard`. A kill takes any of them at once; one session can have several kills in a row. A
round of 20 kills has every combination of the four at least once. After the last kill, all that
lives has to come to its end by itself; then `check` looks at what is left.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from gazelive.errors import RecordingError
from gazelive.gaze.documents import Document, Posterior, RunStopped
from gazelive.gaze.stream import Chunk
from gazelive.live import live_runs
from gazelive.live.engine.documents_file import read_documents
from gazelive.live.engine.model import EngineModel, load_engine_model, warm_up
from gazelive.live.engine.runner import Engine
from gazelive.live.settings import LiveSettings
from gazelive.live.wire.addresses import Addresses, free_addresses
from gazelive.live.wire.runs import RUNS_VARIABLE
from gazelive.recordings.session.journal_reader import JournalFollower
from gazelive.recordings.session.manifest import (
    DOCUMENTS_NAME,
    JOURNAL_NAME,
    is_session_folder,
    read_manifest,
)
from gazelive.recordings.session.writer import SessionWriter
from gazelive.system.screen import virtual_display

from .live_model import save_live_model
from .undisturbed import comparable, undisturbed_documents

NAMES = ("parent", "experiment", "engine", "dashboard")
COMBINATIONS = [frozenset(who) for n in range(1, 5) for who in itertools.combinations(NAMES, n)]
LAST = [who for who in COMBINATIONS if who & {"parent", "experiment"}]
"""After these kills a session comes to its end."""
KILLS_PER_ROUND = 20
SIDE_BY_SIDE = 3
"""Sessions at once: each mostly waits for its own clock."""
PATIENCE_S = 240.0
"""More than a busy machine needs; nothing waits for it unless something is wrong."""
LOOK_S = 0.02
N_CHUNKS = 350
"""Fewer than the chunks of 10 ms of a whole session."""
SUPPORT = Path(__file__).parent
STIMULI = SUPPORT.parents[1] / "stimuli"
CONFIG = """
script = "{script}"
[tracker]
device = "simulated"
[stimuli]
folder = "{stimuli}"
n_images = 4
[trial]
image_s = 0.8
blank_s = 0.1
[schedule]
break_every_trials = 0
drift_check_every_trials = 0
[output]
folder = "sessions"
[dashboard]
open = true
"""


@dataclass(frozen=True)
class Kill:
    """The processes to kill, and when."""

    who: frozenset[str]
    when: str | int
    """"begun" (all processes run), "folder", "saved", or the number of a chunk on disk."""
    spin_s: float
    """A moment more, to come between any two steps of a process."""

    def __str__(self) -> str:
        return f"{'+'.join(sorted(self.who))} at {self.when} and {1e3 * self.spin_s:.2f} ms"


@dataclass(frozen=True)
class Plan:
    """A session and its kills."""

    number: int
    kills: tuple[Kill, ...]
    in_window: bool

    def __str__(self) -> str:
        kills = "; ".join(map(str, self.kills))
        return f"session {self.number} ({'window' if self.in_window else 'no window'}): {kills}"


def plans(n_kills: int, seed: int) -> list[Plan]:
    """Return sessions with at least so many kills in all: whole rounds of 20."""
    rng = random.Random(seed)
    made: list[Plan] = []
    n_rounds = -(-n_kills // KILLS_PER_ROUND)
    for _ in range(n_rounds):
        lasts = rng.sample(LAST, len(LAST))
        # a dashboard is killed once, an engine as often as one likes
        before = [{"engine"}] * 3 + [{"dashboard"}] * 3 + [{"engine", "dashboard"}] * 2
        for last in sorted(lasts, key=lambda who: "dashboard" in who):
            fitting = [who for who in before if "dashboard" not in (who & last)]
            fitting.sort(key=lambda who: "dashboard" not in who)
            combinations = [last]
            if fitting:
                before.remove(fitting[0])
                combinations.insert(0, frozenset(fitting[0]))
            number = len(made)
            made.append(Plan(number, _timed(combinations, rng), in_window=number % 4 == 0))
        assert not before
    return made


def _timed(combinations: list[frozenset[str]], rng: random.Random) -> tuple[Kill, ...]:
    """Return kills in their order in time."""
    whens: list[str | int] = sorted(rng.randint(1, N_CHUNKS) for _ in combinations)
    chance = rng.random()
    if chance < 0.15:
        whens[0] = rng.choice(["begun", "folder"])
    elif chance > 0.9:
        whens[-1] = "saved"
    spins_s = (rng.uniform(0, 0.01) for _ in combinations)
    return tuple(map(Kill, combinations, whens, spins_s))


@dataclass
class Lab:
    """A folder with an experiment; its processes are found by their environment."""

    folder: Path
    address: Addresses
    environment: dict[str, str]
    model: Path

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def record(self) -> subprocess.Popen[str]:
        """Start a session."""
        command = [
            *(sys.executable, "-m", "gazelive", "record", "lab.toml", "--viewer", "anna"),
            *("--mode", "identify", "--model", str(self.model), "--bind", str(self.address)),
        ]
        with (self.folder / "said.txt").open("w") as said:
            return subprocess.Popen(
                command, cwd=self.folder, env={**self.environment, RUNS_VARIABLE: str(self.runs)},
                text=True, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True,
            )  # fmt: skip

    def said(self) -> str:
        return (self.folder / "said.txt").read_text(errors="replace")

    def session(self) -> Path | None:
        """Return the session folder, if there is one yet."""
        return next(iter(self.folder.glob("sessions/*")), None)

    def is_saved(self) -> bool:
        session = self.session()
        with suppress(RecordingError):
            return session is not None and read_manifest(session).finished_at is not None
        return False

    def processes(self) -> dict[str, psutil.Process]:
        """Return the live processes of the session by their names."""
        found = {}
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.status() == psutil.STATUS_ZOMBIE:
                    continue
                if process.environ().get(RUNS_VARIABLE) == str(self.runs):
                    found[_name_of(process)] = process
        return found


def _name_of(process: psutil.Process) -> str:
    command = process.cmdline()
    for name, mark in (
        ("engine", "gazelive.live.engine"),
        ("experiment", "gazelive.experiment"),
        ("dashboard", "dashboard"),
        ("parent", "record"),
    ):
        if mark in command:
            return name
    return f"process {process.pid}: {' '.join(command)[:200]}"


@dataclass
class Outcome:
    """What a session left."""

    plan: Plan
    n_chunks: int = 0
    n_seen: int = 0
    """Chunks that were seen on disk before the last kill."""
    n_settled: int = 0
    """Settled posteriors."""
    before_kill_ms: float | None = None
    """Longest time between the arrivals of two chunks of a block: before the first kill, …"""
    after_kill_ms: float | None = None
    """… and after a kill that left the experiment alive."""
    frames: dict[str, Any] = field(default_factory=dict)
    """The experiment's own account of its frames, if it came to its end."""


class Watch:
    """Follows the journal of a session while it is recorded."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._follower: JournalFollower | None = None
        self.chunks: list[Chunk] = []

    def look(self) -> int:
        """Return the number of chunks on disk."""
        session = self._lab.session()
        if self._follower is None and session is not None and (session / JOURNAL_NAME).exists():
            self._follower = JournalFollower(session / JOURNAL_NAME)
        if self._follower is not None:
            self.chunks += [item for item in self._follower.poll() if isinstance(item, Chunk)]
        return len(self.chunks)


class Killer:
    """Runs sessions and checks what is left of them."""

    def __init__(
        self, folder: Path, environment: dict[str, str], model: Path, engine_model: EngineModel
    ) -> None:
        self._folder = folder
        self._environment = environment
        self._model = model
        self._engine_model = engine_model
        self._checking = threading.Lock()

    def run(self, plan: Plan) -> Outcome:
        """Run a session with its kills, check what is left, and remove it."""
        lab = self._new_lab(plan)
        try:
            return self._run(plan, lab)
        except BaseException as error:
            error.add_note(f"{plan}\n{lab.folder}\n{lab.said()}")
            raise
        finally:
            for process in lab.processes().values():
                with suppress(psutil.NoSuchProcess):
                    process.kill()

    def _new_lab(self, plan: Plan) -> Lab:
        folder = self._folder / f"lab{plan.number}"
        folder.mkdir()
        script = SUPPORT / "watched_viewing.py"
        if not plan.in_window:
            script = Path(shutil.copyfile(script, folder / "windowless_viewing.py"))
        text = CONFIG.format(script=script.as_posix(), stimuli=STIMULI.as_posix())
        (folder / "lab.toml").write_text(text, encoding="utf-8")
        with self._checking:
            address = free_addresses()
        return Lab(folder, address, self._environment, self._model)

    def _run(self, plan: Plan, lab: Lab) -> Outcome:
        outcome, watch = Outcome(plan), Watch(lab)
        killed: dict[str, int] = {}
        n_at_kill: list[int] = []
        with lab.record() as parent:
            for kill in plan.kills:
                wait_until(
                    lambda kill=kill: is_time(kill, lab, watch, killed) or parent.poll() is not None
                )
                processes = lab.processes()
                spin(kill.spin_s)
                n_at_kill.append(watch.look())
                for name in kill.who:
                    if name in processes:
                        killed[name] = processes[name].pid
                        with suppress(psutil.NoSuchProcess):
                            processes[name].send_signal(signal.SIGKILL)
            parent.wait(PATIENCE_S)
        wait_until(lambda: not lab.processes())
        outcome.n_seen = n_at_kill[-1]
        with self._checking:
            self._check(lab, watch, killed, outcome)
        _measure(outcome, watch.chunks, n_at_kill[0], "experiment" in killed)
        shutil.rmtree(lab.folder)
        return outcome

    def _check(self, lab: Lab, watch: Watch, killed: dict[str, int], outcome: Outcome) -> None:
        assert not (lab.folder / "blocking.txt").exists(), "the experiment may wait for a peer"
        said = lab.said()
        assert "Traceback" not in said
        with environment_variable(RUNS_VARIABLE, str(lab.runs)):
            assert live_runs() == []
            assert list(lab.runs.glob("*.json")) == []
        session = lab.session()
        if session is None or not is_session_folder(session):
            assert not watch.chunks
            assert "experiment" in killed or "parent" in killed
            return
        check_journal(session, watch.chunks, killed)
        outcome.n_chunks = watch.look()
        manifest = read_manifest(session)
        if "experiment" not in killed:
            assert manifest.finished_at is not None
            assert manifest.stop_reason == "all images were shown"
            outcome.frames = manifest.config["outcome"]["frames"]
        # an engine that starts now has the same addresses
        with environment_variable(RUNS_VARIABLE, str(lab.runs)):
            settings = LiveSettings(folder=session, address=str(lab.address), model=self._model)
            Engine(
                settings, load=lambda _path: self._engine_model, is_left_alone=lambda: True
            ).run()
            assert live_runs() == []
        found = without_end(comparable(read_documents(session / DOCUMENTS_NAME)))
        copy = lab.folder / "undisturbed"
        expected = without_end(undisturbed_documents(session, copy, self._engine_model))
        assert settled(found) == settled(expected)
        assert found == expected
        outcome.n_settled = len(settled(found))
        with SessionWriter.resume(session):  # nothing holds it
            pass
        left = [path.name for path in session.iterdir() if ".part" in path.name]
        assert not left or ("experiment" in killed and manifest.finished_at is not None), left


def is_time(kill: Kill, lab: Lab, watch: Watch, killed: dict[str, int]) -> bool:
    """Return whether the moment of a kill has come."""
    n_chunks = watch.look()
    if isinstance(kill.when, int):
        if n_chunks < kill.when:
            return False
    elif kill.when == "folder":
        if lab.session() is None:
            return False
    elif kill.when == "saved":
        return lab.is_saved()
    processes = lab.processes()
    wanted = set(NAMES) - (set(killed) - {"engine"})
    is_new = "engine" in processes and processes["engine"].pid != killed.get("engine")
    return (wanted <= set(processes) and is_new) or lab.is_saved()


def check_journal(session: Path, seen: list[Chunk], killed: dict[str, int]) -> None:
    """Check that all chunks are there, without a gap, and those that were seen are the same."""
    follower = JournalFollower(session / JOURNAL_NAME)
    chunks = [item for item in follower.poll() if isinstance(item, Chunk)]
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert len(chunks) >= len(seen)
    for before, after in zip(seen, chunks, strict=False):
        assert before.samples.tobytes() == after.samples.tobytes()
        assert before.messages == after.messages
    assert len(follower.problems) <= ("experiment" in killed), "only a torn record at the end"


def settled(documents: list[Document]) -> list[Posterior]:
    return [one for one in documents if isinstance(one, Posterior) and one.settled]


def without_end(documents: list[Document]) -> list[Document]:
    """Leave out why the engine ended."""
    return [one for one in documents if not isinstance(one, RunStopped)]


def _measure(outcome: Outcome, chunks: list[Chunk], n_at_kill: int, is_dead: bool) -> None:
    """Note the longest pauses of the thread that reads the tracker and sends to the engine."""

    def longest_ms(some: list[Chunk]) -> float | None:
        gaps_s = [
            b.arrival_s - a.arrival_s for a, b in itertools.pairwise(some) if a.block == b.block
        ]
        return 1e3 * max(gaps_s) if gaps_s else None

    outcome.before_kill_ms = longest_ms(chunks[:n_at_kill])
    if not is_dead:
        outcome.after_kill_ms = longest_ms(chunks[max(n_at_kill - 1, 0) :])


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not is_true():
        assert time.monotonic() < deadline_s, "it does not come to its end"
        time.sleep(LOOK_S)


def spin(seconds: float) -> None:
    """Wait for a time that sleep is too coarse for."""
    until_s = time.perf_counter() + seconds
    while time.perf_counter() < until_s:
        pass


@contextmanager
def environment_variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def run_kills(
    killer: Killer, all_plans: list[Plan], tell: Callable[[str], None] = lambda _text: None
) -> list[Outcome]:
    """Run all sessions, some side by side; the first failure is raised."""

    def run(plan: Plan) -> Outcome:
        outcome = killer.run(plan)
        tell(f"{plan}: {outcome.n_chunks} chunks, {outcome.n_settled} settled posteriors")
        return outcome

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return list(pool.map(run, all_plans))


@contextmanager
def killer_on_screen(folder: Path) -> Iterator[Killer | None]:
    """Yield what kills sessions on a virtual screen; None where there is no Xvfb."""
    model = save_live_model(folder / "people.model")
    engine_model = load_engine_model(model)
    warm_up(engine_model)
    with virtual_display() as display:
        if display is None:
            yield None
            return
        environment = {**os.environ, "DISPLAY": display}
        environment.pop("QT_QPA_PLATFORM", None)
        yield Killer(folder, environment, model, engine_model)


def kill_report(
    folder: Path, n_kills: int, seed: int | None, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Run so many kills; return the figures of a soak's report. A failure is raised."""
    seed = random.randrange(1 << 32) if seed is None else seed
    tell(f"kills with seed {seed}")
    with killer_on_screen(folder) as killer:
        assert killer is not None, "Xvfb is not installed, or does not start"
        outcomes = run_kills(killer, plans(n_kills, seed), tell)
    survived = [one for one in outcomes if one.after_kill_ms is not None]
    found = {
        "seed": seed,
        "sessions": len(outcomes),
        "kills": sum(len(one.plan.kills) for one in outcomes),
        "sessions_in_a_window": sum(one.plan.in_window for one in outcomes),
        "chunks": sum(one.n_chunks for one in outcomes),
        "settled_posteriors": sum(one.n_settled for one in outcomes),
        "pause_before_kills_ms": quantiles([one.before_kill_ms for one in survived]),
        "pause_after_kills_ms": quantiles([one.after_kill_ms for one in survived]),
        "worst_frame_ms": quantiles([one.frames.get("worst_ms") for one in outcomes]),
        "is_right": True,
    }
    tell("\n".join(f"{what}: {figure}" for what, figure in found.items()))
    return found


def quantiles(values: list[float | None]) -> dict[str, float]:
    """Return the median and the largest of the known values."""
    known = [value for value in values if value is not None]
    if not known:
        return {"n": 0}
    return {"n": len(known), "median": float(np.median(known)), "largest": max(known)}
