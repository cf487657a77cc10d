"""The demo from beginning to end: who is enrolled, who comes in, what is left behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gazelive.atomic import written_aside
from gazelive.demonstration.images import paint_images
from gazelive.demonstration.population import SEED, enrol_population, kept_model
from gazelive.demonstration.session import DEMO_KEY, LiveSession, run_live_session
from gazelive.errors import ConfigError, ModelError
from gazelive.experiment.launch import Say
from gazelive.keeping import mark_used
from gazelive.recordings.session_manifest import is_session_folder, read_manifest
from gazelive.simulation.image_pool import default_stimuli

VIEWER, STRANGER = "v015", "v077"
"""One of those enrolled, in their second session, and somebody who is not.

The viewer was chosen because they are recognised soon: in 19 of 20 such sessions of 16 s, each a
little different. Of 8 sessions of everybody, 178 of 192 ranked the right one first, but 134 were
still called unknown.
"""
N_IMAGES = {VIEWER: 4, STRANGER: 2}
SECONDS = 4.0
FOLDERS = {VIEWER: "viewer", STRANGER: "stranger"}
MODEL_NAME = "people.model"
PAINTED_FOLDER = "images"

Report = Callable[[float], None]


@dataclass(frozen=True)
class Demo:
    """What the demo showed and wrote."""

    model: Path
    viewer: LiveSession
    stranger: LiveSession

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        viewer, stranger = self.viewer.summary, self.stranger.summary
        return {
            "viewer": self.viewer.viewer,
            "best": viewer.best,
            "p": viewer.p,
            "unknown": viewer.unknown,
            "crossed_s": viewer.as_json()["crossed_s"],
            "stranger": {"best": stranger.best, "p": stranger.p, "unknown": stranger.unknown},
            "session": str(self.viewer.folder),
            "sessions": [str(self.viewer.folder), str(self.stranger.folder)],
            "model": str(self.model),
            "screenshots": [
                str(path) for session in (self.viewer, self.stranger) for path in session.seen
            ],
        }


def prepare_folder(out: Path, *, replace: bool) -> None:
    """Make the folder ready: an earlier demo in it is removed if asked for, nothing else."""
    if out.is_file():
        raise ConfigError("is a file: give a folder with --out", path=out)
    out.mkdir(parents=True, exist_ok=True)
    held = [name for name in (*FOLDERS.values(), MODEL_NAME) if (out / name).exists()]
    if held and not replace:
        raise ConfigError(
            f"holds {held[0]} already: add --replace if it is an earlier demo, or give another "
            "folder with --out",
            path=out,
        )
    for folder in (out / name for name in FOLDERS.values() if name in held):
        if not is_session_folder(folder) or not read_manifest(folder).config.get(DEMO_KEY):
            raise ConfigError("is no demo: give another folder with --out", path=folder)
    for name in FOLDERS.values():
        for folder in (out / name, _pictures(out, name)):
            shutil.rmtree(folder, ignore_errors=True)
        _screenshot(out, name).unlink(missing_ok=True)


def model_of_people(stimuli: Path, out: Path, report: Report) -> Path:
    """Return a copy of the model of those enrolled; the first time they are simulated."""
    from gazelive.identification.model_file import load_model

    kept = kept_model(stimuli)
    try:
        load_model(kept)
    except ModelError:
        enrol_population(stimuli, kept, report)
    mark_used(kept)
    target = out / MODEL_NAME
    with written_aside(target) as aside:
        shutil.copyfile(kept, aside)
    return target


def images_of_demo(out: Path) -> tuple[Path, bool]:
    """Return a folder of images to show, and whether they are photographs."""
    photographs = default_stimuli()
    if photographs is not None:
        return photographs, True
    painted = out / PAINTED_FOLDER
    paint_images(painted)
    return painted, False


def person(
    viewer: str,
    model: Path,
    stimuli: Path,
    out: Path,
    *,
    shows: bool,
    window: bool,
    say: Say,
    report: Report,
) -> LiveSession:
    """Let somebody sit down before the tracker; `shows` a dashboard, and images in a `window`."""
    name = FOLDERS[viewer]
    return run_live_session(
        viewer,
        seed=SEED,
        session=2,
        n_images=N_IMAGES[viewer],
        seconds=SECONDS,
        stimuli=stimuli,
        model=model,
        folder=out / name,
        pictures=_pictures(out, name),
        screenshot=_screenshot(out, name) if shows else None,
        window=window,
        say=say,
        report=report,
    )


def _screenshot(out: Path, name: str) -> Path:
    return out / f"dashboard-{name}.png"


def _pictures(out: Path, name: str) -> Path:
    return out / f"window-{name}"
