"""The demo from enrolment to identification, and its output folder."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gazelive.demo.population import SEED, enrol_population, kept_model
from gazelive.demo.session import DEMO_KEY, LiveSession, run_live_session
from gazelive.errors import ConfigError, ModelError
from gazelive.identification import method_names, read_model_manifest
from gazelive.observer import Observer, Report
from gazelive.recordings import is_session_folder, read_manifest
from gazelive.simulation import default_stimuli
from gazelive.stimuli import paint_images
from gazelive.system import mark_used, replacing

VIEWER, STRANGER = "v010", "v077"
"""An enrolled viewer, in their second session, and a stranger.

The viewer was chosen because they are recognised soon. Of everybody's second sessions of 16 s, 15
of 24 are accepted, all as themselves, and two are called strangers; of 120 strangers 4 are
accepted.
"""
N_IMAGES = {VIEWER: 4, STRANGER: 2}
SECONDS = 4.0
FOLDERS = {VIEWER: "viewer", STRANGER: "stranger"}
MODEL_NAME = "people.model"
PAINTED_FOLDER = "images"


@dataclass(frozen=True)
class Demo:
    """Result of the demo."""

    model: Path
    stimuli: Path
    """Folder of the images."""
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
            **{key: viewer.as_json()[key] for key in ("accepted", "headline", "crossed_s")},
            "stranger": {
                key: stranger.as_json()[key]
                for key in ("best", "p", "unknown", "accepted", "headline")
            },
            "session": str(self.viewer.folder),
            "sessions": [str(self.viewer.folder), str(self.stranger.folder)],
            "model": str(self.model),
            "screenshots": [
                str(path) for session in (self.viewer, self.stranger) for path in session.seen
            ],
        }


def prepare_folder(out: Path, *, replace: bool) -> None:
    """Prepare the folder; `replace` removes an earlier demo in it, and nothing else."""
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


def check_method(method: str) -> None:
    """Raise for a method that does not learn from recordings."""
    if method not in method_names("samples"):
        wrong = "learns from fixation tables only" if method in method_names() else "is no method"
        raise ConfigError(
            f"{method} {wrong}: choose one of {', '.join(method_names('samples'))}", key="--method"
        )


def model_of_people(stimuli: Path, method: str, out: Path, report: Report) -> Path:
    """Return a copy of the model of those enrolled; the first time they are simulated."""
    kept = kept_model(stimuli, method)
    try:
        read_model_manifest(kept)
    except ModelError:
        enrol_population(stimuli, method, kept, report)
    mark_used(kept)
    target = out / MODEL_NAME
    with replacing(target) as aside:
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
    observer: Observer,
    report: Report,
) -> LiveSession:
    """Run the session of one person; `shows` a dashboard, and images in a `window`."""
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
        observer=observer,
        report=report,
    )


def _screenshot(out: Path, name: str) -> Path:
    return out / f"dashboard-{name}.png"


def _pictures(out: Path, name: str) -> Path:
    return out / f"window-{name}"
