"""`gazelive record` that does not come to its end: stopped, or parts of it killed."""

from __future__ import annotations

import contextlib
import importlib.util
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

from gazelive.live.client import subscribe
from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session

from .recorded_lab import SCRIPT_LINE, change

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        importlib.util.find_spec("psychopy") is None,
        reason="PsychoPy is not installed (extra `experiment`)",
    ),
]

PATIENCE_S = 240.0
"""More than a busy machine needs; nothing waits for it unless something is wrong."""
Begin = Callable[[], subprocess.Popen[str]]


@pytest.fixture
def begin(lab: Path, screen_environment: dict[str, str]) -> Iterator[Begin]:
    """Return what starts a session, which ends with the test whatever happens.

    It hears Ctrl-C also where these tests run in the background.
    """
    begun: list[subprocess.Popen[str]] = []

    def begin() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "gazelive", "record", "lab.toml", "--viewer", "anna"]
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            process = subprocess.Popen(
                command, env=screen_environment, cwd=lab, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        finally:
            signal.signal(signal.SIGINT, before)
        begun.append(process)
        return process

    yield begin
    for process in begun:
        with process:
            killed(process)


def killed(process: subprocess.Popen[str]) -> None:
    """End the session and all that it has started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
    process.kill()


def press_ctrl_c(process: subprocess.Popen[str]) -> None:
    """Do what Ctrl-C in a terminal does: every process of the group hears it."""
    os.killpg(process.pid, signal.SIGINT)


def found_in(folder: Path) -> bytes:
    """Return what the engine has written; a new engine may just be setting it aside."""
    try:
        return (folder / "events.jsonl").read_bytes()
    except FileNotFoundError:
        return b""


def wait_for(lab: Path, kind: str, process: subprocess.Popen[str]) -> Path:
    """Return the session's folder once the engine has found something of a kind."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        assert process.poll() is None, process.communicate()[0]
        for folder in lab.glob("sessions/*"):
            if f'"{kind}"'.encode() in found_in(folder):
                return folder
        time.sleep(0.1)
    killed(process)
    raise AssertionError(f"no {kind} came: {process.communicate()[0]}")


def wait_for_trial(folder: Path, number: int, process: subprocess.Popen[str]) -> int:
    """Wait until the engine has settled this number of trials."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        assert process.poll() is None, process.communicate()[0]
        n = found_in(folder).count(b'"IntervalSettled"')
        if n >= number:
            return n
        time.sleep(0.1)
    killed(process)
    raise AssertionError(f"the trials do not go on: {process.communicate()[0]}")


@pytest.mark.skipif(sys.platform == "win32", reason="signals as in a POSIX terminal")
def test_ctrl_c_while_it_starts_leaves_nothing(lab: Path, begin: Begin) -> None:
    script = lab / "loading.py"
    script.write_text(f"print('loading', flush=True)\nimport time\ntime.sleep({PATIENCE_S})\n")
    change(lab, SCRIPT_LINE, 'script = "loading.py"')
    with begin() as process:
        assert process.stdout is not None
        while "loading" not in process.stdout.readline():
            assert process.poll() is None
        press_ctrl_c(process)
        said = process.stdout.read()
    assert process.returncode == 1
    assert "did not begin" in said
    assert "Traceback" not in said
    assert not list(lab.glob("sessions/*"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals as in a POSIX terminal")
@pytest.mark.parametrize("by", ["the terminal", "kill"])
def test_ctrl_c_ends_in_order(lab: Path, begin: Begin, by: str) -> None:
    change(lab, "image_s = 2.0", "image_s = 300.0")  # it is interrupted within the first
    process = begin()
    folder = wait_for(lab, "SaccadeOnset", process)
    if by == "kill":
        process.terminate()
    else:
        press_ctrl_c(process)
    said, _ = process.communicate(timeout=PATIENCE_S)
    manifest: Any = read_manifest(folder)
    assert manifest.stop_reason == "stopped by Ctrl-C", said
    recording = read_session(folder)
    assert recording.trials[-1].variables["outcome"] == "aborted"
    assert (folder / f"{folder.name}.asc").is_file()
    assert "Traceback" not in said


def test_the_dashboard_calibrates_and_stops(lab: Path, begin: Begin) -> None:
    """By the requests of its buttons, through the engine, while the images go on."""
    change(lab, "n_images = 6", "n_images = 30")
    process = begin()
    folder = wait_for(lab, "SaccadeOnset", process)
    with subscribe(str(folder)) as run:
        assert set(run.ask("calibrate")["takes"]) == {"end", "calibrate"}
        n_before = wait_for_trial(folder, 1, process)
        wait_for_trial(folder, n_before + 2, process)  # one may have been under way
        run.ask("end")
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said
    assert read_manifest(folder).stop_reason == "stopped from the dashboard"
    recording = read_session(folder)
    assert sum(found.kind == "validation" for found in recording.calibrations) == 2
    assert recording.trials[0].end_us < recording.calibrations[-1].tracker_time_us


@pytest.mark.skipif(sys.platform == "win32", reason="finds the processes by /proc")
def test_the_engine_may_die_and_the_experiment_too(lab: Path, begin: Begin) -> None:
    change(lab, "n_images = 6", "n_images = 30")  # not over before a new engine is there
    process = begin()
    folder = wait_for(lab, "SaccadeOnset", process)
    children = psutil.Process(process.pid).children()
    (engine,) = (c for c in children if "gazelive.live.engine" in c.cmdline())
    (experiment,) = (c for c in children if "--run" in c.cmdline())
    engine.kill()
    trials = wait_for_trial(folder, 3, process)
    assert trials >= 3
    experiment.kill()
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert "a new one catches up" in said
    assert "never closed" in said
    recording = read_session(folder)
    assert len(recording.trials) >= 3
    assert recording.n_samples > 3 * 2000
    assert process.returncode != 0
