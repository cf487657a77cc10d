"""Speed of identification per saccade, per scanpath and in training, beside scikit-learn.

    python tests/benchmarks/bench_identification.py [--json OUT]

Scanpaths are drawn from the Markov model with dynamics, one set of parameters per viewer, with
random movement features, so that nothing but the package is needed. An update takes a saccade
(as far as it is known, and then what was missing) and gives the posterior over all viewers. A
comparison is that of one scanpath, its features given.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

from gazelive.evaluation.tasks import of_size
from gazelive.features.scanpath import MOVEMENT_AT, N_COLUMNS, Column, Scanpath
from gazelive.identification import Estimate, Identifier, TrainingSet, fit_method
from gazelive.models.markov import MarkovModel, markov_dynamics_features

sys.path.append(str(Path(__file__).parents[1] / "support"))
from markov_models import sample

N_VIEWERS, N_SCANPATHS, N_SACCADES = 32, 53, 26
TARGETS_US = {
    "score of 26 saccades": 5,
    "fisher-markov-dynamics, 32 viewers": 10,
    "fisher-markov-dynamics, 10000 viewers": 250,
    "gazelive, 32 viewers": 100,
    "gazelive, 10000 viewers": 8000,
    "abdelwahab, 26 saccades compared with 1000 viewers": 100,
    "cem-b-dynamics, comparison with 1000 viewers": 5000,
    "holland-2011, comparison with 1000 viewers": 100,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--json", type=Path, default=Path("bench-results/identification-speed.json")
    )
    arguments = parser.parse_args()
    training = made_up_training()
    figures: dict[str, float] = {}
    model = MarkovModel(*random_densities(np.random.default_rng(0)))
    scanpath = training.scanpaths[0]
    figures["score of 26 saccades"] = best_us(lambda: model.fisher_score(scanpath), 300, 60)
    for method in ("markov-dynamics", "fisher-markov-dynamics", "gazelive", "abdelwahab"):
        fit_method(method, training)  # compiles
        started = time.perf_counter()
        identifier = fit_method(method, training).identifier
        figures[f"{method}: training on 32 × 53 scanpaths, s"] = time.perf_counter() - started
        for n_viewers in (32, 1000, 10_000):
            many = of_size(identifier, n_viewers)
            figures[f"{method}, {n_viewers} viewers"] = update_us(many, scanpath)
            if method == "abdelwahab":
                name = f"{method}, 26 saccades compared with {n_viewers} viewers"
                figures[name] = best_us(partial(compared, many, scanpath), 20, 20)
    for method in ("cem-b-dynamics", "holland-2011"):
        fit_method(method, training)  # compiles
        started = time.perf_counter()
        identifier = fit_method(method, training).identifier
        figures[f"{method}: training on 32 × 53 scanpaths, s"] = time.perf_counter() - started
        for n_viewers in (32, 1000, 10_000):
            many = of_size(identifier, n_viewers)
            described = many.describe([scanpath])
            name = f"{method}, comparison with {n_viewers} viewers"
            figures[name] = best_us(partial(many.judge, described), 20, 10)
            figures[f"{method}, {n_viewers} viewers"] = update_us(many, scanpath)
    figures["scikit-learn LinearSVC.predict, 1000 classes"] = sklearn_us()
    ours = figures["fisher-markov-dynamics, 1000 viewers"]
    ratio = figures["scikit-learn LinearSVC.predict, 1000 classes"] / ours
    figures["scikit-learn over ours at 1000 classes"] = ratio
    for name, value in figures.items():
        target = f"  (at most {TARGETS_US[name]})" if name in TARGETS_US else ""
        print(f"{name:60s} {value:10.2f}{'' if ', s' in name or 'over' in name else ' µs'}{target}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(figures, indent=2))


def random_densities(rng: np.random.Generator):
    features = markov_dynamics_features(6.0)
    shape = rng.uniform(2, 8, (4, 8))
    return features, rng.dirichlet(np.full(4, 20.0)), shape, np.exp(rng.normal(0, 0.3, (4, 8)))


def made_up_training() -> TrainingSet:
    rng = np.random.default_rng(1)
    scanpaths, viewers = [], []
    for viewer in range(N_VIEWERS):
        model = MarkovModel(*random_densities(rng))
        offset = rng.normal(0, 0.2, N_COLUMNS - MOVEMENT_AT)
        for number in range(N_SCANPATHS):
            rows = sample(model, N_SACCADES, rng).saccades.copy()
            angle = rng.uniform(0, 2 * np.pi, N_SACCADES)
            amplitude = rng.gamma(2.0, 2.5, N_SACCADES) + 0.4
            rows[:, Column.DX_DEG] = amplitude * np.cos(angle)
            rows[:, Column.DY_DEG] = amplitude * np.sin(angle)
            rows[:, Column.AMPLITUDE_DEG] = amplitude
            rows[:, MOVEMENT_AT:] = np.exp(offset + rng.normal(0, 0.4, rows[:, MOVEMENT_AT:].shape))
            scanpaths.append(Scanpath(rows, np.empty((0, 3)), 8.0, f"image {number}", 1000.0))
            viewers.append(viewer)
    names = tuple(f"v{i:03d}" for i in range(N_VIEWERS))
    return TrainingSet("samples", names, tuple(scanpaths), np.array(viewers), ("1",) * len(viewers))


def update_us(identifier: Identifier, scanpath: Scanpath) -> float:
    """Return the median time from a saccade to the posterior."""
    times = []
    for _ in range(12):
        probe = identifier.probe()
        probe.begin(None)
        for row in scanpath.saccades:
            started = time.perf_counter_ns()
            probe.add_saccade(row)
            probe.complete_saccade(row)
            probe.estimate()
            times.append(time.perf_counter_ns() - started)
    return float(np.median(times[len(scanpath.saccades) :])) / 1000


def compared(identifier: Identifier, scanpath: Scanpath) -> Estimate:
    """Identify the viewer of one whole scanpath."""
    probe = identifier.probe()
    probe.begin(None)
    probe.settle(scanpath)
    return probe.estimate()


def sklearn_us() -> float:
    """Return the time of one prediction among 1000 classes of 68 dimensions."""
    rng = np.random.default_rng(3)
    machine = LinearSVC(max_iter=1).fit(rng.normal(size=(8, 68)), [0, 1, 2, 3] * 2)
    machine.coef_, machine.intercept_ = rng.normal(size=(1000, 68)), rng.normal(size=1000)
    machine.classes_ = np.arange(1000)
    one = rng.normal(size=(1, 68))
    times = []
    for _ in range(300):  # each call by itself and the median, as of our updates
        started = time.perf_counter_ns()
        machine.predict(one)
        times.append(time.perf_counter_ns() - started)
    return float(np.median(times)) / 1000


def best_us(run: Callable[[], object], n: int, repeats: int) -> float:
    run()
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter_ns()
        for _ in range(n):
            run()
        best = min(best, (time.perf_counter_ns() - started) / n / 1000)
    return best


if __name__ == "__main__":
    main()
