"""`gazelive.Tracker` in scripts of their own: real processes, engine, dashboard and signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

import gazelive
from gazelive.gaze.documents import IntervalSettled, ModelLoaded, Posterior, RunStopped
from gazelive.live.engine.documents_file import read_documents
from gazelive.live.wire.addresses import free_addresses
from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session

from ..support.people import small_corpus

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PATIENCE_S = 600.0
"""More than a busy machine needs; nothing waits for it unless something is wrong."""
IDENTIFIES = """
import json, sys, time
import psutil
import gazelive

out, bind, model = sys.argv[1:]
with gazelive.Tracker(
    "simulated", out=out, viewer="p07", simulate_as="v002", sampling_rate_hz=500, model=model,
    dashboard=True, bind=bind, quiet=True,
) as tracker:
    commands = [" ".join(child.cmdline()) for child in psutil.Process().children()]
    with tracker.trial(1, image="drawn", rectangle_px=(210, 40, 1500, 1000)) as trial:
        trial.shown()
        while trial.posterior is None:
            trial.wait_saccade(timeout_s=1)
        running = trial.posterior
    while not tracker.posterior.settled:
        time.sleep(0.01)
    settled = tracker.posterior
print(json.dumps({
    "folder": str(tracker.folder),
    "commands": commands,
    "left": [" ".join(child.cmdline()) for child in psutil.Process().children()],
    "viewers": [sorted(running.posterior), sorted(settled.posterior)],
    "best": settled.best,
    "p": [running.probability, settled.probability],
    "n_saccades": settled.n_saccades,
}))
"""
WAITS = """
import sys
import gazelive

with gazelive.Tracker("simulated", out=sys.argv[1], viewer="p07", bind=sys.argv[2]) as tracker:
    with tracker.trial(1) as trial:
        trial.wait_saccade()
        print("waiting", flush=True)
        trial.wait_saccade(min_amplitude_deg=89)
"""
FORGETS = """
import sys
import gazelive

tracker = gazelive.Tracker("simulated", out=sys.argv[1], viewer="p07", quiet=True)
trial = tracker.trial(1).__enter__()
trial.wait_saccade()
"""


def start(script: str, folder: Path, *arguments: object) -> subprocess.Popen[str]:
    path = folder / "script.py"
    path.write_text(script, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(path), *map(str, arguments)],
        env=environment, cwd=folder, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def only_folder(out: Path) -> Path:
    (folder,) = out.iterdir()
    return folder


@pytest.mark.filterwarnings("ignore:one session|fewer than 100|. viewers are too few")
def test_a_script_identifies_its_viewer_beside_a_dashboard(tmp_path: Path) -> None:
    corpus = small_corpus()
    model = tmp_path / "lab.model"
    trained = gazelive.train(corpus)
    trained.save(model)
    with start(IDENTIFIES, tmp_path, tmp_path / "out", free_addresses(), model) as script:
        said, complained = script.communicate(timeout=PATIENCE_S)
    assert script.returncode == 0, complained
    found = json.loads(said.splitlines()[-1])
    assert sum("gazelive.live.engine" in command for command in found["commands"]) == 1
    assert sum("gazelive dashboard" in command for command in found["commands"]) == 1
    assert found["left"] == []
    assert found["viewers"][1] == sorted(trained.viewers)
    assert set(found["viewers"][0]) <= set(trained.viewers)
    assert found["best"] in trained.viewers
    assert all(0 < p <= 1 for p in found["p"])
    folder = Path(found["folder"])
    documents = list(read_documents(folder / "events.jsonl"))
    kinds = {type(document) for document in documents}
    assert {ModelLoaded, Posterior, IntervalSettled, RunStopped} <= kinds
    settled = [d for d in documents if isinstance(d, Posterior) and d.settled]
    assert settled[-1].n_saccades == found["n_saccades"]
    assert read_manifest(folder).stop_reason == "the script ended"


@pytest.mark.skipif(sys.platform == "win32", reason="signals as in a POSIX terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_while_it_waits_ends_everything_in_order(tmp_path: Path, number: int) -> None:
    out = tmp_path / "out"
    with start(WAITS, tmp_path, out, free_addresses()) as script:
        assert script.stdout is not None
        while "waiting" not in (line := script.stdout.readline()):
            assert line, script.communicate()[1]
        (engine,) = psutil.Process(script.pid).children()
        os.killpg(script.pid, number)  # as a terminal does: to the whole group
        _, complained = script.communicate(timeout=PATIENCE_S)
    assert script.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in complained
    assert not engine.is_running()
    folder = only_folder(out)
    assert read_manifest(folder).stop_reason == "stopped by Ctrl-C"
    (trial,) = read_session(folder).trials
    assert trial.variables["outcome"] == "aborted"
    assert (folder / f"{folder.name}.asc").is_file()
    assert any(isinstance(d, RunStopped) for d in read_documents(folder / "events.jsonl"))


def _ends_early(script: str) -> str:
    return script + "import sys\nsys.exit(3)\n"


def _fails(script: str) -> str:
    return script + "raise ValueError('the script is wrong')\n"


@pytest.mark.parametrize(
    ("change", "exit_code", "reason"),
    [
        (str, 0, "the script did not close the tracker"),
        (_ends_early, 3, "the script did not close the tracker"),
        (_fails, 1, "ValueError: the script is wrong"),
    ],
)
def test_a_script_that_forgets_to_close_is_closed(
    tmp_path: Path, change: Callable[[str], str], exit_code: int, reason: str
) -> None:
    out = tmp_path / "out"
    with start(change(FORGETS), tmp_path, out) as script:
        _, complained = script.communicate(timeout=PATIENCE_S)
    assert script.returncode == exit_code, complained
    folder = only_folder(out)
    assert read_manifest(folder).stop_reason == reason
    assert read_session(folder).n_samples > 0
    assert (folder / f"{folder.name}.asc").is_file()
