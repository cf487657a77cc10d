"""Cost of a study by the number of viewers: measured for 32 to 256, extrapolated to 10,000.

    python docs/scripts/study_cost.py STUDY [METHOD …]

`STUDY` is a folder of `gazelive evaluate` on recordings of images. Its viewers are repeated until
there are enough; the amplitudes, durations and movement features of each copy are multiplied by
factors of its own. One split is measured: searches on half of `N_IMAGES` images per viewer, and
probes with the other half.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from gazelive.evaluation.probing import Amounts, follow_courses, probe_walks
from gazelive.evaluation.reading import read_data
from gazelive.evaluation.splits import Protocol, splits_of
from gazelive.evaluation.tasks import Task, fit_split, images_to_test
from gazelive.features import MOVEMENT_AT, N_COLUMNS, Column
from gazelive.identification.training_data import TrainingSet, training_set
from gazelive.system import limit_to_one_thread

METHODS = ("markov", "fisher-markov", "cem-b", "gazelive")
SIZES = (32, 64, 128, 256)
WARM_UP = 8
EXTRAPOLATED = (1000, 10_000)
N_IMAGES = 20
N_SPLITS = 5
QUADRATIC = 2.0
"""Exponent of probes once most of their time is that of comparing all viewers with all."""
SPREAD = 0.1
"""Standard deviation of the logarithms of the factors."""
CHANGED = (
    Column.AMPLITUDE_DEG,
    Column.PREVIOUS_FIXATION_S,
    Column.NEXT_FIXATION_S,
    *range(MOVEMENT_AT, N_COLUMNS),
)
"""Not codes such as that of the turn."""
PROTOCOL = Protocol(n_splits=1)


def viewers_of(data: TrainingSet, n_viewers: int) -> TrainingSet:
    """Return so many viewers who look at the same images, changed copies of those of `data`."""
    images = sorted({str(path.image) for path in data.scanpaths})
    chosen = []
    for viewer in range(n_viewers):
        rng = np.random.default_rng(viewer)
        factors = np.exp(SPREAD * rng.normal(size=len(CHANGED)))
        own = list(data.of_viewer(viewer % data.n_viewers))[:N_IMAGES]
        for path, image in zip(own, images[:N_IMAGES], strict=True):
            rows = path.saccades.copy()
            rows[:, CHANGED] *= factors.astype(np.float32)
            changed = replace(path, saccades=rows, image=image)
            chosen.append((f"viewer {viewer:05}", "1", changed))
    return training_set(data.kind, chosen)


def measure(path: Path, method: str, n_viewers: int) -> tuple[float, float, float]:
    """Return CPU seconds of the fit and of the probes, and the peak memory in MB."""
    limit_to_one_thread()
    data = read_data(path).whole
    run(viewers_of(data, WARM_UP), method)
    fit_s, probe_s = run(viewers_of(data, n_viewers), method)
    return fit_s, probe_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(data: TrainingSet, method: str) -> tuple[float, float]:
    """Fit on one half of the images, probe with the other; return CPU seconds of both."""
    (split,) = splits_of(data, PROTOCOL)
    task = Task(kind="accuracy", method=method, protocol=PROTOCOL, split=split.name)
    started_s = time.process_time()
    identifier = fit_split(task, data, split, np.arange(data.n_viewers)).identifier
    fitted_s = time.process_time()
    test = data.subset(split.test)
    probe_walks(lambda _viewer: identifier, test, Amounts(images_to_test(data, PROTOCOL), ()))
    follow_courses(lambda _viewer: identifier, test)
    return fitted_s - started_s, time.process_time() - fitted_s


def exponent(values: list[float]) -> float:
    """Return the exponent of growth between the two largest sizes: smaller ones understate it."""
    return float(np.log(values[-1] / values[-2]) / np.log(SIZES[-1] / SIZES[-2]))


def cpu_hours(value_s: float, exponent: float, n_viewers: int) -> float:
    """Return the extrapolated cost of all splits, given that of one with the largest size."""
    return float(value_s * (n_viewers / SIZES[-1]) ** exponent * N_SPLITS / 3600)


def main() -> None:
    """Print the measured growth and the extrapolated cost, as in docs/evaluation.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", type=Path)
    parser.add_argument("methods", nargs="*", default=METHODS)
    arguments = parser.parse_args()
    manifest = json.loads((arguments.study / "manifest.json").read_text("utf-8"))
    path = arguments.study / "cache" / manifest["data"]
    spawn = multiprocessing.get_context("spawn")
    for method in arguments.methods:
        found = []
        for size in SIZES:
            with ProcessPoolExecutor(1, mp_context=spawn) as process:  # for the peak memory of each
                found.append(process.submit(measure, path, method, size).result())
            fit_s, probe_s, peak_mb = found[-1]
            print(f"{method} {size}: fit {fit_s:.1f} s, probes {probe_s:.1f} s, {peak_mb:.0f} MB")
        fits, probes, _ = (list(column) for column in zip(*found, strict=True))
        growth = exponent(fits), exponent(probes)
        print(f"{method}: exponents of fit and probes {growth[0]:.2f}, {growth[1]:.2f}")
        for size in EXTRAPOLATED:
            of_fit = cpu_hours(fits[-1], growth[0], size)
            least, most = (cpu_hours(probes[-1], e, size) for e in (growth[1], QUADRATIC))
            print(f"{method} {size}: {of_fit:.2g} + {least:.2g} to {most:.2g} CPU hours")


if __name__ == "__main__":
    main()
