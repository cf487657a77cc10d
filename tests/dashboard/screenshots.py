"""Pictures of the dashboard with a replayed recording, or with a simulated one on images.

    python tests/dashboard/screenshots.py RECORDING|simulated OUT [--seconds S] [--size 1280x800]
        [--verdict accepted|undecided|stranger|few …]

`--seconds` is how far into the recording the picture is taken. `--verdict` puts an invented verdict
at its end. Needs no display.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import msgspec
from list_feed import ListFeed
from manual_clock import ManualClock
from recorded_documents import recorded_documents

from gazelive.analysis.recording import analyse
from gazelive.dashboard.feed import Command, Reply
from gazelive.dashboard.window.application import make_application
from gazelive.dashboard.window.preferences import Preferences
from gazelive.dashboard.window.window import DashboardWindow
from gazelive.gaze.documents import Document, ModelLoaded, Posterior
from gazelive.recordings.open import read_recording
from gazelive.recordings.trials import find_trials

STIMULI = Path(__file__).parents[2] / "stimuli"


def documents_until(name: str, seconds: float) -> list[Document]:
    """Return what has been sent up to a moment."""
    if name == "simulated":
        from gazelive.simulation.image_pool import ImagePool
        from gazelive.simulation.lab_session import image_rect_px, simulate_session

        pool = ImagePool(33, STIMULI)
        recording, rectangle = (
            simulate_session(
                "v005",
                seed=1,
                session=1,
                images=[pool.image(image) for image in pool.names[:6]],
                seconds=8.0,
                sampling_rate_hz=1000.0,
                eyes="R",
                path=Path("demo"),
            ).recording,
            image_rect_px(),
        )
        if not recording.trials:
            trials = find_trials(recording.messages, recording.blocks)
            recording = replace(recording, trials=trials)
    else:
        recording, rectangle = read_recording(Path(name)), None
    sent = list(recorded_documents(analyse(recording), image_rectangle_px=rectangle))
    viewing_s, start_us, documents = 0.0, 0, []
    for time_us, document in sent:
        if type(document).__name__ == "TrialStarted":
            start_us = time_us
        elif type(document).__name__ == "TrialStopped":
            viewing_s += (time_us - start_us) / 1e6
            start_us = 0
        documents.append(document)
        if viewing_s + (time_us - start_us) / 1e6 * (start_us > 0) >= seconds:
            break
    return documents


def with_verdict(documents: list[Document], name: str) -> list[Document]:
    """Return the documents with another model and one last posterior."""
    people = ("Ben", "Anna", "Chiara", "Dimitri", "Ekaterina-Sofia Lindqvist", "Farid")
    p, unknown, accepted, more_s = {
        "accepted": (0.996, 0.002, True, None),
        "undecided": (0.8, 0.1, False, 12.3),
        "stranger": (0.6, 0.873, False, None),
        "few": (0.994, None, None, None),
    }[name]
    people = people[:3] if name == "few" else people
    rest = (1 - p) / (len(people) - 1)
    last = [one for one in documents if isinstance(one, Posterior)][-1]
    posterior = msgspec.structs.replace(
        last,
        leading=tuple(range(len(people))),
        log_probabilities=(math.log(p), *[math.log(rest)] * (len(people) - 1)),
        log_unknown=None if unknown is None else math.log(unknown),
        accepted=accepted,
        more_s=more_s,
    )
    loaded = ModelLoaded(
        model="lab.model",
        method="gazelive",
        viewer_ids=people,
        false_acceptance_rate=0.01,
        stranger_prior=0.1,
    )
    others = [one for one in documents if not isinstance(one, Posterior | ModelLoaded)]
    return [others[0], loaded, *others[1:], posterior]


def answer(_command: Command) -> Reply:
    """Answer as a replay would."""
    return {"ok": True, "playback": {"paused": False, "speed": 1.0}}


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recording")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=14.0)
    parser.add_argument("--size", action="append")
    parser.add_argument("--theme", action="append", choices=["light", "dark"])
    parser.add_argument("--verdict", action="append", default=[])
    options = parser.parse_args()
    app = make_application()
    documents = documents_until(options.recording, options.seconds)
    options.out.mkdir(parents=True, exist_ok=True)
    stem = Path(options.recording).name.split(".")[0]
    chosen = itertools.product(
        options.theme or ["light", "dark"],
        options.size or ["1280x800", "3840x2160"],
        options.verdict or [""],
    )
    for theme, size, verdict in chosen:
        shown = with_verdict(documents, verdict) if verdict else documents
        width, height = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as folder:
            preferences = Preferences(Path(folder) / "dashboard.ini")
            preferences.theme = theme
            clock = ManualClock()
            feed = ListFeed(shown, answer=answer, source="tcp://127.0.0.1:5571")
            window = DashboardWindow(feed, preferences, image_folders=[STIMULI], clock=clock)
            window.resize(width, height)
            window.show()
            for _ in range(30):
                window.tick()
                app.processEvents()
                clock.advance_s(0.03)
            path = options.out / f"{stem}{verdict and '_'}{verdict}_{theme}_{size}.png"
            window.grab().save(str(path))
            print(path)
            window.close()


if __name__ == "__main__":
    main()
