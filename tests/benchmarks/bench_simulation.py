"""Speed of simulated viewers relative to real time, without and with writing, on one core.

    python tests/benchmarks/bench_simulation.py [--images N] [--json OUT]

Times are of the processor, so that what else the machine does matters less.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.simulation.corpus import CorpusPlan, write_corpus
from gazelive.simulation.lab_session import image_rect_px
from gazelive.simulation.people import session_traits
from gazelive.simulation.scanpath.scanpaths import Exploration
from gazelive.simulation.viewer import ViewerSimulation
from gazelive.stimuli.saliency import generated_saliency

TARGET = 100.0
SALIENCY = generated_saliency("generated_0000", 0)


def scanpath(seconds: float) -> float:
    """Return the seconds that a scanpath without samples covers."""
    from gazelive.models.scenewalk.equations import ImageGrid

    left, top, width, height = image_rect_px()
    grid = ImageGrid.on_screen(
        PAPER_SCREEN,
        left_px=left,
        top_px=top,
        width_px=width,
        height_px=height,
        shape=SALIENCY.density.shape,
    )
    habits = session_traits("v001", seed=0, session=1).habits
    exploration = Exploration(habits, SALIENCY.density, grid, np.random.default_rng(0))
    x_deg, y_deg, duration_s, passed_s = 0.0, 0.0, 0.2, 0.0
    while passed_s < seconds:
        following = exploration.next_fixation(x_deg, y_deg, duration_s)
        x_deg, y_deg, duration_s = following.x_deg, following.y_deg, following.duration_s
        passed_s += duration_s
    return passed_s


def viewing(seconds: float, rate_hz: float, chunk_s: float) -> float:
    """Return the seconds of samples that a viewer of an image gave."""
    viewer = ViewerSimulation(
        "v001", seed=0, session=1, sampling_rate_hz=rate_hz, eyes="R", screen=PAPER_SCREEN
    )
    viewer.show_image(SALIENCY, image_rect_px())
    n_samples = round(chunk_s * rate_hz)
    for _ in range(round(seconds / chunk_s)):
        viewer.advance(n_samples)
    return seconds


def corpus(n_images: int, format_: str) -> float:
    """Return the seconds of a corpus that was written."""
    plan = CorpusPlan(n_viewers=1, n_images=n_images, n_pool=n_images, format=format_)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        return sum(each.duration_s for each in write_corpus(plan, Path(folder) / "corpus"))


def times_real_time(task: Callable[[], float]) -> float:
    """Return simulated seconds per second of the processor, best of three after one to warm up."""
    task()
    best = 0.0
    for _ in range(3):
        started_s = time.process_time()
        seconds = task()
        best = max(best, seconds / (time.process_time() - started_s))
    return best


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=30)
    parser.add_argument("--json", type=Path, default=Path("bench-results/simulation.json"))
    arguments = parser.parse_args()
    seconds = 8.0 * arguments.images
    tasks: dict[str, Callable[[], float]] = {
        "scanpath only": lambda: scanpath(seconds),
        "samples, 1000 Hz, by trial": lambda: viewing(seconds, 1000.0, 8.0),
        "samples, 1000 Hz, by 10 ms": lambda: viewing(seconds, 1000.0, 0.01),
        "samples, 2000 Hz, by trial": lambda: viewing(seconds, 2000.0, 8.0),
        "corpus of session folders": lambda: corpus(arguments.images, "session"),
        "corpus of ASC files": lambda: corpus(arguments.images, "asc"),
    }
    results = {name: round(times_real_time(task), 1) for name, task in tasks.items()}
    for name, ratio in results.items():
        print(f"{name:30}{ratio:8.0f} × real time")
    reached = min(results.values()) >= TARGET
    print(f"target {TARGET:.0f} ×: {'reached' if reached else 'missed'}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({"times_real_time": results, "target": TARGET}, indent=2))


if __name__ == "__main__":
    main()
