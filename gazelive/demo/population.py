"""The enrolled people of the demo: simulated once, their model cached."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

import msgspec
import platformdirs

from gazelive import __version__
from gazelive.identification import Options, save_model
from gazelive.observer import Report
from gazelive.simulation import CorpusPlan, write_corpus
from gazelive.stimuli import images_in
from gazelive.system import prune
from gazelive.workflows import Detector, gather, train_gathered

N_VIEWERS, N_IMAGES, SECONDS, SEED = 24, 10, 5.0, 7
FALSE_ACCEPTANCE_RATE = 0.05
REVISION = 2
"""Of the model: raise it when the same people would be learned in another way."""
SAMPLING_RATE_HZ = 1000.0


def enrolment_plan(stimuli: Path) -> CorpusPlan:
    """Return the plan of the recordings for enrolment: everyone's first session."""
    return CorpusPlan(
        n_viewers=N_VIEWERS,
        n_images=N_IMAGES,
        n_pool=24,
        n_sessions=1,
        seconds=SECONDS,
        sampling_rate_hz=SAMPLING_RATE_HZ,
        eyes="R",
        seed=SEED,
        format="session",
        stimuli=stimuli,
    )


def kept_model(stimuli: Path, method: str) -> Path:
    """Return where the demo's model is kept.

    With another version, revision, method or plan, or other images, it is another file.
    """
    plan = msgspec.structs.replace(enrolment_plan(stimuli), stimuli=None)
    images = [path.name for path in images_in(stimuli)]
    key = msgspec.json.encode(
        {"plan": plan, "images": images, "method": method, "version": (__version__, REVISION)}
    )
    name = f"demo-{hashlib.blake2b(key, digest_size=6).hexdigest()}.model"
    return Path(platformdirs.user_cache_dir("gazelive", appauthor=False)) / "demo" / name


def enrol_population(stimuli: Path, method: str, target: Path, report: Report) -> None:
    """Simulate the first session of each viewer, train on it, and write the model to `target`."""
    options = Options(FALSE_ACCEPTANCE_RATE, stimuli=stimuli)
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="gazelive-demo-"))
    try:
        corpus = folder / "corpus"
        write_corpus(
            enrolment_plan(stimuli),
            corpus,
            n_processes=2,
            progress=lambda done: report(0.6 * done),
        )
        gathered = gather(corpus, progress=lambda done: report(0.6 + 0.3 * done))
        trained = train_gathered(gathered, corpus, method, options, Detector())
        save_model(trained.model, target)
        prune(target.parent)
        report(1.0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
