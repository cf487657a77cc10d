"""Whole sessions of `gazelive record`: as in the lab, interrupted, and with killed processes.

Tests named `eyelink` need the tracker and an operator; the others use the simulated tracker on
the real screen.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from .recorded import Ask, Confirm, Note, check_equal_to_edf, check_regular, read

pytestmark = [pytest.mark.hardware, pytest.mark.timeout(3600)]

ENGINE, DASHBOARD, EXPERIMENT = "gazelive.live", "dashboard", "--run"
"""Words in the command lines of the processes that `record` starts."""
PATIENCE_S = 300.0
OWN_GROUP: dict[str, Any] = (
    {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    if sys.platform == "win32"
    else {"start_new_session": True}
)


class Run:
    """`gazelive record` in a process of its own, and the folder of its session."""

    def __init__(self, lab: Path, out: Path, *options: str) -> None:
        self._out = out
        self._before = set(out.glob("*")) if out.exists() else set()
        self._log = out.parent / f"record-{time.strftime('%H%M%S')}.txt"
        command = [sys.executable, "-P", "-m", "gazelive", "record", str(lab), "--out", str(out)]
        with self._log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*command, *options], stdout=log, stderr=subprocess.STDOUT, **OWN_GROUP
            )

    @property
    def printed(self) -> str:
        """Output of the process."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def folder(self) -> Path:
        """The folder of the session."""
        (folder,) = set(self._out.glob("*")) - self._before
        return folder

    def wait_for(self, kind: str, number: int = 1) -> None:
        """Wait until the engine has written this number of documents of a kind."""
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            assert self.process.poll() is None, self.printed
            files = [p for f in set(self._out.glob("*")) - self._before for p in f.glob("e*.jsonl")]
            if sum(path.read_bytes().count(f'"{kind}"'.encode()) for path in files) >= number:
                return
            time.sleep(0.2)
        raise AssertionError(f"no {kind}: {self.printed}")

    def interrupt(self) -> None:
        """Send Ctrl-C (Windows: Ctrl-Break, all that can be sent to another group)."""
        self.process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))

    def kill(self, word: str) -> None:
        """Kill one of the processes."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        found = [child for child in children if any(word in part for part in child.cmdline())]
        assert found, f"no process with {word}: {[child.cmdline() for child in children]}"
        found[0].kill()

    def end(self) -> int:
        """Wait for the end; return the exit code."""
        return self.process.wait(PATIENCE_S)


Start = Callable[..., Run]


@pytest.fixture
def start(lab: Path, results: Path) -> Iterator[Start]:
    """Return a function that starts a session; it ends with the test whatever happens."""
    runs: list[Run] = []

    def start(*options: str, out: Path = results / "sessions") -> Run:
        runs.append(Run(lab, out, "--seconds", "4", *options))
        return runs[-1]

    yield start
    for run in runs:
        if run.process.poll() is None:
            for process in (
                *psutil.Process(run.process.pid).children(recursive=True),
                run.process,
            ):
                process.kill()


@pytest.fixture
def simulate(start: Start) -> Start:
    """Return a function that starts a session of the simulated tracker."""

    def simulate(*options: str, **more: Any) -> Run:
        return start("--device", "simulated", "--viewer", "sim", "--trials", "6", *options, **more)

    return simulate


def manifest(folder: Path) -> dict[str, Any]:
    """Return session.json."""
    content: dict[str, Any] = json.loads((folder / "session.json").read_text(encoding="utf-8"))
    return content


def check_session(folder: Path, note: Note) -> None:
    """Assert that session and EDF have the same samples, and note what else is of interest."""
    found = manifest(folder)
    tracker = found["config"]["tracker"]
    assert tracker["link_filter"] == tracker["file_filter"], (
        "set file_filter to link_filter in the TOML for this test: else the EDF is smoother"
    )
    session = read(folder)
    for block in session.blocks:
        check_regular(block.samples, block.stream.sampling_rate_hz)
    blocks = [block.samples for block in session.blocks]
    only_edf = check_equal_to_edf(
        folder / f"{folder.name}.edf", blocks, session.blocks[0].stream.eyes
    )
    note(
        folder=folder.name,
        stop_reason=found["stop_reason"],
        blocks=len(blocks),
        samples=session.n_samples,
        only_in_edf=only_edf,
        clock_fit=found["clock_fit"],
        outcome=found["config"].get("outcome"),
    )


def test_eyelink_session(
    address: str, start: Start, ask: Ask, confirm: Confirm, note: Note
) -> None:
    """A participant, six images, the dashboard on the other screen."""
    ask(
        "A session of six images starts: calibrate, validate, SPACE; look at each cross. Move the "
        "dashboard's window and click in it while images are shown. ENTER to start."
    )
    run = start("--viewer", "accept", "--trials", "6", "--device", "eyelink")
    assert run.end() == 0, run.printed
    check_session(run.folder, note)
    frames = manifest(run.folder)["config"]["outcome"]["frames"]
    assert frames["synced"]
    confirm("The dashboard was on the other screen, moved smoothly and followed the gaze?")
    confirm("Each image came about 0.3 s after the cross was fixated, none by itself?")
    report = [sys.executable, "-P", "-m", "gazelive", "session", "report", str(run.folder)]
    subprocess.run(report, check=True)


def test_eyelink_interrupted(address: str, start: Start, ask: Ask, note: Note) -> None:
    """Ctrl-C during the second image: everything is saved, the EDF fetched."""
    ask(
        "The next session interrupts itself. ESC leaves the set-up (the last calibration still "
        "holds), SPACE goes on; look at the crosses. ENTER to start."
    )
    run = start("--viewer", "accept", "--trials", "6", "--device", "eyelink")
    run.wait_for("TrialStarted", 2)
    run.interrupt()
    note(exit_code=run.end())
    assert "Traceback" not in run.printed
    check_session(run.folder, note)


def test_eyelink_cable(address: str, start: Start, ask: Ask, confirm: Confirm, note: Note) -> None:
    """The network cable comes off: what had come is saved, the EDF's name is printed."""
    ask(
        "ESC leaves the set-up, SPACE goes on. During the second image PULL THE NETWORK CABLE of "
        "the Host PC. ENTER to start."
    )
    run = start("--viewer", "accept", "--trials", "6", "--device", "eyelink")
    run.wait_for("TrialStarted", 2)
    assert run.end() == 1, run.printed
    assert "Traceback" not in run.printed
    assert ".EDF" in run.printed, "the EDF's name on the Host PC is printed"
    session = read(run.folder)
    note(folder=run.folder.name, samples=session.n_samples, printed=run.printed[-1500:])
    assert session.n_samples > 0
    ask("Plug the cable in again and wait until the Host PC shows the link. ENTER to go on.")
    confirm("The Host PC has the EDF under the printed name?")


