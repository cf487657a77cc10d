"""`gazelive replay`, `run` and `keys`: the whole live path, against offline analysis."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from gazelive.analysis.recording import analyse
from gazelive.cli.keys import keys
from gazelive.cli.replay import replay
from gazelive.cli.run import run
from gazelive.cli.simulate import simulate
from gazelive.cli.train import train
from gazelive.errors import ConfigError, IncompatibleModelError, RecordingError, TransportError
from gazelive.features.scanpath import scanpath_of
from gazelive.gaze.documents import IntervalSettled, ModelLoaded, Posterior, RunStopped
from gazelive.identification import load_model
from gazelive.live.engine.documents_file import read_documents
from gazelive.live.session import LiveSession
from gazelive.live.wire.addresses import free_addresses
from gazelive.recordings.asc.writer import write_asc
from gazelive.recordings.open import read_recording
from gazelive.recordings.session.manifest import DOCUMENTS_NAME
from gazelive.recordings.session.reader import read_session

from ..support.recordings import block_of, gaze_samples, make_recording, make_stream

pytestmark = pytest.mark.slow

PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "corpus"
    simulate(folder, viewers=4, images=8, pool=8, seconds=4.0, sessions=2, jobs=1, quiet=True)
    return folder


@pytest.fixture(scope="module", params=["gazelive", "fisher-markov-dynamics"])
def model(request, corpus, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / f"{request.param}.model"
    train(corpus, path, method=request.param, sessions="1", quiet=True)
    return path


def offline_posteriors(folder: Path, model_path: Path) -> list[tuple]:
    """Return what identification of the folder says after each interval."""
    model = load_model(model_path)
    probe = model.identifier.probe()
    found = []
    for one in analyse(read_session(folder), parameters=model.detector.parameters).intervals:
        probe.begin(one.interval.image)
        probe.settle(scanpath_of(one.gaze, one.interval.image))
        estimate = probe.estimate()
        order = np.argsort(-estimate.log_probabilities, kind="stable")
        found.append(
            (
                tuple(order.tolist()),
                tuple(estimate.log_probabilities[order].tolist()),
                estimate.log_unknown,
                estimate.n_saccades,
                estimate.n_images,
                estimate.seconds,
            )
        )
    return found


def test_a_replay_equals_offline_identification(corpus, model, tmp_path, capsys):
    folder = tmp_path / "session"
    replay(
        corpus / "v002_s2",
        model=model,
        speed="max",
        dashboard=False,
        out=folder,
        as_json=True,
        quiet=True,
    )
    facts = json.loads(capsys.readouterr().out)
    documents = read_documents(folder / DOCUMENTS_NAME)
    live = [
        (d.leading, d.log_probabilities, d.log_unknown, d.n_saccades, d.n_images, d.seconds)
        for d in documents
        if isinstance(d, Posterior) and d.settled
    ]
    assert live == offline_posteriors(folder, model)
    assert len(live) == 8
    running = [d for d in documents if isinstance(d, Posterior) and not d.settled]
    assert len(running) > 8 * 5
    assert next(d for d in documents if isinstance(d, ModelLoaded)).viewer_ids == tuple(
        load_model(model).identifier.viewer_ids
    )
    assert facts["best"] in load_model(model).identifier.viewer_ids
    assert facts["n_images"] == facts["intervals"] == 8
    assert set(facts["crossed_s"]) == {"0.5", "0.9", "0.99"}
    assert facts["stop_reason"] == "end of the recording"
    assert Path(facts["documents"]).is_file()

    # and an engine that comes when all is over finds nothing new to say
    before = (folder / DOCUMENTS_NAME).read_bytes()
    run(folder, model=model, bind=str(free_addresses()), quiet=True)
    assert (folder / DOCUMENTS_NAME).read_bytes() == before
    assert not list(folder.glob("events.*.jsonl"))


@pytest.mark.parametrize("name", ["mono1000_trials", "test_raw.edf", "test_raw_binocular.edf"])
def test_a_real_recording_settles_as_its_file_does(real_file, name, tmp_path, capsys):
    path = real_file(name)
    folder = tmp_path / "session"
    screen = {"screen": "1920x1080", "size_mm": "535x301", "distance_mm": "600"}
    replay(path, speed="60", dashboard=False, out=folder, quiet=True, **screen)
    told = capsys.readouterr()
    settled = [d for d in read_documents(folder / DOCUMENTS_NAME) if isinstance(d, IntervalSettled)]
    from gazelive.cli.terminal.options import geometry_flags

    flags = geometry_flags(*screen.values())
    offline = analyse(read_recording(path), flags=flags).intervals
    assert [d.saccades for d in settled] == [i.gaze.detection.saccades for i in offline]
    assert [d.fixations for d in settled] == [i.gaze.detection.fixations for i in offline]
    assert [(d.start_us, d.end_us) for d in settled] == [
        (i.interval.start_us, i.interval.end_us) for i in offline
    ]
    assert f"in {len(settled)} intervals" in told.out


def test_blocks_of_different_resolution_settle_as_the_file_does(tmp_path, capsys):
    blocks = [
        block_of(
            gaze_samples(seed, 3.0, seed * 10_000_000),
            make_stream(screen=None, screen_px=(1920, 1080), px_per_deg=(px, px)),
        )
        for seed, px in ((1, 30.0), (2, 44.0), (3, 36.0))
    ]
    path, folder = tmp_path / "blocks.asc", tmp_path / "session"
    write_asc(make_recording(blocks, screen=None, screen_px=(1920, 1080)), path)
    replay(path, speed="60", dashboard=False, out=folder, quiet=True)
    assert "so amplitudes may be off by 22 %" in " ".join(capsys.readouterr().err.split())
    settled = [d for d in read_documents(folder / DOCUMENTS_NAME) if isinstance(d, IntervalSettled)]
    offline = analyse(read_recording(path))
    assert {found.geometry.x_px_per_deg for found in offline.geometries} == {36.0}
    assert [d.saccades for d in settled] == [i.gaze.detection.saccades for i in offline.intervals]


def test_only_the_engine_loads_the_model(corpus, model, tmp_path, capsys, monkeypatch):
    loaded = []
    monkeypatch.setattr("gazelive.identification.load_model", loaded.append)
    facts = played(corpus / "v002_s2", tmp_path / "session", capsys, model=model)
    assert facts["best"] is not None
    assert not loaded


def test_impossible_settings_are_refused_before_writing(corpus, tmp_path):
    folder = tmp_path / "session"
    for wrong in ("fast", "0", "-1", "nan"):
        with pytest.raises(ConfigError, match="--speed"):
            replay(corpus / "v001_s1", speed=wrong, out=folder)
    with pytest.raises(ConfigError, match="address"):
        replay(corpus / "v001_s1", bind="not an address", out=folder, dashboard=False)
    with pytest.raises(RecordingError):
        replay(tmp_path / "nothing.asc", out=folder)
    assert not folder.exists()


def test_a_model_for_another_rate_is_refused(corpus, model, tmp_path):
    slow = tmp_path / "slow"
    simulate(slow, viewers=1, images=1, pool=1, seconds=2.0, rate=250.0, jobs=1, quiet=True)
    with pytest.raises(IncompatibleModelError, match="250 Hz"):
        replay(slow / "v001_s1", model=model, out=tmp_path / "session", dashboard=False)
    assert not (tmp_path / "session").exists()


def test_other_computers_only_with_keys(corpus, tmp_path, capfd):
    with pytest.raises(TransportError, match="gazelive keys"):
        run(corpus / "v001_s1", bind="0.0.0.0:5999", quiet=True)
    keys("lab-2", folder=tmp_path / "keys")
    assert capfd.readouterr().out.strip() == str(tmp_path / "keys" / "lab-2")
    bind = f"0.0.0.0:{free_addresses().port}"
    run(corpus / "v001_s1", bind=bind, keys=tmp_path / "keys", quiet=True)
    documents = read_documents(corpus / "v001_s1" / DOCUMENTS_NAME)
    assert isinstance(documents[-1], RunStopped)
    # and a replay talks to its own engine with keys too
    facts = played(
        corpus / "v002_s2", tmp_path / "session", capfd, bind=bind, keys=tmp_path / "keys"
    )
    assert facts["stop_reason"] == "end of the recording"


def played(recording: Path, folder: Path, capture: Any, **options: Any) -> dict[str, Any]:
    """Return what `gazelive replay --json` says of a recording that is played at once."""
    capture.readouterr()
    replay(
        recording,
        speed=options.pop("speed", "max"),
        dashboard=False,
        out=folder,
        as_json=True,
        quiet=True,
        **options,
    )
    return json.loads(capture.readouterr().out)


def engine_of(replaying: psutil.Process, folder: Path) -> psutil.Process:
    """Return the engine of a replay, once it has written something."""
    deadline_s = time.monotonic() + PATIENCE_S
    documents = folder / DOCUMENTS_NAME
    while not (documents.is_file() and documents.stat().st_size):
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    return next(
        child for child in replaying.children() if "gazelive.live.engine" in child.cmdline()
    )


def test_a_replay_survives_the_death_of_its_engine(corpus, model, tmp_path, capsys, monkeypatch):
    folder = tmp_path / "session"
    moments = itertools.count()

    def kill_in_the_middle(live: LiveSession) -> bool:
        if next(moments) == 50:  # of 300 chunks; the replay waits meanwhile, so it is not over
            engine = engine_of(psutil.Process(), folder)
            engine.kill()
            engine.wait(PATIENCE_S)
        return keep_alive(live)

    keep_alive = LiveSession.keep_alive
    monkeypatch.setattr(LiveSession, "keep_alive", kill_in_the_middle)
    facts = played(corpus / "v002_s2", folder, capsys, model=model, speed="20")
    assert next(moments) > 51
    assert facts["n_images"] == facts["intervals"] == 8
    live = [
        (d.leading, d.log_probabilities, d.log_unknown, d.n_saccades, d.n_images, d.seconds)
        for d in read_documents(folder / DOCUMENTS_NAME)
        if isinstance(d, Posterior) and d.settled
    ]
    assert live == offline_posteriors(folder, model)


@pytest.mark.skipif(sys.platform == "win32", reason="`kill` is a signal there that nobody hears")
@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGKILL", 9)])
def test_a_replay_that_is_killed_leaves_no_engine_behind(corpus, tmp_path, number):
    folder = tmp_path / "session"
    command = [sys.executable, "-m", "gazelive", "replay", str(corpus / "v001_s1"), "-q"]
    command += ["--no-dashboard", "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as replaying:
        engine = engine_of(psutil.Process(replaying.pid), folder)
        replaying.send_signal(number)
        written, _ = replaying.communicate(timeout=PATIENCE_S)
    assert replaying.returncode == (130 if number == signal.SIGTERM else -number)
    if number == signal.SIGTERM:
        assert str(folder / DOCUMENTS_NAME) in written
    engine.wait(PATIENCE_S)
    assert isinstance(read_documents(folder / DOCUMENTS_NAME)[-1], RunStopped)