def test_interrupted(simulate: Start, note: Note) -> None:
    run = simulate()
    run.wait_for("SaccadeOnset")
    run.interrupt()
    note(exit_code=run.end())
    assert "Traceback" not in run.printed
    found = manifest(run.folder)
    note(stop_reason=found["stop_reason"])
    assert found["finished_at"] is not None
    assert read(run.folder).trials[-1].variables["outcome"] == "aborted"


def test_killed_engine(simulate: Start, note: Note) -> None:
    """A new engine catches up: every trial is settled once."""
    run = simulate()
    run.wait_for("SaccadeOnset")
    run.kill(ENGINE)
    assert run.end() == 0, run.printed
    events = (run.folder / "events.jsonl").read_text(encoding="utf-8")
    note(settled=events.count('"IntervalSettled"'))
    assert events.count('"IntervalSettled"') == 6


def test_killed_dashboard(simulate: Start) -> None:
    run = simulate("--dashboard")
    run.wait_for("SaccadeOnset")
    run.kill(DASHBOARD)
    assert run.end() == 0, run.printed
    assert len(read(run.folder).trials) == 6


def test_killed_experiment(simulate: Start, note: Note) -> None:
    """The recording is on disk."""
    run = simulate("--no-dashboard")
    run.wait_for("IntervalSettled", 2)
    run.kill(EXPERIMENT)
    note(exit_code=run.end())
    assert run.process.returncode != 0
    assert "Traceback" not in run.printed
    session = read(run.folder)
    note(samples=session.n_samples, problems=[problem.text for problem in session.problems])
    assert len(session.trials) >= 2
    for block in session.blocks:
        check_regular(block.samples, block.stream.sampling_rate_hz)


def test_folder_with_umlauts(simulate: Start, results: Path) -> None:
    out = results / "Größe, Übung & 目"
    run = simulate("--no-dashboard", out=out)
    assert run.end() == 0, run.printed
    assert len(read(run.folder).trials) == 6


@pytest.mark.skipif(os.name != "nt", reason="Windows only")
def test_closed_console(lab: Path, results: Path, ask: Ask, confirm: Confirm) -> None:
    """Samples and messages are on disk; the EDF stays on the Host PC (docs/experiment.md)."""
    out = results / "closed"
    ask("A console window opens; close it by its × during the second image. ENTER to start.")
    command = [sys.executable, "-P", "-m", "gazelive", "record", str(lab), "--out", str(out)]
    options = ["--device", "simulated", "--viewer", "sim", "--trials", "6", "--no-dashboard"]
    new_console = getattr(subprocess, "CREATE_NEW_CONSOLE", 0)
    subprocess.run([*command, *options], creationflags=new_console, check=False)
    (folder,) = out.glob("*")
    assert read(folder).n_samples > 0
    confirm("No window of the session is left?")
